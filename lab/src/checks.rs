//! What a run says about its own figures: how they change with half the quantum, and whether making a cause
//! free changes what the ledger says.
//!
//! [`crate::trial`] finds it out, [`crate::report`] prints it, as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;
use simulator::ledger::Cause;

use crate::metric::{Figure, Per};

/// What was checked of one variant.
#[derive(Serialize, Clone, PartialEq, Debug, Default)]
pub struct Checks {
    /// On a machine of several hardware threads.
    pub half_quantum: Option<HalfQuantum>,
    /// Where it was asked for.
    pub causes_made_free: Option<Vec<FreeCause>>,
}

/// The same run with half the quantum: hardware threads take turns of that, so what changes is an error of
/// simulating them one after the other.
#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
pub struct HalfQuantum {
    /// Cycles.
    pub quantum: u64,
    /// Cycles by what the experiment's figures are divided by.
    pub value: Figure,
    /// How much the cycles of the region change.
    pub change_percent: f64,
}

impl HalfQuantum {
    /// One line.
    #[must_use]
    pub fn text(&self, variant: &str, per: &Per) -> String {
        let Self { value, change_percent, .. } = self;
        let (value, noun) = (value.number(), per.noun());
        format!(
            "\n{variant}, with half the quantum: {value:.4} cycles per {noun} ({change_percent:+.2} %)\n"
        )
    }
}

/// A cause that one more run had for nothing.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeCause {
    /// Its name.
    pub cause: &'static str,
    /// What the ledger charges it with, in thread-cycles.
    pub ledger_cycles: u64,
    /// By how many thread-cycles that run was shorter; for `dispatch.width`, what it is charged with where
    /// everything else is free.
    pub run_cycles: i64,
}

impl FreeCause {
    /// What it is worth of what the ledger says.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.run_cycles as f64 / self.ledger_cycles as f64
    }
}

/// A line for each cause.
#[must_use]
pub fn causes_text(variant: &str, causes: &[FreeCause]) -> String {
    let mut text = format!(
        "\n{variant}, causes made free one by one, in thread-cycles\n\n{:<24}{:>14}{:>14}{:>9}\n",
        "cause", "ledger says", "run says", "ratio"
    );
    for free in causes {
        let (FreeCause { cause, ledger_cycles, run_cycles }, ratio) = (free, free.ratio());
        let _ = writeln!(text, "{cause:<24}{ledger_cycles:>14}{run_cycles:>14}{ratio:>9.2}");
    }
    let work = Cause::DispatchWidth.name();
    if causes.iter().any(|free| free.cause == work) {
        let _ = writeln!(text, "{work}: what it has with everything else free");
    }
    text
}
