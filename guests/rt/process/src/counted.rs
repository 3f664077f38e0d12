//! A page table that counts what is done with it.

use superpages::{Entries, Entry, Marks, Place, Size, Table};

use crate::PageTable;

/// What was done with a page table.
#[derive(Clone, Copy, Default, Debug)]
pub struct Traffic {
    /// Entries that were entered, or for which no place was found.
    pub entered: u64,
    /// Entries that were taken out.
    pub removed: u64,
    /// How often some were taken out together, or one by itself.
    pub removals: u64,
    /// Entries whose R or C was cleared.
    pub cleared: u64,
}

impl Traffic {
    /// Adds what was done with another one.
    pub const fn add(&mut self, other: &Self) {
        self.entered += other.entered;
        self.removed += other.removed;
        self.removals += other.removals;
        self.cleared += other.cleared;
    }
}

/// A table that counts.
#[derive(Debug)]
pub struct Counted<'a> {
    /// The table.
    pub table: PageTable,
    /// What was done with it.
    pub traffic: &'a mut Traffic,
}

impl Table for Counted<'_> {
    #[inline]
    fn enter(&mut self, page: usize, size: Size, doubleword: u64) -> Option<Place> {
        self.traffic.entered += 1;
        self.table.enter(page, size, doubleword)
    }

    #[inline]
    fn remove(&mut self, entries: Entries<'_>, removed: impl FnMut(Entry, Marks)) {
        self.traffic.removed += entries.count() as u64;
        self.traffic.removals += 1;
        self.table.remove(entries, removed);
    }

    #[inline]
    fn remove_alone(&mut self, entry: Entry) -> Marks {
        self.traffic.removed += 1;
        self.traffic.removals += 1;
        self.table.remove_alone(entry)
    }

    #[inline]
    fn clear_referenced(&mut self, entry: Entry) -> bool {
        self.traffic.cleared += 1;
        self.table.clear_referenced(entry)
    }

    #[inline]
    fn clear_changed(&mut self, entry: Entry) -> bool {
        self.traffic.cleared += 1;
        self.table.clear_changed(entry)
    }

    #[inline]
    fn marks(&mut self, entry: Entry) -> Marks {
        self.table.marks(entry)
    }
}
