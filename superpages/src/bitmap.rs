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

    /// How many pages of `range` are in the set.
    pub(crate) fn count_in(&self, range: Range<usize>) -> usize {
        let words = range.start / 64..range.end.div_ceil(64);
        words.map(|word| self.word_in(word, &range).count_ones() as usize).sum()
    }

    /// The pages of `range` that are in the set, in order.
    pub(crate) fn pages_in(&self, range: Range<usize>) -> Pages<'_> {
        let word = range.start / 64;
        let rest = if range.is_empty() { 0 } else { self.word_in(word, &range) };
        Pages { set: self, range, word, rest }
    }

    /// Takes the pages of `range` out.
    pub(crate) fn take_all_in(&mut self, range: Range<usize>) {
        for word in range.start / 64..range.end.div_ceil(64) {
            self.0[word] &= !self.word_in(word, &range);
        }
    }

    /// A word of the set, without the pages that are not in `range`, some of which are in the word.
    fn word_in(&self, word: usize, range: &Range<usize>) -> u64 {
        let first = range.start.saturating_sub(word * 64);
        let behind = ((word + 1) * 64).saturating_sub(range.end);
        self.0[word] & u64::MAX << first & u64::MAX >> behind
    }

    /// The first page that is not in the set.
    pub(crate) fn first_outside(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != u64::MAX)?;
        Some(word * 64 + self.0[word].trailing_ones() as usize)
    }
}

/// The pages of a range that are in a set, in order.
#[derive(Clone, Debug)]
pub(crate) struct Pages<'a> {
    set: &'a Bitmap,
    range: Range<usize>,
    /// Which word is at hand, and what is left of it.
    word: usize,
    rest: u64,
}

impl Iterator for Pages<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            if (self.word + 1) * 64 >= self.range.end {
                return None;
            }
            self.word += 1;
            self.rest = self.set.word_in(self.word, &self.range);
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(self.word * 64 + bit)
    }
}
