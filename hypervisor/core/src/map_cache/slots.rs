//! Slots by their number, and sets of them.

use super::SLOTS;

/// The number of a slot, below [`SLOTS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u8);

impl Slot {
    /// The slot with this number, if there is one.
    #[must_use]
    pub const fn new(index: usize) -> Option<Self> {
        if index < SLOTS { Some(Self(index as u8)) } else { None }
    }

    /// Its number.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        // The compiler then checks no bound.
        self.0 as usize % SLOTS
    }

    const fn bit(self) -> u32 {
        1 << self.index()
    }
}

/// A set of slots: one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SlotSet(u32);

impl SlotSet {
    /// No slot.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(u32::MAX >> (u32::BITS as usize - SLOTS));

    /// This one.
    #[must_use]
    pub const fn of(slot: Slot) -> Self {
        Self(slot.bit())
    }

    /// Whether the slot is in it.
    #[must_use]
    pub const fn contains(self, slot: Slot) -> bool {
        self.0 & slot.bit() != 0
    }

    /// Number of slots in it.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The slots in it.
    pub fn iter(mut self) -> impl Iterator<Item = Slot> {
        core::iter::from_fn(move || self.take_first())
    }

    pub(super) const fn insert(&mut self, slot: Slot) {
        self.0 |= slot.bit();
    }

    /// Takes a slot out: whether it was in it.
    pub(super) const fn remove(&mut self, slot: Slot) -> bool {
        let was = self.contains(slot);
        self.0 &= !slot.bit();
        was
    }

    pub(super) const fn extend(&mut self, slots: Self) {
        self.0 |= slots.0;
    }

    /// Takes the first one out.
    pub(super) const fn take_first(&mut self) -> Option<Slot> {
        let slot = Slot::new(self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        slot
    }
}
