//! Lines that go from core to core.
//!
//! A line is in one place at a time to be handed over: whoever has it answers one request after the other, each for
//! as long as the line is on its way. So transfers of a line never overlap, however many want it. Which lines wander
//! is remembered, as the order of accesses to them matters; of two whose numbers collide the later is remembered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Wandering lines that are remembered; a power of two.
const KNOWN: usize = 1024;
/// Transfers that are remembered before those that ended long ago are forgotten, and how long ago, cycles.
const TRANSFERS: usize = 4096;
const LONG_AGO: u64 = 1 << 20;

/// What is known of lines that wander.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exchange {
    known: Box<[u64]>,
    /// By line, when its last transfer is over.
    over: BTreeMap<u64, u64>,
}

impl Default for Exchange {
    fn default() -> Self {
        Self { known: vec![u64::MAX; KNOWN].into(), over: BTreeMap::new() }
    }
}

impl Exchange {
    /// Whether `line` is known to go from core to core because they write it.
    #[inline]
    #[must_use]
    pub fn wanders(&self, line: u64) -> bool {
        self.known[line as usize % KNOWN] == line
    }

    /// Notes that `line` does.
    pub fn note(&mut self, line: u64) {
        self.known[line as usize % KNOWN] = line;
    }

    /// When `line` can be asked for that is wanted at cycle `at`.
    #[must_use]
    pub fn begin(&self, line: u64, at: u64) -> u64 {
        self.over.get(&line).map_or(at, |over| at.max(*over))
    }

    /// `line` is on its way until cycle `until`.
    pub fn transfer(&mut self, line: u64, until: u64) {
        let over = self.over.entry(line).or_default();
        *over = until.max(*over);
        if self.over.len() > TRANSFERS {
            self.over.retain(|_, over| *over + LONG_AGO > until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, KNOWN, LONG_AGO, TRANSFERS};

    #[test]
    fn transfers_of_a_line_follow_each_other() {
        let mut exchange = Exchange::default();
        assert_eq!(exchange.begin(7, 100), 100);
        exchange.transfer(7, 150);
        assert_eq!([exchange.begin(7, 100), exchange.begin(7, 200)], [150, 200]);
        assert_eq!(exchange.begin(8, 100), 100, "another line does not wait");
    }

    #[test]
    fn what_is_long_over_is_forgotten() {
        let mut exchange = Exchange::default();
        for line in 0..=TRANSFERS as u64 {
            exchange.transfer(line, line * LONG_AGO);
        }
        assert!(exchange.over.len() < 3);
    }

    #[test]
    fn lines_that_wander_are_known_until_their_place_is_taken() {
        let mut exchange = Exchange::default();
        exchange.note(5);
        assert!(exchange.wanders(5) && !exchange.wanders(6));
        exchange.note(5 + KNOWN as u64);
        assert!(!exchange.wanders(5));
    }
}
