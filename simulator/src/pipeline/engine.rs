//! The prefetch engine as time sees it: how fast it is, and what it does to the caches.

use serde::{Deserialize, Serialize};

use super::Timing;
use crate::cache::{Restored, Savings};
use crate::description::Description;
use crate::quantity::Bound;
use crate::state::prefetch_engine::Fetch;

/// How fast an engine is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Engine {
    /// Cycles for each line that a log names, or has room for.
    pub log_interval: u64,
    /// Lines that a fetch has on their way at most.
    pub lines_under_way: u64,
}

impl Engine {
    pub(super) fn new(description: &Description, bound: Bound) -> Self {
        let [log_interval, lines_under_way] = description.prefetch_engine_pace(bound);
        Self { log_interval, lines_under_way }
    }
}

impl Timing {
    /// How fast the prefetch engines are.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// What a line saves that is in the L2.
    #[must_use]
    pub fn savings(&self) -> Savings {
        self.memory.savings()
    }

    /// What the caches of `core` have for a log: see
    /// [`Hierarchy::lines_to_log`](crate::cache::Hierarchy::lines_to_log).
    #[must_use]
    pub fn lines_to_log(&self, core: usize, has_l3: bool) -> Vec<(u64, bool)> {
        self.memory.lines_to_log(core, has_l3)
    }

    /// An engine writes `line` of its table.
    pub fn write_past(&mut self, line: u64, at: u64) {
        self.memory.write_past(line, at);
    }

    /// The engine of `core` reads `line` of its table: the cycle at which it has it.
    pub fn read_past(&mut self, core: usize, line: u64, at: u64) -> u64 {
        self.memory.read_past(core, line, at)
    }

    /// The engine of `core` brings `line` back for `fetch`.
    pub fn restore(
        &mut self,
        core: usize,
        line: u64,
        is_for_l3: bool,
        at: u64,
        fetch: &Fetch,
    ) -> Restored {
        self.memory.restore(core, line, is_for_l3, at, (fetch.thread, fetch.side))
    }
}
