//! Who lost what: lines that a foreign owner pushed out of a cache, until they come back.
//!
//! A set remembers as many losses of each owner as it has ways, the latest ones, and those of a few owners in all:
//! enough for foreigners who fill the whole set, one behind the other. A loss that is forgotten makes the refill look
//! like the owner's own miss, so what is reported as indirect cost is never too much for it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::ledger::Side;

/// A set remembers as many losses as so many owners can have: hundreds of partitions would take more than the caches.
const OWNERS: usize = 8;

/// The losses of one cache.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Displaced {
    /// A queue per set, the latest loss last; none before the first loss.
    sets: Vec<VecDeque<(u64, Side)>>,
    count: u64,
    ways: usize,
}

impl Displaced {
    /// For a cache of `sets` sets of `ways` ways.
    #[must_use]
    pub fn new(sets: u64, ways: usize) -> Self {
        Self { sets: Vec::new(), count: sets, ways }
    }

    /// `side` lost `tag` of `set` to somebody foreign.
    pub fn record(&mut self, set: u64, tag: u64, side: Side) {
        if self.sets.is_empty() {
            self.sets.resize_with(self.count as usize, VecDeque::new);
        }
        let losses = &mut self.sets[set as usize];
        let mut own = losses.iter().enumerate().filter(|(_, (_, whose))| *whose == side);
        let oldest = own.next().filter(|_| own.count() + 1 == self.ways).map(|(oldest, _)| oldest);
        let is_full = losses.len() == OWNERS * self.ways;
        if let Some(oldest) = oldest.or(is_full.then_some(0)) {
            losses.remove(oldest);
        }
        losses.push_back((tag, side));
    }

    /// Whether `side` lost `tag` of `set`. All losses of the tag are forgotten: it comes back.
    pub fn take(&mut self, set: u64, tag: u64, side: Side) -> bool {
        let Some(losses) = self.sets.get_mut(set as usize) else {
            return false;
        };
        let is_lost = losses.contains(&(tag, side));
        losses.retain(|(lost, _)| *lost != tag);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::{Displaced, OWNERS};

    #[test]
    fn a_set_remembers_as_many_losses_of_each_owner_as_it_has_ways() {
        let mut displaced = Displaced::new(2, 8);
        (0..9).for_each(|tag| displaced.record(1, tag, Some(5)));
        assert!(!displaced.take(1, 0, Some(5)), "the oldest is forgotten");
        assert!(!displaced.take(0, 1, Some(5)), "another set has none");
        // Another owner's are its own.
        (20..40).for_each(|tag| displaced.record(1, tag, Some(6)));
        assert!(displaced.take(1, 1, Some(5)));
        assert!(!displaced.take(1, 31, Some(6)) && displaced.take(1, 32, Some(6)));
    }

    #[test]
    fn a_set_remembers_the_losses_of_a_few_owners() {
        let mut displaced = Displaced::new(1, 2);
        let owners = OWNERS as u32 + 1;
        (0..2 * owners).for_each(|loss| displaced.record(0, loss.into(), Some(loss / 2)));
        assert!(!displaced.take(0, 1, Some(0)), "the first owner's are forgotten");
        assert!((2..2 * owners).all(|loss| displaced.take(0, loss.into(), Some(loss / 2))));
    }
}
