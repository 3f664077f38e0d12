//! How fast our machine and QEMU run the same image with the same bundle.
//!
//! Both run the null-hypercall payload with few and with many calls; the difference of the two runs is
//! free of start-up, firmware and console. How many instructions it is, our machine counts exactly, and
//! QEMU executes the same ones. Rounds alternate between the machines, so that whatever else the host
//! does hits both; the median counts.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::images::images;
use crate::run::build;
use crate::workspace::Workspace;

const ROUNDS: usize = 5;
const FEW_CALLS: u64 = 10_000;
const MANY_CALLS: u64 = 5_010_000;
const MACHINES: [(&str, &str); 2] = [("simulator", "our machine"), ("qemu", "QEMU")];

pub(crate) fn bench(workspace: &Workspace) -> Result<()> {
    images(workspace)?;
    build(workspace)?;
    let few = Payload::write(workspace, FEW_CALLS)?;
    let many = Payload::write(workspace, MANY_CALLS)?;

    let mut instructions = 0;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (machine, (on, _)) in MACHINES.iter().enumerate() {
            let (short, long) = (few.boot(workspace, on)?, many.boot(workspace, on)?);
            times[machine].push(long.time.saturating_sub(short.time));
            if let (Some(short), Some(long)) = (short.instructions, long.instructions) {
                instructions = long - short;
            }
        }
    }
    let calls = MANY_CALLS - FEW_CALLS;
    println!("{calls} hypercalls, {instructions} instructions, median of {ROUNDS} rounds:");
    let mips = times.map(|times| instructions as f64 / 1e6 / median(times).as_secs_f64());
    for ((_, name), mips) in MACHINES.iter().zip(mips) {
        println!("  {name:<12}{mips:8.1} MIPS");
    }
    println!("  our machine runs at {:.2} of QEMU's speed", mips[0] / mips[1]);
    Ok(())
}

/// What one run took.
struct Run {
    time: Duration,
    /// Our machine says, QEMU does not.
    instructions: Option<u64>,
}

/// A partition file that makes a number of hypercalls.
struct Payload {
    file: String,
    calls: u64,
}

impl Payload {
    fn write(workspace: &Workspace, calls: u64) -> Result<Self> {
        let folder = workspace.target.join("bench");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{calls}-calls.toml"));
        let text = format!(
            "[[partition]]\nname = \"bench\"\npayload = \"null-hypercall\"\nmemory = \"64 MiB\"\nvcpus = 1\n\
             arguments = \"translation=on calls={calls}\"\n"
        );
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(Self { file: path.display().to_string(), calls })
    }

    fn boot(&self, workspace: &Workspace, on: &str) -> Result<Run> {
        let mut command: Command = workspace.powervisor(&["boot", &self.file, "--on", on]);
        let started = Instant::now();
        let output =
            command.stdin(Stdio::null()).output().context("powervisor cannot be started")?;
        let time = started.elapsed();
        let (console, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() || !console.contains(&format!(" {} calls,", self.calls)) {
            bail!(
                "{} on {on}: the payload did not make its {} calls\n{console}{errors}",
                self.file,
                self.calls
            );
        }
        let instructions =
            errors.split_once(" after ").and_then(|(_, rest)| rest.split_once(" instructions"));
        Ok(Run { time, instructions: instructions.and_then(|(number, _)| number.parse().ok()) })
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::median;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let times = [5, 1, 900, 3, 2].map(Duration::from_millis);
        assert_eq!(median(times.to_vec()), Duration::from_millis(3));
    }
}
