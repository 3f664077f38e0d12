//! A set of pages of a block.

use core::ops::Range;

use crate::PAGES;

/// A bit for each page of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bitmap([u64; PAGES / 64]);

impl Bitmap {
    pub(crate) const fn empty() -> Self {
        Self([0; PAGES / 64])
    }

    pub(crate) const fn full() -> Self {
        Self([u64::MAX; PAGES / 64])
    }

    pub(crate) const fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Adds a page: whether it was new.
    pub(crate) const fn add(&mut self, index: usize) -> bool {
        let was_there = self.contains(index);
        self.0[index / 64] |= 1 << (index % 64);
        !was_there
    }

    /// Takes a page out: whether it was there.
    pub(crate) const fn take(&mut self, index: usize) -> bool {
        let was_there = self.contains(index);
        self.0[index / 64] &= !(1 << (index % 64));
        was_there
    }

    /// The first page of `range` that is in the set.
    pub(crate) fn first_in(&self, range: Range<usize>) -> Option<usize> {
        let mut index = range.start;
        while index < range.end {
            let rest = self.0[index / 64] >> (index % 64);
            if rest != 0 {
                let found = index + rest.trailing_zeros() as usize;
                return (found < range.end).then_some(found);
            }
            index = (index / 64 + 1) * 64;
        }
        None
    }

    /// The first page that is not in the set.
    pub(crate) fn first_outside(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != u64::MAX)?;
        Some(word * 64 + self.0[word].trailing_ones() as usize)
    }
}
