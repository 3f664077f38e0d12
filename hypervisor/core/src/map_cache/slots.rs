//! Slots by their number, sets of them, and the places that a slot has.

use super::{LAPS, SLOTS};

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

/// Where a slot is: an entry of the table. Each slot has [`LAPS`] places, and is at one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(u16);

impl Place {
    /// Number of places.
    pub const COUNT: usize = SLOTS * LAPS;
    /// The first one of each slot.
    pub(super) const FIRST: [Self; SLOTS] = {
        let mut first = [Self(0); SLOTS];
        let mut slot = 0;
        while slot < SLOTS {
            first[slot] = Self(slot as u16);
            slot += 1;
        }
        first
    };

    /// The place with this number, if there is one.
    #[must_use]
    pub const fn new(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index as u16)) } else { None }
    }

    /// The first one of a slot.
    #[inline]
    #[must_use]
    pub const fn first(slot: Slot) -> Self {
        Self(slot.index() as u16)
    }

    /// Its number, below [`Place::COUNT`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        // The compiler then checks no bound.
        self.0 as usize % Self::COUNT
    }

    /// Whose it is.
    #[inline]
    #[must_use]
    pub const fn slot(self) -> Slot {
        Slot((self.index() % SLOTS) as u8)
    }

    /// Which of that one's, below [`LAPS`].
    #[inline]
    #[must_use]
    pub const fn lap(self) -> usize {
        self.index() / SLOTS
    }

    /// The same slot's next one, behind the last its first.
    pub(super) const fn next(self) -> Self {
        Self(((self.index() + SLOTS) % Self::COUNT) as u16)
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
    #[inline]
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
    #[inline]
    pub const fn take_first(&mut self) -> Option<Slot> {
        let slot = Slot::new(self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        slot
    }
}
