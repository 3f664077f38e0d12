//! Runs the micro-benchmarks: with every value of the machine's description as it is, and with every guess
//! at its low and at its high end.

use std::collections::BTreeMap;
use std::thread;

use arch::instruction::Mnemonic;
use arch::marker::Mark;
use simulator::blocks::Op;
use simulator::description::timing::Bound;
use simulator::exec::Mode;
use simulator::thread::Thread;
use simulator::{Machine, Observer};

use super::cases::Case;
use crate::failure::Failure;
use crate::on_simulator;
use crate::progress::Progress;
use crate::system::System;

/// Cycles an operation, by case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures {
    /// With every value as it is.
    pub value: BTreeMap<String, f64>,
    /// With every guess at its low end.
    pub low: BTreeMap<String, f64>,
    /// With every guess at its high end.
    pub high: BTreeMap<String, f64>,
}

/// Notes when regions begin and end.
#[derive(Clone, Debug, Default)]
struct RegionCycles {
    began: BTreeMap<u16, u64>,
    cycles: BTreeMap<u16, u64>,
}

impl Observer for RegionCycles {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        if op.mnemonic != Some(Mnemonic::Tdi) {
            return;
        }
        let now = thread.time_now().cycles();
        match Mark::from_word(op.word) {
            Some(Mark::Begin(region)) => {
                self.began.insert(region.number(), now);
            }
            Some(Mark::End(region)) => {
                if let Some(began) = self.began.remove(&region.number()) {
                    self.cycles.insert(region.number(), now - began);
                }
            }
            None => {}
        }
    }
}

/// Runs `system`, whose image has these cases, three times at once.
///
/// # Errors
/// [`Failure`] if a run does not end as it should, or leaves a case out.
pub fn measure(system: &System, cases: &[Case]) -> Result<Figures, Failure> {
    let run = |bound, progress| move || one_run(system, cases, bound, progress);
    thread::scope(|scope| {
        let low = scope.spawn(run(Bound::Low, false));
        let high = scope.spawn(run(Bound::High, false));
        let value = one_run(system, cases, Bound::Value, true)?;
        let joined = |result: thread::Result<_>| {
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        Ok(Figures { value, low: joined(low.join())?, high: joined(high.join())? })
    })
}

fn one_run(
    system: &System,
    cases: &[Case],
    bound: Bound,
    has_progress: bool,
) -> Result<BTreeMap<String, f64>, Failure> {
    let progress = has_progress.then(|| Progress::new("calibrate"));
    let mut regions = RegionCycles::default();
    let mut machine = on_simulator::start(system)?;
    start_timing(&mut machine, bound);
    let exit = on_simulator::run(&mut machine, &mut regions, |machine| {
        machine.take_console_output();
        if let Some(progress) = &progress {
            progress.update(machine);
        }
        Ok(())
    })?;
    exit.require_power_off()?;
    cases
        .iter()
        .map(|case| {
            let cycles = regions.cycles.get(&case.region).ok_or_else(|| {
                Failure::Run(format!("the case {} was not run to its end", case.name))
            })?;
            Ok((case.name.clone(), *cycles as f64 / case.count() as f64))
        })
        .collect()
}

fn start_timing(_machine: &mut Machine, _bound: Bound) {}
