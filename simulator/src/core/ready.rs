//! When something is ready, and why not before.

use serde::{Deserialize, Serialize};

use crate::ledger::Cause;

/// What decided a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// The constraint.
    pub cause: Cause,
    /// Whether it is an indirect cost, see [`Charge::is_refill`](crate::ledger::charges::Charge).
    pub is_refill: bool,
}

impl From<Cause> for Reason {
    fn from(cause: Cause) -> Self {
        Self { cause, is_refill: false }
    }
}

/// A cycle, and what decided that it is not an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The cycle.
    pub at: u64,
    /// Why not before.
    pub reason: Reason,
}

impl Ready {
    /// Ready at cycle `at` because of `reason`.
    #[inline]
    #[must_use]
    pub fn new(at: u64, reason: impl Into<Reason>) -> Self {
        Self { at, reason: reason.into() }
    }

    /// The later of both; this one if they are the same.
    #[inline]
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self::new(0, Cause::DispatchWidth)
    }
}

/// The cycles at which the last entries of a queue were, or will be, free again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ring {
    free_at: Vec<u64>,
    /// Entries used since power-on.
    used: u64,
}

impl Ring {
    /// A ring that remembers `entries` entries.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        Self { free_at: vec![0; entries.max(1) as usize], used: 0 }
    }

    /// When there is room for one more in a queue of `entries` entries, if it has no more than the ring.
    #[inline]
    #[must_use]
    pub fn room(&self, entries: u64) -> u64 {
        let length = self.free_at.len() as u64;
        let entries = entries.clamp(1, length);
        self.free_at[((self.used + length - entries) % length) as usize]
    }

    /// Uses an entry until `free_at`.
    #[inline]
    pub fn push(&mut self, free_at: u64) {
        let length = self.free_at.len() as u64;
        self.free_at[(self.used % length) as usize] = free_at;
        self.used += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn a_queue_has_room_when_the_entry_before_so_many_is_free() {
        let mut ring = Ring::new(4);
        assert_eq!(ring.room(4), 0);
        for free_at in [10, 20, 30, 40, 50] {
            ring.push(free_at);
        }
        assert_eq!([ring.room(4), ring.room(2), ring.room(1)], [20, 40, 50]);
    }
}
