//! How fast timing mode is: beside functional mode in the same runs, and with many hardware threads.
//!
//! Instructions in a second of processor time; the difference of a run that does a little and one that does
//! much, as elsewhere.

use anyhow::{Context, Result};

use super::threads::{LOADS, Load};
use super::{Run, WORKS, Work, boot, median};
use crate::workspace::Workspace;

/// Rounds of each comparison.
const ROUNDS: usize = 3;
/// Timing mode does one part in so many of what the other benchmarks do.
const PART: u64 = 30;
/// The same of what the hardware threads do.
const THREADS_PART: u64 = 50;

/// A run's arguments, for a little and for much.
pub(super) type Arguments = (Vec<String>, Vec<String>);

/// Prints both.
pub(super) fn timing(workspace: &Workspace) -> Result<()> {
    println!("\nTiming mode, in millions of instructions per second of processor time:\n");
    println!("{:<16}{:>14}{:>12}{:>10}", "", "functional", "timing", "ratio");
    for work in &WORKS {
        let plain = work_arguments(workspace, work)?;
        let timed = with(&plain, &["--timing"]);
        let [functional, timing] = rates(workspace, [&plain, &timed], DONE)?.map(|rate| rate.mips);
        let ratio = functional / timing;
        println!("{:<16}{functional:>14.1}{timing:>12.1}{ratio:>9.1}x", work.name);
    }

    println!("\n{:<16}{:>14}{:>10}", "", "timing", "of one");
    let mut loads = LOADS.iter().map(|load| load.timed(workspace)).collect::<Result<Vec<_>>>()?;
    let [many, one] = [loads.remove(1), loads.remove(0)];
    let [one, many] = rates(workspace, [&one, &many], "PASS")?.map(|rate| rate.mips);
    for (load, rate) in LOADS.iter().zip([one, many]) {
        println!("{:<16}{rate:>14.1}{:>9.0}%", load.name, 100.0 * rate / one);
    }
    Ok(())
}

/// What the console shows of a partition that did its work.
pub(super) const DONE: &str = "partition bench: powered off";

/// How fast a run was.
pub(super) struct Rate {
    pub(super) mips: f64,
    pub(super) cycles: Option<u64>,
}

/// The medians of two runs that alternate.
pub(super) fn rates(
    workspace: &Workspace,
    runs: [&Arguments; 2],
    expected: &str,
) -> Result<[Rate; 2]> {
    let mut rates = [const { Vec::new() }; 2];
    let mut cycles = [None; 2];
    for _ in 0..ROUNDS {
        for (((little, much), rates), cycles) in runs.iter().zip(&mut rates).zip(&mut cycles) {
            let [less, more] =
                [boot(workspace, little, expected)?, boot(workspace, much, expected)?];
            rates.push(Run::mips(&less, &more)?);
            *cycles = more.cycles;
        }
    }
    let [first, second] = rates.map(median);
    Ok([(first, cycles[0]), (second, cycles[1])].map(|(mips, cycles)| Rate { mips, cycles }))
}

pub(super) fn work_arguments(workspace: &Workspace, work: &Work) -> Result<Arguments> {
    let file = |amount| Ok::<_, anyhow::Error>(vec![work.write(workspace, amount)?]);
    Ok((file(work.little)?, file(work.little + work.much / PART)?))
}

pub(super) fn with((little, much): &Arguments, more: &[&str]) -> Arguments {
    let with = |line: &Vec<String>| {
        line.iter().cloned().chain(more.iter().map(ToString::to_string)).collect()
    };
    (with(little), with(much))
}

impl Load {
    fn timed(&self, workspace: &Workspace) -> Result<Arguments> {
        Ok(with(&self.images(workspace, THREADS_PART)?, &["--timing"]))
    }
}

impl Run {
    /// Millions of instructions in a second of processor time that `more` did and `less` did not.
    pub(super) fn mips(less: &Self, more: &Self) -> Result<f64> {
        let counted = |run: &Self| run.instructions.context("our machine counts");
        let instructions = counted(more)? - counted(less)?;
        let time = more.processor_time.saturating_sub(less.processor_time);
        Ok(instructions as f64 / 1e6 / time.as_secs_f64())
    }
}
