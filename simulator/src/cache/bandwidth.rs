//! The bandwidth of what passes one line at a time: the port of a cache, a channel of the memory.
//!
//! Time is cut into slots of the length that a line takes, and a request takes the first free slot from
//! the cycle at which it comes. Requests do not come in order of time (a core looks ahead, and threads
//! take turns), so it is not enough to know when the last one ends.

use serde::{Deserialize, Serialize};

/// Slots in one word of the list.
const SLOTS: u64 = u64::BITS as u64;
/// Words that are kept: a request may come that many slots behind the latest one.
const WORDS: usize = 64;
/// Slots have a length in parts of a cycle.
const PARTS: u64 = 256;

/// Which slots are taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Length of a slot, in parts of a cycle.
    slot_parts: u64,
    /// For each word, which 64 slots it stands for and which of them are taken.
    words: Vec<(u64, u64)>,
}

impl Bandwidth {
    /// All of it free, for what takes `cycles` cycles a line.
    #[must_use]
    pub fn new(cycles: f64) -> Self {
        let slot_parts = ((cycles * PARTS as f64).round() as u64).max(1);
        Self { slot_parts, words: vec![(0, 0); WORDS] }
    }

    /// Takes the first free slot from cycle `at`, if it begins at most `patience` cycles later. Returns
    /// the cycle at which it begins.
    pub fn reserve(&mut self, at: u64, patience: u64) -> Option<u64> {
        let mut slot = at * PARTS / self.slot_parts;
        loop {
            let number = slot / SLOTS;
            let word = &mut self.words[number as usize % WORDS];
            if word.0 < number {
                *word = (number, 0);
            } else if word.0 > number {
                // So far behind the others that nothing is known of that time.
                return Some(at);
            }
            let free = !word.1 >> (slot % SLOTS);
            if free == 0 {
                slot = (number + 1) * SLOTS;
                continue;
            }
            slot += u64::from(free.trailing_zeros());
            let begin = (slot * self.slot_parts).div_ceil(PARTS).max(at);
            if begin - at > patience {
                return None;
            }
            word.1 |= 1 << (slot % SLOTS);
            return Some(begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bandwidth;

    #[test]
    fn a_slot_is_taken_once_in_whatever_order_requests_come() {
        let mut bandwidth = Bandwidth::new(10.0);
        assert_eq!(bandwidth.reserve(100, 0), Some(100));
        assert_eq!(bandwidth.reserve(100, 1000), Some(110));
        assert_eq!(bandwidth.reserve(50, 1000), Some(50), "an earlier request is not held up");
        assert_eq!(bandwidth.reserve(104, 1000), Some(120));
        assert_eq!(bandwidth.reserve(105, 20), None, "it would have to wait for 25 cycles");
    }

    #[test]
    fn a_flood_passes_at_the_rate_of_the_slots() {
        let mut bandwidth = Bandwidth::new(4.5);
        let last = (0..1000).map(|_| bandwidth.reserve(0, u64::MAX).unwrap()).max();
        assert_eq!(last, Some((999.0_f64 * 4.5).ceil() as u64));
    }

    #[test]
    fn a_request_from_long_ago_passes() {
        let mut bandwidth = Bandwidth::new(1.0);
        bandwidth.reserve(1 << 20, 0).unwrap();
        assert_eq!(bandwidth.reserve(0, 0), Some(0));
    }
}
