//! Reservations: aligned blocks of memory, each held for one block of the address space and handed out page by page.
//!
//! A page gets the memory at its own place in the block, so that a block whose pages have all been touched can be
//! large. Where memory is short, a reservation that is not full can be broken: what of it is not in use is anybody's
//! then, page by page.

use crate::bitmap::Bitmap;
use crate::{BLOCK_LOG2, PAGE_LOG2, PAGES};

/// A block of memory.
#[derive(Clone, Debug)]
struct Reservation {
    /// The block of the address space that it is held for.
    holder: Option<usize>,
    /// It was held, and its pages are anybody's.
    is_broken: bool,
    used: Bitmap,
    count: usize,
    /// When it changed last.
    changed: u64,
}

impl Reservation {
    const FREE: Self =
        Self { holder: None, is_broken: false, used: Bitmap::empty(), count: 0, changed: 0 };
}

/// Memory in `BLOCKS` blocks at most.
#[derive(Clone, Debug)]
pub struct Reservations<const BLOCKS: usize> {
    start: u64,
    available: usize,
    blocks: [Reservation; BLOCKS],
    /// Pages that were ever taken or put back.
    changes: u64,
    broken: u64,
}

impl<const BLOCKS: usize> Reservations<BLOCKS> {
    /// No memory.
    #[must_use]
    pub const fn none() -> Self {
        let blocks = [const { Reservation::FREE }; BLOCKS];
        Self { start: 0, available: 0, blocks, changes: 0, broken: 0 }
    }

    /// The aligned blocks of the memory from `start` to `end`, as many as there is room for.
    pub const fn give(&mut self, start: u64, end: u64) {
        self.start = start.next_multiple_of(1 << BLOCK_LOG2);
        let count = (end.saturating_sub(self.start) >> BLOCK_LOG2) as usize;
        self.available = if count < BLOCKS { count } else { BLOCKS };
    }

    /// Blocks that there are.
    #[must_use]
    pub const fn available(&self) -> usize {
        self.available
    }

    /// The real address of the first block.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Memory for a page of the address space: its real address, and whether all of its reservation is in use then.
    /// `None` if there is no free block, or the page has its memory already.
    pub fn take(&mut self, page: usize) -> Option<(u64, bool)> {
        let (holder, index) = (page / PAGES, page % PAGES);
        let blocks = &mut self.blocks[..self.available];
        let held = |block: &Reservation| block.holder == Some(holder);
        let is_free = |block: &Reservation| block.holder.is_none() && !block.is_broken;
        let number = blocks.iter().position(held).or_else(|| blocks.iter().position(is_free))?;
        let block = &mut blocks[number];
        if !block.used.add(index) {
            return None;
        }
        block.holder = Some(holder);
        block.count += 1;
        self.changes += 1;
        block.changed = self.changes;
        let offset = (number << BLOCK_LOG2 | index << PAGE_LOG2) as u64;
        Some((self.start + offset, block.count == PAGES))
    }

    /// Whether all of the reservation of this memory is in use.
    #[must_use]
    pub fn is_full(&self, real: u64) -> bool {
        let is_full = |block: &Reservation| block.count == PAGES && !block.is_broken;
        self.place(real).is_some_and(|(number, _)| is_full(&self.blocks[number]))
    }

    /// Breaks the reservation that is not full and has not changed for longest: whether there was one. Memory of it
    /// that is in use stays so.
    pub fn break_oldest(&mut self) -> bool {
        let blocks = self.blocks[..self.available].iter_mut();
        let partial = blocks.filter(|block| block.holder.is_some() && block.count < PAGES);
        let Some(oldest) = partial.min_by_key(|block| block.changed) else { return false };
        (oldest.holder, oldest.is_broken) = (None, true);
        self.broken += 1;
        true
    }

    /// How many reservations were broken.
    #[must_use]
    pub const fn broken(&self) -> u64 {
        self.broken
    }

    /// Memory of a page of a broken reservation, for any page of the address space: `None` if there is none free.
    pub fn take_loose(&mut self) -> Option<u64> {
        let mut blocks = self.blocks[..self.available].iter_mut().enumerate();
        let has_free = |block: &Reservation| block.is_broken && block.count < PAGES;
        let (number, block) = blocks.find(|(_, block)| has_free(block))?;
        let index = block.used.first_outside()?;
        block.used.add(index);
        block.count += 1;
        Some(self.start + (number << BLOCK_LOG2 | index << PAGE_LOG2) as u64)
    }

