//! The whole state of a machine: plain data, and nothing that could be made again from it.

use arch::marker::Mark;

use crate::description::Description;
use crate::pipeline::{Plan, Timing};
use crate::platform::Platform;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// Everything that the machine is: what a snapshot holds.
#[derive(PartialEq, Debug)]
pub struct State {
    /// What it is made of.
    pub description: Description,
    /// Decides what the description leaves open.
    pub seed: u64,
    /// The hardware threads, by PIR.
    pub threads: Vec<Thread>,
    /// What they share.
    pub shared: Shared,
    /// Firmware's state and the console.
    pub platform: Platform,
    /// [`State::steps`] when the machine last showed progress.
    pub progress_at: u64,
    /// The timing model, in timing mode.
    pub timing: Option<Box<Timing>>,
    /// The timing model as it was when timing mode was last left.
    pub timed: Option<Box<Timing>>,
    /// What to do at marks.
    pub plans: Vec<(Mark, Plan)>,
}

impl State {
    /// Instructions completed by all threads.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.threads.iter().map(|thread| thread.completed).sum()
    }

    /// Instructions completed and interrupts taken: what every doing of the machine adds to.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.threads.iter().map(Thread::steps).sum()
    }
}
