//! The hypervisor's own tree and its windows: which piece of the window area is free, and what no window shows.
//!
//! The area is [`SLOTS`] slots of 2 MiB. An unmapped slot is not used again at once, because
//! translations of it may still be cached: the architecture leaves undefined what invalidating a
//! single page outside of quadrant 0 does, and the hypervisor lives in quadrant 3, so the smallest
//! right invalidation is that of all the hypervisor's own translations. One such invalidation when no
//! clean slot is left serves as many unmaps as there were slots.

use arch::address::RealAddress;
use arch::radix::{Leaf, rights};
use hypervisor_core::hal::{HalError, WINDOW_BYTES_MAX};
use hypervisor_core::memory::Range;

use crate::radix::{MapError, PAGE_64K, TableMemory, Tree};

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

/// What is the hypervisor's, and what it relies on to stay as it is: no window and no partition gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved([Range; 3]);

impl Reserved {
    /// These ranges.
    #[must_use]
    pub const fn new(ranges: [Range; 3]) -> Self {
        Self(ranges)
    }

    /// Refuses what has a byte in common with it.
    ///
    /// # Errors
    /// [`HalError::Reserved`].
    pub fn refuse(&self, range: Range) -> Result<(), HalError> {
        if self.0.iter().any(|taken| taken.overlaps(range)) {
            Err(HalError::Reserved)
        } else {
            Ok(())
        }
    }
}

/// A page of the hypervisor's own tree.
#[must_use]
pub const fn leaf(base: RealAddress, rights: u64) -> Leaf {
    // POWER9 raises an interrupt where it would have to set R or C.
    Leaf { base, rights, attributes: 0, referenced: true, changed: true }
}

/// Rights of what the hypervisor reads and writes.
pub const RIGHTS_DATA: u64 = rights::PRIVILEGED | rights::READ | rights::WRITE;

/// What is mapped of a range, and what has to be undone.
#[derive(PartialEq, Eq, Debug)]
pub struct Opened {
    /// Where its first page is.
    base: u64,
    pages: u64,
    /// Its slot; a pinned one has a place of its own.
    slot: Option<usize>,
    /// The first byte of the range.
    pub address: u64,
}

impl Opened {
    /// Whether its place is used again without a further invalidation, so that one is due now.
    #[must_use]
    pub const fn is_pinned(&self) -> bool {
        self.slot.is_none()
    }
}

/// The hypervisor's tree, and the slots of the window area.
#[derive(PartialEq, Eq, Debug)]
pub struct Windows {
    /// Over the image, the heap and all windows.
    pub tree: Tree,
    slots: Slots,
    /// Where slot 0 is.
    area: u64,
}

impl Windows {
    /// No window is open.
    #[must_use]
    pub const fn new(tree: Tree, area: u64) -> Self {
        Self { tree, slots: Slots::new(), area }
    }

    /// Maps a range in a free slot. `invalidate` makes the hardware forget the translations of all slots that are not
    /// open; the caller orders the stores to the tree before the first access.
    ///
    /// # Errors
    /// [`HalError`]; nothing is kept then.
    pub fn open(
        &mut self,
        memory: &mut impl TableMemory,
        range: Range,
        invalidate: impl FnOnce(),
    ) -> Result<Opened, HalError> {
        let (first, pages) = pages_of(range)?;
        if pages << PAGE_64K > WINDOW_BYTES_MAX {
            return Err(HalError::BadRange);
        }
        let slot = match self.slots.take().ok_or(HalError::OutOfWindows)? {
            Taken::Clean(slot) => slot,
            Taken::AfterInvalidation(slot) => {
                invalidate();
                slot
            }
        };
        let base = self.area + ((slot as u64) << SLOT_LOG2);
        let mapped = self.map(memory, base, first, pages);
        mapped.inspect_err(|_| self.slots.give_back(slot))?;
        Ok(Opened { base, pages, slot: Some(slot), address: base + (range.start.0 - first.0) })
    }

    /// Maps a range, all in one 64 KiB page, at a place of its own; otherwise as [`Windows::open`].
    ///
    /// # Errors
    /// [`HalError`]; nothing is kept then.
    pub fn pin(
        &mut self,
        memory: &mut impl TableMemory,
        base: u64,
        range: Range,
    ) -> Result<Opened, HalError> {
        let (first, pages) = pages_of(range)?;
        if pages != 1 {
            return Err(HalError::BadRange);
        }
        self.map(memory, base, first, pages)?;
        Ok(Opened { base, pages, slot: None, address: base + (range.start.0 - first.0) })
    }

