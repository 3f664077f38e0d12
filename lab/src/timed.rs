//! Runs of a region with the machine's timing model: how many cycles it took, and where they went.

use std::collections::BTreeMap;

use arch::instruction::Mnemonic;
use arch::marker::{Mark, Region};
use simulator::blocks::Op;
use simulator::exec::Mode;
use simulator::ledger::Charges;
use simulator::pipeline::Settings;
use simulator::state::thread::Thread;
use simulator::{Machine, Observer};

use crate::extent::Extent;
use crate::failure::Failure;
use crate::machine_file::MachineFile;
use crate::on_simulator;
use crate::system::{Exit, System};

/// How to time a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// What is taken for granted.
    pub settings: Settings,
    /// The region whose charges are kept; if there is none, all are.
    pub region: Option<Region>,
    /// When it is over, and where.
    pub extent: Extent,
}

/// Notes how long each region lasted, the last time that it was entered.
#[derive(Clone, Debug, Default)]
pub struct RegionCycles {
    began: BTreeMap<(usize, u16), u64>,
    cycles: BTreeMap<u16, u64>,
    threads: BTreeMap<u16, usize>,
}

impl RegionCycles {
    /// Cycles of a region, on the thread that marked it.
    #[must_use]
    pub fn of(&self, region: u16) -> Option<u64> {
        self.cycles.get(&region).copied()
    }

    /// The thread that marked a region.
    #[must_use]
    pub fn thread_of(&self, region: u16) -> Option<usize> {
        self.threads.get(&region).copied()
    }
}

impl Observer for RegionCycles {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        if op.mnemonic != Some(Mnemonic::Tdi) {
            return;
        }
        let now = thread.time_now().cycles();
        match Mark::from_word(op.word) {
            Some(Mark::Begin(region)) => self.region_began(thread, region),
            Some(Mark::End(region)) => {
                if let Some(began) = self.began.remove(&(thread.index, region.number())) {
                    self.cycles.insert(region.number(), now - began);
                    self.threads.insert(region.number(), thread.index);
                }
            }
            None => {}
        }
    }

    fn region_began(&mut self, thread: &Thread, region: Region) {
        self.began.insert((thread.index, region.number()), thread.time_now().cycles());
    }
}

/// A machine with `system` in its memory, in timing mode from power-on.
///
/// # Errors
/// [`Failure`] if it cannot be started.
pub fn start(system: &System, timing: Timing) -> Result<Machine, Failure> {
    let mut machine = on_simulator::start(system)?;
    begin(&mut machine, &system.machine, timing)?;
    Ok(machine)
}

/// A machine that is as `description` says goes on in timing mode, with empty caches.
///
/// # Errors
/// [`Failure`] if there is no timing model of the processor.
pub fn begin(
    machine: &mut Machine,
    description: &MachineFile,
    timing: Timing,
) -> Result<(), Failure> {
    description.require_timing()?;
    machine.start_timing(timing.settings);
    if let Some(region) = timing.region {
        timing.extent.plan(machine, region);
    }
    Ok(())
}

/// Runs `system` with timing from power-on to its end.
///
/// # Errors
/// [`Failure`] if it cannot be started, or the user interrupts.
pub fn run<O: Observer>(
    system: &System,
    timing: Timing,
    observer: &mut O,
    between: impl FnMut(&mut Machine) -> Result<(), Failure>,
) -> Result<(Exit, Charges), Failure> {
    let mut machine = start(system, timing)?;
    let exit = on_simulator::run(&mut machine, observer, between)?;
    let charges = machine.charges().expect("the machine runs with timing");
    Ok((exit, charges))
}
