//! The hashed page table that the kernel keeps itself, for a manager of superpages.

use arch::hash::{LARGE_PAGES, PageSize, VirtualPage, first, second};
use rt::hash::Segment;
use rt::table;
use superpages::{BLOCK_LOG2, Entry, Marks, PAGE_LOG2, Place, Size, Table};

const SMALL: PageSize = PageSize { base_log2: PAGE_LOG2, actual_log2: PAGE_LOG2, code: 0 };
const LARGE: PageSize = LARGE_PAGES[1];
const _: () = assert!(LARGE.base_log2 == PAGE_LOG2 && LARGE.actual_log2 == BLOCK_LOG2);

/// The entries of a segment of pages of 4 KiB, in the table itself. An invalidation is broadcast, as that of a kernel
/// whose processes may have run anywhere, but for many pages on POWER8: `rt::table::forget`.
#[derive(Clone, Copy, Debug)]
pub struct Native(pub Segment);

const fn offset(page: usize) -> u64 {
    (page as u64) << PAGE_LOG2
}

/// R and C as they are in an entry's second doubleword.
const fn marks_of(word: u64) -> Marks {
    Marks { referenced: word & second::R != 0, changed: word & second::C != 0 }
}

impl Native {
    /// Clears R or C: whether it was set.
    fn clear(self, entry: Entry, mark: u64) -> bool {
        let was_set = table::clear(self.slot(entry), mark);
        table::forget(core::iter::once(self.page(entry)));
        was_set
    }

    fn slot(self, entry: Entry) -> u64 {
        let Place { is_secondary, slot } = entry.place;
        self.0.group(offset(entry.page), is_secondary) + u64::from(slot)
    }

    fn page(self, entry: Entry) -> VirtualPage {
        let size = match entry.size {
            Size::Small => SMALL,
            Size::Large => LARGE,
        };
        VirtualPage { address: self.0.address(offset(entry.page)), segment_size: 1, size }
    }
}

impl Table for Native {
    fn enter(&mut self, page: usize, size: Size, doubleword: u64) -> Option<Place> {
        let size = if size == Size::Large { first::L } else { 0 };
        let (is_secondary, slot) = self.0.enter(offset(page), size, doubleword)?;
        Some(Place { is_secondary, slot: slot as u8 })
    }

    fn remove(&mut self, entries: &[Entry], marks: &mut [Marks]) {
        for entry in entries {
            table::invalidate(self.slot(*entry), self.0.first(offset(entry.page)));
        }
        table::forget(entries.iter().map(|entry| self.page(*entry)));
        for (entry, marks) in entries.iter().zip(marks) {
            *marks = marks_of(table::free(self.slot(*entry)));
        }
    }

    fn remove_alone(&mut self, entry: Entry) -> Marks {
        let mut marks = [Marks::default()];
        self.remove(&[entry], &mut marks);
        marks[0]
    }

    fn clear_referenced(&mut self, entry: Entry) -> bool {
        self.clear(entry, second::R)
    }

    fn clear_changed(&mut self, entry: Entry) -> bool {
        self.clear(entry, second::C)
    }

    fn marks(&mut self, entry: Entry) -> Marks {
        marks_of(table::second(self.slot(entry)))
    }
}
