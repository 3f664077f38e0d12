//! Reservations: aligned blocks of memory, each held for one block of the address space and handed out page by page.
//!
//! A page gets the memory at its own place in the block, so that a block whose pages have all been touched can be
//! large.

use crate::bitmap::Bitmap;
use crate::{BLOCK_LOG2, PAGE_LOG2, PAGES};

/// A block of memory.
#[derive(Clone, Debug)]
struct Reservation {
    /// The block of the address space that it is held for.
    holder: Option<usize>,
    used: Bitmap,
    count: usize,
}

impl Reservation {
    const FREE: Self = Self { holder: None, used: Bitmap::empty(), count: 0 };
}

/// Memory in `BLOCKS` blocks at most.
#[derive(Clone, Debug)]
pub struct Reservations<const BLOCKS: usize> {
    start: u64,
    available: usize,
    blocks: [Reservation; BLOCKS],
}

impl<const BLOCKS: usize> Reservations<BLOCKS> {
    /// No memory.
    #[must_use]
    pub const fn none() -> Self {
        Self { start: 0, available: 0, blocks: [const { Reservation::FREE }; BLOCKS] }
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
        let is_free = |block: &Reservation| block.holder.is_none();
        let number = blocks.iter().position(held).or_else(|| blocks.iter().position(is_free))?;
        let block = &mut blocks[number];
        if !block.used.add(index) {
            return None;
        }
        block.holder = Some(holder);
        block.count += 1;
        let offset = (number << BLOCK_LOG2 | index << PAGE_LOG2) as u64;
        Some((self.start + offset, block.count == PAGES))
    }

    /// Whether all of the reservation of this memory is in use.
    #[must_use]
    pub fn is_full(&self, real: u64) -> bool {
        self.place(real).is_some_and(|(number, _)| self.blocks[number].count == PAGES)
    }

    /// Gives the memory of a page back: whether it was in use. The last one frees the block.
    pub fn put_back(&mut self, real: u64) -> bool {
        let Some((number, index)) = self.place(real) else { return false };
        let block = &mut self.blocks[number];
        let was_used = block.used.take(index);
        if was_used {
            block.count -= 1;
            if block.count == 0 {
                block.holder = None;
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
}
