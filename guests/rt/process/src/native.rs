//! The hashed page table that the kernel keeps itself, for a manager of superpages.

use arch::hash::{LARGE_PAGES, PageSize, VirtualPage, first, second};
use rt::hash::Segment;
use rt::table;
use superpages::{BLOCK_LOG2, Entries, Entry, Marks, PAGE_LOG2, Place, Size, Table};

const SMALL: PageSize = PageSize { base_log2: PAGE_LOG2, actual_log2: PAGE_LOG2, code: 0 };
const LARGE: PageSize = LARGE_PAGES[1];
const _: () = assert!(LARGE.base_log2 == PAGE_LOG2 && LARGE.actual_log2 == BLOCK_LOG2);

/// The entries of a segment of pages of 4 KiB, in the table itself. An invalidation is broadcast, as that of a kernel
/// whose processes may have run anywhere, but for many pages on POWER8: `rt::table::forget`.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    segment: Segment,
    is_own: bool,
}

const fn offset(page: usize) -> u64 {
    (page as u64) << PAGE_LOG2
}

/// R and C as they are in an entry's second doubleword.
const fn marks_of(word: u64) -> Marks {
    Marks { referenced: word & second::R != 0, changed: word & second::C != 0 }
}

impl Native {
    /// Of a segment that any hardware thread may load.
    #[must_use]
    pub const fn shared(segment: Segment) -> Self {
        Self { segment, is_own: false }
    }

    /// Of a segment that only the caller's hardware thread loads, ever.
    #[must_use]
    pub const fn own(segment: Segment) -> Self {
        Self { segment, is_own: true }
    }

    /// Clears R or C: whether it was set.
    fn clear(self, entry: Entry, mark: u64) -> bool {
        let was_set = table::clear(self.slot(entry), mark);
        table::forget(1, core::iter::once(self.page(entry)), self.is_own);
        was_set
    }

    /// Takes so many entries out at once, and tells `removed` of each its last R and C.
    fn take(
        self,
        count: usize,
        entries: impl Iterator<Item = Entry> + Clone,
        mut removed: impl FnMut(Entry, Marks),
    ) {
        for entry in entries.clone() {
            table::invalidate(self.slot(entry), self.segment.first(offset(entry.page)));
        }
        let pages = entries.clone().map(|entry| self.page(entry));
        table::forget(count, pages, self.is_own);
        for entry in entries {
            removed(entry, marks_of(table::free(self.slot(entry))));
        }
    }

    #[inline]
    fn slot(self, entry: Entry) -> u64 {
        let Place { is_secondary, slot } = entry.place;
        self.segment.group(offset(entry.page), is_secondary) + u64::from(slot)
    }

    fn page(self, entry: Entry) -> VirtualPage {
        let size = match entry.size {
            Size::Small => SMALL,
            Size::Large => LARGE,
        };
        VirtualPage { address: self.segment.address(offset(entry.page)), segment_size: 1, size }
    }
}

impl Table for Native {
    fn enter(&mut self, page: usize, size: Size, doubleword: u64) -> Option<Place> {
        let size = if size == Size::Large { first::L } else { 0 };
        let (is_secondary, slot) = self.segment.enter(offset(page), size, doubleword)?;
        Some(Place { is_secondary, slot: slot as u8 })
    }

    fn remove(&mut self, entries: Entries<'_>, mut removed: impl FnMut(Entry, Marks)) {
        self.take(entries.count(), entries.iter(), &mut removed);
    }

    fn remove_alone(&mut self, entry: Entry) -> Marks {
        let mut last = Marks::default();
        self.take(1, core::iter::once(entry), |_, marks| last = marks);
        last
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
