//! How a machine is timed, and from which mark on.

use serde::{Deserialize, Serialize};

use crate::ledger::CauseSet;
use crate::quantity::Bound;

/// How a machine is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Which end of the guesses is taken.
    pub bound: Bound,
    /// Causes that cost nothing.
    pub free: CauseSet,
    /// How many cycles a thread may go ahead of the others, 1 to 100.
    pub quantum: u64,
    /// Whether the ledger knows who called.
    pub callers: bool,
}

/// Further ahead, cycles, a thread would not see what others do in time.
pub const LONGEST_QUANTUM: u64 = 100;

impl Default for Settings {
    fn default() -> Self {
        Self {
            bound: Bound::Value,
            free: CauseSet::default(),
            quantum: LONGEST_QUANTUM,
            callers: false,
        }
    }
}

/// What to do when a mark is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Plan {
    /// Go on in timing mode.
    Start(Settings),
    /// Forget all charges.
    Clear,
    /// From here on what the thread is charged with belongs to the region.
    Open,
    /// From here on it does not.
    Close,
    /// If the partition with this number passes it, what any thread is charged with belongs to the region from here on.
    OpenOf(u32),
    /// If the partition with this number passes it, nothing that any thread is charged with does.
    CloseOf(u32),
    /// Go on in functional mode and keep the ledger.
    Stop,
}
