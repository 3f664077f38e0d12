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

/// A cycle, what decided that it is not an earlier one, and the [event](super::chain) that it is the end of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The cycle above the reason: one number, so that the later of two is their maximum.
    key: u64,
    event: u32,
}

impl Default for Ready {
    fn default() -> Self {
        Self { key: 0, event: Self::NO_EVENT }
    }
}

impl Ready {
    /// No event is known.
    pub const NO_EVENT: u32 = u32::MAX;

    /// Ready at cycle `at`, below 2^57, because of `reason`.
    #[inline]
    #[must_use]
    pub fn new(at: u64, reason: impl Into<Reason>) -> Self {
        Self::from_parts(at << REASON_BITS | u64::from(reason.into().0), Self::NO_EVENT)
    }

    /// The same as the end of event `number`.
    #[inline]
    #[must_use]
    pub fn of(self, number: u32) -> Self {
        Self { event: number, ..self }
    }

    /// What [`key`](Self::key) and [`event`](Self::event) gave.
    #[inline]
    #[must_use]
    pub fn from_parts(key: u64, event: u32) -> Self {
        Self { key, event }
    }

    /// Cycle and reason as a number.
    #[inline]
    #[must_use]
    pub fn key(self) -> u64 {
        self.key
    }

    /// The number of its event, or [`NO_EVENT`](Self::NO_EVENT).
    #[inline]
    #[must_use]
    pub fn event(self) -> u32 {
        self.event
    }

    /// The cycle.
    #[inline]
    #[must_use]
    pub fn at(self) -> u64 {
        self.key >> REASON_BITS
    }

    /// Why not before.
    #[inline]
    #[must_use]
    pub fn reason(self) -> Reason {
        Reason((self.key & ((1 << REASON_BITS) - 1)) as u8)
    }

    /// The later of both.
    #[inline]
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        if other.key > self.key { other } else { self }
    }
}

/// The cycles at which the last entries of a queue were, or will be, free again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ring {
    /// As many as a power of two.
    free_at: Box<[Ready]>,
    /// Entries used since power-on.
    used: usize,
}

impl Ring {
    /// A ring that remembers `entries` entries at least.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        let length = (entries.max(1) as usize).next_power_of_two();
        Self { free_at: vec![Ready::default(); length].into(), used: 0 }
    }

    /// When there is room for one more in a queue of `entries` entries: when the entry so many before has
    /// become free.
    #[inline]
    #[must_use]
    pub fn room(&self, entries: u64) -> Ready {
        self.free_at[self.used.wrapping_sub(entries as usize) & (self.free_at.len() - 1)]
    }

    /// Uses an entry until `free_at`.
    #[inline]
    pub fn push(&mut self, free_at: Ready) {
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
                let ready = Ready::new(1 << 56, Reason::new(cause, is_refill));
                assert_eq!((ready.at(), ready.reason().cause()), (1 << 56, cause));
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
        assert_eq!(ring.room(4).at(), 0);
        for free_at in [10, 20, 30, 40, 50] {
            ring.push(Ready::new(free_at, Cause::LoadL2));
        }
        assert_eq!([4, 2, 1].map(|entries| ring.room(entries).at()), [20, 40, 50]);
    }
}