    /// Takes out what was mapped.
    pub fn close(&mut self, memory: &mut impl TableMemory, opened: &Opened) {
        self.tree.unmap_run(memory, opened.base, opened.pages);
        if let Some(slot) = opened.slot {
            self.slots.give_back(slot);
        }
    }

    fn map(
        &mut self,
        memory: &mut impl TableMemory,
        base: u64,
        first: RealAddress,
        pages: u64,
    ) -> Result<(), HalError> {
        Ok(self.tree.map_run(memory, base, PAGE_64K, leaf(first, RIGHTS_DATA), pages)?)
    }
}

impl From<MapError> for HalError {
    fn from(error: MapError) -> Self {
        match error {
            MapError::OutOfTables => Self::OutOfTables,
            MapError::Conflict | MapError::Unaligned | MapError::AcrossTables => Self::MapConflict,
        }
    }
}

/// The first of the 64 KiB pages that a range lies in, and their number.
fn pages_of(range: Range) -> Result<(RealAddress, u64), HalError> {
    let first = range.start.align_down(PAGE_64K);
    let end = range.start.checked_add(range.bytes).ok_or(HalError::BadRange)?;
    if range.bytes == 0 || end.0 >> 52 != 0 {
        return Err(HalError::BadRange);
    }
    Ok((first, (end.0 - first.0).div_ceil(1 << PAGE_64K)))
}

#[cfg(test)]
mod tests {
    use super::{HalError, Range, Reserved, SLOTS, Slots, Taken, Windows};
    use crate::radix::sparse::{Sparse, tree};
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

    const AREA: u64 = 0xC000_0000_2000_0000;
    const MIB: u64 = 1 << 20;

    fn windows(tables: usize) -> (Sparse, Windows) {
        let (memory, tree) = tree(tables);
        (memory, Windows::new(tree, AREA))
    }

    #[test]
    fn what_is_the_hypervisors_own_is_refused_to_the_byte() {
        let range = Range::new;
        let reserved = Reserved::new([range(0, 5 * MIB), range(64 * MIB, MIB), range(0, 0)]);
        for (start, bytes) in
            [(0, 1), (5 * MIB - 1, 1), (4 * MIB, 2 * MIB), (64 * MIB - 1, 2), (0, u64::MAX)]
        {
            assert_eq!(reserved.refuse(range(start, bytes)), Err(HalError::Reserved), "{start:#x}");
        }
        for (start, bytes) in [(5 * MIB, 59 * MIB), (65 * MIB, u64::MAX)] {
            assert_eq!(reserved.refuse(range(start, bytes)), Ok(()), "{start:#x}");
        }
    }

    /// More failures than there are slots: none is lost by one.
    #[test]
    fn a_window_that_cannot_be_mapped_keeps_nothing() {
        // A root, and no table below it.
        let (mut memory, mut windows) = windows(1);
        for _ in 0..=2 * SLOTS {
            let opened = windows.open(&mut memory, Range::new(MIB, MIB), || ());
            assert_eq!(opened, Err(HalError::OutOfTables));
        }
        memory.left = 100;
        let opened = windows.open(&mut memory, Range::new(MIB + 5, MIB), || ()).unwrap();
        let translated = windows.tree.walk(&memory, opened.address).unwrap();
        assert_eq!(translated.0.base.0, MIB);
        windows.close(&mut memory, &opened);
        assert_eq!(windows.tree.walk(&memory, opened.address), None);
    }

    #[test]
    fn a_place_that_is_taken_is_left_as_it_is() {
        let (mut memory, mut windows) = windows(100);
        let place = AREA + 0x2000_0000;
        let pinned = windows.pin(&mut memory, place, Range::new(MIB + 640, 640)).unwrap();
        let again = windows.pin(&mut memory, place, Range::new(2 * MIB, 640));
        assert_eq!(again, Err(HalError::MapConflict));
        assert!(pinned.is_pinned());
        assert_eq!(windows.tree.walk(&memory, place).unwrap().0.base.0, MIB);
        for (start, bytes) in [(0, 0), (0xFFFF, 2), (u64::MAX, 2), ((1 << 52) - 1, 1)] {
            let wrong = windows.pin(&mut memory, place + MIB, Range::new(start, bytes));
            assert_eq!(wrong, Err(HalError::BadRange), "{start:#x}");
        }
        assert_eq!(
            windows.open(&mut memory, Range::new(1, 2 * MIB), || ()),
            Err(HalError::BadRange)
        );
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
