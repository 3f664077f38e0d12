//! How fast our machine and QEMU run the same image with the same bundle.
//!
//! Each does a little and much of the same work; the difference of the two runs is free of start-up,
//! firmware and console. How many instructions a unit of the work is, our machine counts exactly, and
//! QEMU executes the same ones. Rounds alternate between the machines, so that whatever else the host
//! does hits both; the medians count. [`threads`], [`timing`] and [`watching`] compare our machine with
//! itself, and [`profile`] says where its time goes.

mod profile;
mod threads;
mod timing;
mod watching;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::images::images;
use crate::run::build;
use crate::workspace::Workspace;

const ROUNDS: usize = 5;

/// The machines, and how many times as much QEMU does: it translates, and its start takes seconds.
const MACHINES: [(&str, u64); 2] = [("simulator", 1), ("qemu", 40)];

/// Work of which a payload does as much as its argument says.
struct Work {
    name: &'static str,
    payload: &'static str,
    /// The arguments; the amount follows the last of them.
    arguments: &'static str,
    little: u64,
    /// Hundreds of millions of instructions.
    much: u64,
}

const WORKS: [Work; 6] = [
    Work {
        name: "null-hypercall",
        payload: "null-hypercall",
        arguments: "translation=on calls=",
        little: 10_000,
        much: 3_000_000,
    },
    compute("sort", "part=sort rounds=", 150),
    compute("hash", "part=hash rounds=", 300),
    compute("chase", "part=chase rounds=", 200),
    compute("matrix", "part=matrix rounds=", 300),
    compute("factor", "part=factor rounds=", 500),
];

const fn compute(name: &'static str, arguments: &'static str, much: u64) -> Work {
    Work { name, payload: "compute", arguments, little: 10, much }
}

/// What to measure.
#[derive(clap::Args, Debug, Clone, Copy)]
#[group(multiple = false)]
pub(crate) struct Arguments {
    /// Measure only how the rate depends on the number of hardware threads.
    #[arg(long)]
    threads: bool,
    /// Measure only timing mode, and the cost of observers.
    #[arg(long)]
    timing: bool,
    /// Only profile the simulator.
    #[arg(long)]
    profile: bool,
}

/// Prints the tables.
pub(crate) fn bench(workspace: &Workspace, only: Arguments) -> Result<()> {
    images(workspace)?;
    build(workspace)?;
    if only.timing {
        return timing::timing(workspace).and_then(|()| watching::watching(workspace));
    }
    if only.profile {
        return profile::profile(workspace);
    }
    if only.threads {
        return threads::threads(workspace);
    }
    println!("Medians of {ROUNDS} rounds, in millions of instructions per second of host time:\n");
    println!("{:<16}{:>14}{:>10}{:>8}", "", "our machine", "QEMU", "ratio");
    for work in &WORKS {
        let [ours, qemu] = measure(workspace, work)?;
        println!("{:<16}{ours:>14.1}{qemu:>10.1}{:>8.2}", work.name, ours / qemu);
    }
    threads::threads(workspace)?;
    timing::timing(workspace)?;
    watching::watching(workspace)?;
    profile::profile(workspace)
}

/// What each machine does of the work, in millions of instructions per second.
fn measure(workspace: &Workspace, work: &Work) -> Result<[f64; 2]> {
    let little = work.write(workspace, work.little)?;
    let mut much = Vec::new();
    for (on, times) in MACHINES {
        much.push((on, work.much * times, work.write(workspace, work.much * times)?));
    }
    let mut instructions_per_unit = 0.0;
    let mut seconds_per_unit = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for ((on, much, file), seconds_per_unit) in much.iter().zip(&mut seconds_per_unit) {
            let run = |file: &String| {
                let arguments = [file.clone(), "--on".to_owned(), (*on).to_owned()];
                boot(workspace, &arguments, "partition bench: powered off")
            };
            let [less, more] = [run(&little)?, run(file)?];
            let units = (much - work.little) as f64;
            let time = more.time.saturating_sub(less.time);
            seconds_per_unit.push(time.as_secs_f64() / units);
            if let (Some(less), Some(more)) = (less.instructions, more.instructions) {
                instructions_per_unit = (more - less) as f64 / units;
            }
        }
    }
    Ok(seconds_per_unit.map(|seconds| instructions_per_unit / 1e6 / median(seconds)))
}

impl Work {
    /// Writes the partition file for an amount.
    fn write(&self, workspace: &Workspace, amount: u64) -> Result<String> {
        let folder = workspace.target.join("bench");
        fs::create_dir_all(&folder)?;
        let Self { name, payload, arguments, .. } = self;
        let path = folder.join(format!("{name}-{amount}.toml"));
        let text = format!(
            "[[partition]]\nname = \"bench\"\npayload = \"{payload}\"\nmemory = \"64 MiB\"\nvcpus = 1\n\
             arguments = \"{arguments}{amount}\"\n"
        );
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path.display().to_string())
    }
}

/// What one run took.
struct Run {
    time: Duration,
    /// Processor time, which what else the host does changes least.
    processor_time: Duration,
    /// Our machine says, QEMU does not.
    instructions: Option<u64>,
    /// Our machine says in timing mode.
    cycles: Option<u64>,
}

/// Boots what `arguments` say; the console must have the text `expected`.
fn boot(workspace: &Workspace, arguments: &[String], expected: &str) -> Result<Run> {
    let mut command: Command = workspace.powervisor(&["boot"]);
    command.args(arguments);
    let (started, before) = (Instant::now(), processor_time()?);
    let output = command.stdin(Stdio::null()).output().context("powervisor cannot be started")?;
    let (time, processor_time) = (started.elapsed(), processor_time()?.saturating_sub(before));
    let (console, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() || !console.contains(expected) {
        let what = arguments.join(" ");
        bail!("{what}: the payload did not do its work\n{console}{errors}");
    }
    let before = |word: &str| errors.split_once(word)?.0.split_whitespace().last()?.parse().ok();
    let (instructions, cycles) = (before(" instructions"), before(" cycles"));
    Ok(Run { time, processor_time, instructions, cycles })
}

/// What the programs that this one ran have used of the processor.
fn processor_time() -> Result<Duration> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let times = [used.user_time(), used.system_time()];
    let microseconds: i64 = times.iter().map(TimeVal::num_microseconds).sum();
    Ok(Duration::from_micros(u64::try_from(microseconds)?))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![5.0, 1.0, 900.0, 3.0, 2.0]), 3.0);
    }
}