    /// Gives the memory of a page back: whether it was in use. The last one frees the block.
    pub fn put_back(&mut self, real: u64) -> bool {
        let Some((number, index)) = self.place(real) else { return false };
        let block = &mut self.blocks[number];
        let was_used = block.used.take(index);
        if was_used {
            block.count -= 1;
            self.changes += 1;
            block.changed = self.changes;
            if block.count == 0 {
                (block.holder, block.is_broken) = (None, false);
            }
        }
        was_used
    }

    fn place(&self, real: u64) -> Option<(usize, usize)> {
        let offset = real.checked_sub(self.start)?;
        let number = (offset >> BLOCK_LOG2) as usize;
        let index = (offset >> PAGE_LOG2) as usize % PAGES;
        (number < self.available).then_some((number, index))
    }
}

#[cfg(test)]
mod tests {
    use super::Reservations;
    use crate::PAGES;

    #[test]
    fn a_page_gets_the_memory_at_its_place_and_the_last_one_fills_the_block() {
        let mut memory = Reservations::<3>::none();
        assert_eq!(memory.take(0), None);
        memory.give(0x12_3456, 0x300_0000);
        assert_eq!((memory.start(), memory.available()), (0x100_0000, 2));
        assert_eq!(memory.take(5 * PAGES + 7), Some((0x100_7000, false)));
        assert_eq!(memory.take(5 * PAGES + 7), None, "it has its memory");
        assert_eq!(memory.take(9 * PAGES), Some((0x200_0000, false)));
        assert_eq!(memory.take(2 * PAGES), None, "both blocks are held");
        for index in (0..PAGES).filter(|index| *index != 7) {
            let is_last = index == PAGES - 1;
            let expected = (0x100_0000 + 0x1000 * index as u64, is_last);
            assert_eq!(memory.take(5 * PAGES + index), Some(expected));
        }
        assert!(memory.is_full(0x100_0000) && !memory.is_full(0x200_0000));
        assert!(!memory.is_full(0x300_0000) && !memory.is_full(0));
        assert!(memory.put_back(0x100_0000) && !memory.put_back(0x100_0000));
        assert!(!memory.is_full(0x100_1000));
        assert!(memory.put_back(0x200_0000) && !memory.put_back(0x300_0000));
        assert_eq!(memory.take(2 * PAGES), Some((0x200_0000, false)), "the block is free");
    }

    #[test]
    fn the_oldest_reservation_that_is_not_full_breaks_and_its_free_memory_is_anybodys() {
        let mut memory = Reservations::<3>::none();
        memory.give(0, 0x300_0000);
        assert!(!memory.break_oldest() && memory.take_loose().is_none());
        for index in 0..PAGES {
            memory.take(index);
        }
        assert_eq!(memory.take(7 * PAGES + 1), Some((0x100_1000, false)));
        assert_eq!(memory.take(8 * PAGES), Some((0x200_0000, false)));
        assert_eq!(memory.take(7 * PAGES), Some((0x100_0000, false)));
        assert_eq!(memory.take_loose(), None, "nothing is broken");
        assert!(memory.break_oldest(), "that of block 8 changed before that of block 7");
        assert_eq!(memory.broken(), 1);
        assert_eq!(memory.take_loose(), Some(0x200_1000), "the first page is in use");
        assert_eq!(memory.take(8 * PAGES + 1), None, "its holder has lost it");
        for index in 2..PAGES as u64 {
            assert_eq!(memory.take_loose(), Some(0x200_0000 + 0x1000 * index));
        }
        assert_eq!(memory.take_loose(), None);
        assert!(!memory.is_full(0x200_0000), "what is broken is never full");
        assert!(memory.break_oldest() && !memory.break_oldest(), "a full one does not break");
        for page in 0..PAGES as u64 {
            assert!(memory.put_back(0x200_0000 + 0x1000 * page));
        }
        assert_eq!(memory.take(9 * PAGES + 3), Some((0x200_3000, false)), "a block again");
    }
}
