//! Entries of a block that go out of the page table at once.

use core::ops::Range;

use crate::bitmap::Bitmap;
use crate::{Entry, PAGES, Place, Size};

/// Where the entries of a block are, four bits each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places([u8; PAGES / 2]);

impl Places {
    pub(crate) const fn new() -> Self {
        Self([0; PAGES / 2])
    }

    pub(crate) const fn get(&self, index: usize) -> Place {
        let bits = self.0[index / 2] >> (index % 2 * 4) & 0xF;
        Place { is_secondary: bits & 8 != 0, slot: bits & 7 }
    }

    pub(crate) const fn set(&mut self, index: usize, place: Place) {
        let bits = if place.is_secondary { 8 } else { 0 } | place.slot & 7;
        let shift = index % 2 * 4;
        let byte = &mut self.0[index / 2];
        *byte = *byte & !(0xF << shift) | bits << shift;
    }
}

/// Entries of one block, all of one size: for a table, which takes as many of them out at a time as it can.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    /// The block's first page.
    pub(crate) base: usize,
    pub(crate) size: Size,
    /// Pages of the block with an entry, and the range of those that are meant.
    pub(crate) entered: &'a Bitmap,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) places: &'a Places,
}

impl<'a> Entries<'a> {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entered.count_in(self.range())
    }

    /// One by one, in the order of their pages.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + Clone + use<'a> {
        let Self { base, size, places, .. } = *self;
        let entry = move |index| Entry { page: base + index, size, place: places.get(index) };
        self.entered.pages_in(self.range()).map(entry)
    }

    const fn range(&self) -> Range<usize> {
        self.from..self.to
    }
}
