//! When something is ready, and why not before.

use serde::{Deserialize, Serialize};

use crate::ledger::Cause;

/// What decided a time: a cause, and whether it is an indirect cost (see
/// [`Charge::is_refill`](crate::ledger::charges::Charge)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reason(u8);

const REFILL: u8 = 1 << 6;
const REASON_BITS: u32 = 7;

impl Reason {
    /// `cause`, as an indirect cost or not.
    #[inline]
    #[must_use]
    pub fn new(cause: Cause, is_refill: bool) -> Self {
        Self(cause as u8 | if is_refill { REFILL } else { 0 })
    }

    /// The constraint.
    #[inline]
    #[must_use]
    pub fn cause(self) -> Cause {
        Cause::ALL[usize::from(self.0 & !REFILL)]
    }

    /// Whether it is an indirect cost.
    #[inline]
    #[must_use]
    pub fn is_refill(self) -> bool {
        self.0 & REFILL != 0
    }
}

impl From<Cause> for Reason {
    #[inline]
    fn from(cause: Cause) -> Self {
        Self::new(cause, false)
    }
}

/// A cycle, and what decided that it is not an earlier one: one number, so that the later of two is
/// their maximum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Ready(u64);

impl Ready {
    /// Ready at cycle `at`, below 2^57, because of `reason`.
    #[inline]
    #[must_use]
    pub fn new(at: u64, reason: impl Into<Reason>) -> Self {
        Self(at << REASON_BITS | u64::from(reason.into().0))
    }

    /// The cycle.
    #[inline]
    #[must_use]
    pub fn at(self) -> u64 {
        self.0 >> REASON_BITS
    }

    /// Why not before.
    #[inline]
    #[must_use]
    pub fn reason(self) -> Reason {
        Reason((self.0 & ((1 << REASON_BITS) - 1)) as u8)
    }

    /// So many cycles later, for the same reason.
    #[inline]
    #[must_use]
    pub fn after(self, cycles: u64) -> Self {
        Self(self.0 + (cycles << REASON_BITS))
    }

    /// The later of both.
    #[inline]
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        self.max(other)
    }
}

/// The cycles at which the last entries of a queue were, or will be, free again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ring {
    /// As many as a power of two.
    free_at: Box<[u64]>,
    /// Entries used since power-on.
    used: usize,
}

impl Ring {
    /// A ring that remembers `entries` entries at least.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        let length = (entries.max(1) as usize).next_power_of_two();
        Self { free_at: vec![0; length].into(), used: 0 }
    }

    /// When there is room for one more in a queue of `entries` entries: when the entry so many before has
    /// become free.
    #[inline]
    #[must_use]
    pub fn room(&self, entries: u64) -> u64 {
        self.free_at[self.used.wrapping_sub(entries as usize) & (self.free_at.len() - 1)]
    }

    /// Uses an entry until `free_at`.
    #[inline]
    pub fn push(&mut self, free_at: u64) {
        let last = self.free_at.len() - 1;
        self.free_at[self.used & last] = free_at;
        self.used = self.used.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Ready, Reason, Ring};
    use crate::ledger::Cause;

    #[test]
    fn a_reason_is_read_back() {
        for &cause in Cause::ALL {
            for is_refill in [false, true] {
                let ready = Ready::new(1 << 56, Reason::new(cause, is_refill)).after(3);
                assert_eq!((ready.at(), ready.reason().cause()), ((1 << 56) + 3, cause));
                assert_eq!(ready.reason().is_refill(), is_refill);
            }
        }
        let early = Ready::new(3, Reason::new(Cause::WaitFirmware, true));
        let late = Ready::new(4, Cause::DispatchWidth);
        assert_eq!([early.later(late), late.later(early)], [late, late]);
    }

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
