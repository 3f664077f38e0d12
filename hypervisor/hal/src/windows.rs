//! Which piece of the window area is free: the bookkeeping behind `map_window`.
//!
//! The area is [`SLOTS`] slots of 2 MiB. An unmapped slot is not used again at once, because
//! translations of it may still be cached: the architecture leaves undefined what invalidating a
//! single page outside of quadrant 0 does, and the hypervisor lives in quadrant 3, so the smallest
//! right invalidation is that of all the hypervisor's own translations. One such invalidation when no
//! clean slot is left serves as many unmaps as there were slots.

/// Number of windows that can be open, and of unmaps that share an invalidation.
pub const SLOTS: usize = 128;
/// Bytes of a slot, as a power of two.
pub const SLOT_LOG2: u32 = 21;

/// The slots: one bit each, never in both sets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Slots {
    open: u128,
    stale: u128,
}

/// What has to be done before the slot is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// Nothing.
    Clean(usize),
    /// The translations of all slots that are not open have to be invalidated.
    AfterInvalidation(usize),
}

impl Slots {
    /// All slots are clean.
    #[must_use]
    pub const fn new() -> Self {
        Self { open: 0, stale: 0 }
    }

    /// Takes a free slot, or `None` when all are open.
    pub fn take(&mut self) -> Option<Taken> {
        let clean = !(self.open | self.stale);
        if clean != 0 {
            let slot = clean.trailing_zeros() as usize;
            self.open |= 1 << slot;
            return Some(Taken::Clean(slot));
        }
        if self.stale == 0 {
            return None;
        }
        let slot = self.stale.trailing_zeros() as usize;
        self.stale = 0;
        self.open |= 1 << slot;
        Some(Taken::AfterInvalidation(slot))
    }

    /// Gives a slot back whose pages were unmapped.
    pub fn give_back(&mut self, slot: usize) {
        assert!(self.open & (1 << slot) != 0, "only an open window is closed");
        self.open &= !(1 << slot);
        self.stale |= 1 << slot;
    }
}

#[cfg(test)]
mod tests {
    use super::{SLOTS, Slots, Taken};
    use proptest::prelude::{prop_assert, proptest};
    use std::collections::HashSet;

    #[test]
    fn a_closed_window_is_used_again_only_after_an_invalidation() {
        let mut slots = Slots::default();
        for slot in 0..SLOTS {
            assert_eq!(slots.take(), Some(Taken::Clean(slot)));
            slots.give_back(slot);
        }
        assert_eq!(slots.take(), Some(Taken::AfterInvalidation(0)));
        assert_eq!(slots.take(), Some(Taken::Clean(1)));
    }

    #[test]
    fn there_is_an_end_to_open_windows() {
        let mut slots = Slots::default();
        for _ in 0..SLOTS {
            assert!(slots.take().is_some());
        }
        assert_eq!(slots.take(), None);
        slots.give_back(7);
        assert_eq!(slots.take(), Some(Taken::AfterInvalidation(7)));
    }

    proptest! {
        #[test]
        fn no_slot_is_open_twice_or_reused_stale(closes in proptest::collection::vec(0usize..100, 1..400)) {
            let mut slots = Slots::default();
            let mut open = Vec::new();
            let mut stale = HashSet::new();
            for close in closes {
                match slots.take() {
                    None => prop_assert!(open.len() == SLOTS),
                    Some(taken) => {
                        let slot = match taken {
                            Taken::Clean(slot) => slot,
                            Taken::AfterInvalidation(slot) => { stale.clear(); slot }
                        };
                        prop_assert!(!open.contains(&slot) && !stale.contains(&slot));
                        open.push(slot);
                    }
                }
                if close < open.len() {
                    let slot = open.swap_remove(close);
                    stale.insert(slot);
                    slots.give_back(slot);
                }
            }
        }
    }
}
