//! Who lost what: lines that a foreign owner pushed out of a cache, until they come back.
//!
//! A set remembers as many losses as it has ways, the latest ones: enough for a foreigner who fills the
//! whole set once. A loss that is forgotten makes the refill look like the owner's own miss, so what is
//! reported as indirect cost is never too much for it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The losses of one cache.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Displaced<Who = Option<u32>> {
    /// A queue per set, the latest loss last; none before the first loss.
    sets: Vec<VecDeque<(u64, Who)>>,
    count: u64,
    ways: usize,
}

impl<Who: Copy + PartialEq> Displaced<Who> {
    /// For a cache of `sets` sets of `ways` ways.
    #[must_use]
    pub fn new(sets: u64, ways: usize) -> Self {
        Self { sets: Vec::new(), count: sets, ways }
    }

    /// `who` lost `line` of `set` to somebody foreign.
    pub fn record(&mut self, set: u64, line: u64, who: Who) {
        if self.sets.is_empty() {
            self.sets.resize_with(self.count as usize, VecDeque::new);
        }
        let losses = &mut self.sets[set as usize];
        if losses.len() == self.ways {
            losses.pop_front();
        }
        losses.push_back((line, who));
    }

    /// Whether `who` lost `line` of `set`. All losses of the line are forgotten: it comes back.
    pub fn take(&mut self, set: u64, line: u64, who: Who) -> bool {
        let Some(losses) = self.sets.get_mut(set as usize) else {
            return false;
        };
        let is_lost = losses.contains(&(line, who));
        losses.retain(|(lost, _)| *lost != line);
        is_lost
    }
}
