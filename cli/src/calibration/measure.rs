//! Runs the micro-benchmarks: with every value of the machine's description as it is, and with every guess
//! at its low and at its high end.

use std::collections::BTreeMap;
use std::thread;

use simulator::description::timing::Bound;

use super::cases::Case;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::system::System;
use crate::timed::{self, RegionCycles, Timing};

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
    let timing = Timing { bound, ..Timing::default() };
    let (exit, _) = timed::run(system, timing, &mut regions, |machine| {
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
            let cycles = regions.of(case.region).ok_or_else(|| {
                Failure::Run(format!("the case {} was not run to its end", case.name))
            })?;
            Ok((case.name.clone(), cycles as f64 / case.count() as f64))
        })
        .collect()
}
