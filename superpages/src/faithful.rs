//! The rival: what the superpages of FreeBSD's review D25237 do, for the same operations.
//!
//! A record for each page of 4 KiB, as their `pvo_entry`; a scan of 4096 records at each entered page whose
//! reservation is full and whose addresses are congruent; promotion and demotion take out each entry by a call of its
//! own, then enter all 4096 of the other size. Our reading of that code also compares the hash sides of the pages.
//! Differences, which favor it: its records are in an array where theirs are allocated, in a tree and in lists; locks
//! cost nothing.

use core::ops::Range;

use crate::{
    BLOCK_LOG2, Counts, Entry, Manager, Mapping, Marks, PAGE_LOG2, PAGES, Place, Refusal, Size,
    Table,
};

/// What is known of a page. Theirs has pointers of two lists and a tree, the address space, and the virtual page
/// besides.
#[derive(Clone, Copy, Debug)]
struct Record {
    mapping: Option<Mapping>,
    /// Where its entry is, if it has one.
    place: Place,
    has_entry: bool,
    size: Size,
    /// R and C as known without the entry.
    marks: Marks,
    /// What else a record of theirs has.
    _others: [u64; 8],
}

impl Record {
    const EMPTY: Self = Self {
        mapping: None,
        place: Place { is_secondary: false, slot: 0 },
        has_entry: false,
        size: Size::Small,
        marks: Marks { referenced: false, changed: false },
        _others: [0; 8],
    };
}

/// An address space of `BLOCKS` blocks, with a record for each page.
#[derive(Clone, Debug)]
pub struct Faithful<const BLOCKS: usize> {
    records: [[Record; PAGES]; BLOCKS],
    counts: Counts,
}

impl<const BLOCKS: usize> Faithful<BLOCKS> {
    /// An empty address space.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            records: [[Record::EMPTY; PAGES]; BLOCKS],
            counts: Counts { promotions: 0, demotions: 0, failures: 0, scanned: 0 },
        }
    }

    const fn record(&mut self, page: usize) -> &mut Record {
        &mut self.records[page / PAGES][page % PAGES]
    }

    /// Takes the page's entry out, if it has one, and remembers its R and C.
    fn unset(&mut self, table: &mut impl Table, page: usize) {
        let record = self.record(page);
        if record.has_entry {
            record.has_entry = false;
            let entry = Entry { page, size: record.size, place: record.place };
            let marks = table.remove_alone(entry);
            record.marks.referenced |= marks.referenced;
            record.marks.changed |= marks.changed;
        }
    }

    fn insert(&mut self, table: &mut impl Table, page: usize) -> Result<(), Refusal> {
        let record = self.record(page);
        let Some(mapping) = record.mapping else { return Ok(()) };
        let doubleword = mapping.doubleword(record.size, record.marks);
        record.place = table.enter(page, record.size, doubleword).ok_or(Refusal::TableFull)?;
        record.has_entry = true;
        Ok(())
    }

    /// Takes all entries of a block out, one by one, and enters all again with pages of this size. R and C of one are
    /// those of all.
    fn replace(&mut self, table: &mut impl Table, number: usize, size: Size) {
        let pages = number * PAGES..(number + 1) * PAGES;
        let mut marks = Marks { referenced: size == Size::Large, changed: false };
        for page in pages.clone() {
            self.unset(table, page);
            let record = self.record(page);
            let is_writable = record.mapping.is_some_and(Mapping::is_writable);
            marks.referenced |= record.marks.referenced;
            marks.changed |= record.marks.changed || is_writable && size == Size::Large;
        }
        for page in pages {
            let record = self.record(page);
            (record.size, record.marks) = (size, marks);
            // A page without an entry gets it when it is missed.
            let _ = self.insert(table, page);
        }
    }

    fn demote(&mut self, table: &mut impl Table, number: usize) {
        if self.records[number][0].size == Size::Large {
            self.replace(table, number, Size::Small);
            self.counts.demotions += 1;
        }
    }

    /// Looks at the records of a block up to the first that does not agree with the first one.
    fn promote(&mut self, table: &mut impl Table, number: usize) {
        let first = self.records[number][0];
        if first.size == Size::Large {
            return;
        }
        let agrees = |(index, record): (usize, &Record)| {
            let expected = first.mapping.map(|mapping| mapping.plus(index));
            record.mapping.is_some()
                && record.mapping == expected
                && record.has_entry
                && record.place.is_secondary == first.place.is_secondary
        };
        let agreeing = self.records[number].iter().enumerate().take_while(|one| agrees(*one));
        let agreeing = agreeing.count();
        self.counts.scanned += (agreeing + 1).min(PAGES) as u64;
        let is_congruent = first.mapping.is_some_and(Mapping::begins_block);
        if agreeing < PAGES || !is_congruent {
            self.counts.failures += 1;
            return;
        }
        self.replace(table, number, Size::Large);
        self.counts.promotions += 1;
    }

    fn clip(pages: Range<usize>) -> Range<usize> {
        pages.start..pages.end.min(BLOCKS * PAGES)
    }

    /// Whether all of this page's block lies in `pages`.
    fn is_whole(page: usize, pages: &Range<usize>) -> bool {
        let start = page / PAGES * PAGES;
        pages.start <= start && start + PAGES <= pages.end
    }
}

impl<const BLOCKS: usize> Default for Faithful<BLOCKS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BLOCKS: usize> Manager for Faithful<BLOCKS> {
    fn enter(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
        is_full: bool,
    ) -> Result<(), Refusal> {
        if page >= self.pages() {
            return Err(Refusal::OutOfSpace);
        }
        let before = self.mapping(page);
        if before.is_some_and(|before| before.real() != mapping.real()) {
            return Err(Refusal::Mapped);
        }
        self.demote(table, page / PAGES);
        self.unset(table, page);
        self.record(page).mapping = Some(mapping);
        self.insert(table, page)?;
        let below = (1 << BLOCK_LOG2) - 1;
        if is_full && mapping.real() & below == (page as u64) << PAGE_LOG2 & below {
            self.promote(table, page / PAGES);
        }
        Ok(())
    }

    fn fault(&mut self, table: &mut impl Table, page: usize) -> Result<bool, Refusal> {
        if self.mapping(page).is_none() {
            return Ok(false);
        }
        if !self.record(page).has_entry {
            self.insert(table, page)?;
        }
        Ok(true)
    }

    fn protect(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        attributes: u64,
    ) -> Result<(), Refusal> {
        let pages = Self::clip(pages);
        for page in pages.clone() {
            let Some(before) = self.mapping(page) else { continue };
            if !Self::is_whole(page, &pages) {
                self.demote(table, page / PAGES);
            }
            self.unset(table, page);
            let record = self.record(page);
            record.mapping = Some(Mapping::new(before.real(), attributes));
            self.insert(table, page)?;
        }
        Ok(())
    }

    fn remove(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        mut removed: impl FnMut(usize, Mapping, Marks),
    ) {
        let pages = Self::clip(pages);
        for page in pages.clone() {
            let Some(mapping) = self.mapping(page) else { continue };
            if !Self::is_whole(page, &pages) {
                self.demote(table, page / PAGES);
            }
            self.unset(table, page);
            let marks = self.record(page).marks;
            *self.record(page) = Record::EMPTY;
            removed(page, mapping, marks);
        }
    }

    fn mapping(&self, page: usize) -> Option<Mapping> {
        self.records.get(page / PAGES)?[page % PAGES].mapping
    }

    fn is_large(&self, page: usize) -> bool {
        self.records.get(page / PAGES).is_some_and(|block| block[page % PAGES].size == Size::Large)
    }

    fn pages(&self) -> usize {
        BLOCKS * PAGES
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
