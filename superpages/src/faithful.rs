//! The rival: what the superpages of FreeBSD's review D25237 do, for the same operations.
//!
//! A record for each page of 4 KiB, as their `pvo_entry`; a scan of 4096 records at each entered page whose
//! reservation is full and whose addresses are congruent; promotion and demotion take out each entry by a call of its
//! own, then enter all 4096 of the other size. A whole block is entered by 4096 records and as many entries. Our
//! reading of that code also compares the hash sides of the pages. Differences, which favor it: its records are in an
//! array where theirs are allocated, in a tree and in lists, and a bitmap finds those that are in use; locks cost
//! nothing. Theirs looks at R of all pages of a large block whenever it is asked of one that is not known to be
//! referenced, and clears it when it is asked of one of them; this one does both once, for the first page. A page that
//! is said to be clean is not protected against stores, as theirs is. Which pages show a frame it finds in all records,
//! where theirs has a list. As theirs, it takes no entry of a large page out to make room.

use core::ops::Range;

use crate::bitmap::Bitmap;
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

/// What the rival does with a block that is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promotion {
    /// Nothing: superpages are off.
    Never,
    /// What the landed code does.
    Landed,
    /// What the review's first diff did, which is wrong: it does not look whether a block's pages are there, and show
    /// one aligned block of memory, and replaces their entries one after the other. So an address has entries of two
    /// sizes meanwhile.
    First,
}

impl Promotion {
    /// That of an experiment's variant with this name.
    #[must_use]
    pub fn of_variant(name: &str) -> Self {
        match name {
            "faithful" => Self::Landed,
            "first" => Self::First,
            _ => Self::Never,
        }
    }
}

/// An address space of `BLOCKS` blocks, with a record for each page. Without `COMPILED_IN`, it is the code before the
/// review: nothing of large pages is in it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Faithful<const BLOCKS: usize, const COMPILED_IN: bool> {
    /// In front, where one instruction reaches it, as theirs is a variable of its own.
    promotion: Promotion,
    records: [[Record; PAGES]; BLOCKS],
    mapped: [Bitmap; BLOCKS],
    counts: Counts,
    /// Blocks of which some page was accessed when they were aged last while they were large.
    was_referenced: [bool; BLOCKS],
}

impl<const BLOCKS: usize, const COMPILED_IN: bool> Faithful<BLOCKS, COMPILED_IN> {
    /// An empty address space.
    #[must_use]
    pub const fn new(promotion: Promotion) -> Self {
        Self {
            records: [[Record::EMPTY; PAGES]; BLOCKS],
            mapped: [const { Bitmap::empty() }; BLOCKS],
            promotion,
            counts: Counts::NONE,
            was_referenced: [false; BLOCKS],
        }
    }

    /// From now on full blocks are treated so. As theirs, which a kernel is told when it boots, this comes before the
    /// first mapping: a block that is large already is not looked for where none becomes large.
    ///
    /// # Panics
    /// If a page is mapped.
    pub fn set_promotion(&mut self, promotion: Promotion) {
        let is_empty = self.first_mapped(0..BLOCKS * PAGES).is_none();
        assert!(is_empty, "blocks become large or not from the first mapping on");
        self.promotion = promotion;
    }

    fn is_first(&self) -> bool {
        self.promotion == Promotion::First
    }

    /// The first mapped page of a range.
    fn first_mapped(&self, pages: Range<usize>) -> Option<usize> {
        let mut next = pages.start;
        while next < pages.end {
            let (number, base) = (next / PAGES, next / PAGES * PAGES);
            let end = (pages.end - base).min(PAGES);
            if let Some(index) = self.mapped[number].first_in(next - base..end) {
                return Some(base + index);
            }
            next = base + PAGES;
        }
        None
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

    /// Maps a page and enters it.
    fn enter_page(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
    ) -> Result<(), Refusal> {
        self.unset(table, page);
        self.record(page).mapping = Some(mapping);
        self.mapped[page / PAGES].add(page % PAGES);
        self.insert(table, page)
    }

    /// The same where blocks become large. As theirs, it asks for the record of the block's first page. Not inlined, so
    /// that `enter` pays for none of it where they do not.
    #[inline(never)]
    fn enter_and_promote(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
        is_full: bool,
    ) -> Result<(), Refusal> {
        self.demote(table, page / PAGES);
        self.enter_page(table, page, mapping)?;
        let below = (1 << BLOCK_LOG2) - 1;
        let is_congruent = mapping.real() & below == (page as u64) << PAGE_LOG2 & below;
        if is_full && (is_congruent || self.is_first()) {
            self.promote(table, page / PAGES);
        }
        Ok(())
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
        if self.is_first() {
            for page in pages {
                self.unset(table, page);
                let record = self.record(page);
                record.size = size;
                record.marks.referenced = true;
                let _ = self.insert(table, page);
            }
            return;
        }
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

    /// Whether R was known of a page or set in its entry, which forgets it.
    fn clear_referenced(&mut self, table: &mut impl Table, page: usize) -> bool {
        let record = self.record(page);
        let was_known = core::mem::take(&mut record.marks.referenced);
        let entry = Entry { page, size: record.size, place: record.place };
        let is_set = record.has_entry && table.clear_referenced(entry);
        was_known || is_set
    }

    fn demote(&mut self, table: &mut impl Table, number: usize) {
        if COMPILED_IN && self.records[number][0].size == Size::Large {
            self.replace(table, number, Size::Small);
            self.counts.demotions += 1;
        }
    }

    /// Demotes the page's block, unless all of it is among `pages`. As theirs, it asks the page's own record first.
    fn demote_unless_whole(&mut self, table: &mut impl Table, page: usize, pages: &Range<usize>) {
        if COMPILED_IN && self.record(page).size == Size::Large {
            self.demote_part(table, page, pages);
        }
    }

    /// Not inlined, so that pages of no large block pay for the look alone.
    #[inline(never)]
    fn demote_part(&mut self, table: &mut impl Table, page: usize, pages: &Range<usize>) {
        if !Self::is_whole(page, pages) {
            self.demote(table, page / PAGES);
        }
    }

    /// Looks at the records of a block up to the first that does not agree with the first one.
    fn promote(&mut self, table: &mut impl Table, number: usize) {
        let first = self.records[number][0];
        if first.size == Size::Large {
            return;
        }
        if self.is_first() {
            self.replace(table, number, Size::Large);
            self.counts.promotions += 1;
            return;
        }
        let failures = &mut self.counts.failures;
        for (index, record) in self.records[number].iter().enumerate() {
            let expected = first.mapping.map(|mapping| mapping.plus(index));
            let reason = match record.mapping.zip(expected) {
                Some((mapping, expected)) if record.has_entry => {
                    if mapping.real() != expected.real() {
                        Some(&mut failures.misplaced)
                    } else if mapping != expected {
                        Some(&mut failures.unlike)
                    } else if record.place.is_secondary != first.place.is_secondary {
                        Some(&mut failures.other_side)
                    } else {
                        None
                    }
                }
                _ => Some(&mut failures.missing),
            };
            self.counts.scanned += 1;
            if let Some(reason) = reason {
                *reason += 1;
                return;
            }
        }
        if !first.mapping.is_some_and(Mapping::begins_block) {
            failures.misplaced += 1;
            return;
        }
        self.replace(table, number, Size::Large);
        self.was_referenced[number] = true;
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

impl<const BLOCKS: usize, const COMPILED_IN: bool> Manager for Faithful<BLOCKS, COMPILED_IN> {
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
        if COMPILED_IN && self.promotion != Promotion::Never {
            self.enter_and_promote(table, page, mapping, is_full)
        } else {
            self.enter_page(table, page, mapping)
        }
    }

    fn enter_block(&mut self, table: &mut impl Table, number: usize, first: Mapping) -> bool {
        if !COMPILED_IN
            || self.promotion == Promotion::Never
            || number >= BLOCKS
            || !first.begins_block()
        {
            return false;
        }
        let pages = number * PAGES..(number + 1) * PAGES;
        if self.first_mapped(pages.clone()).is_some() {
            return false;
        }
        self.mapped[number] = Bitmap::full();
        let marks = Marks { referenced: true, changed: first.is_writable() };
        for (index, page) in pages.enumerate() {
            let mapping = Some(first.plus(index));
            *self.record(page) = Record { mapping, size: Size::Large, marks, ..Record::EMPTY };
            // A page without an entry gets it when it is missed.
            let _ = self.insert(table, page);
        }
        self.was_referenced[number] = true;
        self.counts.whole += 1;
        true
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
        let mut next = pages.start;
        while let Some(page) = self.first_mapped(next..pages.end) {
            next = page + 1;
            let Some(before) = self.mapping(page) else { continue };
            self.demote_unless_whole(table, page, &pages);
            self.unset(table, page);
            let record = self.record(page);
            let mapping = before.with_attributes(attributes);
            let is_large = record.size == Size::Large;
            record.mapping = Some(mapping);
            // A store to it may be noted in another entry of the large page.
            record.marks.changed |= is_large && mapping.is_writable();
            match self.insert(table, page) {
                // All of a large block changes, and a page without an entry gets it when it is missed.
                Err(_) if is_large => (),
                done => done?,
            }
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
        let mut next = pages.start;
        while let Some(page) = self.first_mapped(next..pages.end) {
            next = page + 1;
            let Some(mapping) = self.mapping(page) else { continue };
            self.demote_unless_whole(table, page, &pages);
            self.unset(table, page);
            let marks = self.record(page).marks;
            *self.record(page) = Record::EMPTY;
            self.mapped[page / PAGES].take(page % PAGES);
            removed(page, mapping, marks);
        }
    }

    fn age(&mut self, table: &mut impl Table, page: usize) -> bool {
        let Some(mapping) = self.mapping(page) else { return false };
        if mapping.is_wired() {
            return true;
        }
        let (number, index) = (page / PAGES, page % PAGES);
        if self.record(page).size == Size::Small {
            return self.clear_referenced(table, page);
        }
        if index == 0 {
            let pages = number * PAGES..(number + 1) * PAGES;
            let clear = |found, page| self.clear_referenced(table, page) || found;
            self.was_referenced[number] = pages.fold(false, clear);
        }
        self.was_referenced[number]
    }

    fn marks(&mut self, table: &mut impl Table, page: usize) -> Option<Marks> {
        self.mapping(page)?;
        let block = page / PAGES * PAGES;
        let pages = if self.is_large(page) { block..block + PAGES } else { page..page + 1 };
        let mut marks = self.record(page).marks;
        for page in pages {
            if marks.referenced && marks.changed {
                break;
            }
            let record = self.record(page);
            if record.has_entry {
                let entry = Entry { page, size: record.size, place: record.place };
                let found = table.marks(entry);
                marks.referenced |= found.referenced;
                marks.changed |= found.changed;
            }
        }
        Some(marks)
    }

    fn clear_changed(&mut self, table: &mut impl Table, page: usize) -> bool {
        if !self.marks(table, page).is_some_and(|marks| marks.changed) {
            return false;
        }
        self.demote(table, page / PAGES);
        let record = self.record(page);
        record.marks.changed = false;
        if record.has_entry {
            table.clear_changed(Entry { page, size: record.size, place: record.place });
        }
        true
    }

    fn set_wired(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        is_wired: bool,
    ) -> Result<(), Refusal> {
        let pages = Self::clip(pages);
        let mut next = pages.start;
        while let Some(page) = self.first_mapped(next..pages.end) {
            next = page + 1;
            let Some(before) = self.mapping(page) else { continue };
            self.demote_unless_whole(table, page, &pages);
            let record = self.record(page);
            record.mapping = Some(before.wired(is_wired));
            if is_wired && !record.has_entry {
                self.insert(table, page)?;
            }
        }
        Ok(())
    }

    fn evict(&mut self, table: &mut impl Table, page: usize) -> bool {
        let may_go = self.mapping(page).is_some_and(|mapping| !mapping.is_wired());
        if !may_go || self.record(page).size == Size::Large || !self.record(page).has_entry {
            return false;
        }
        self.unset(table, page);
        true
    }

    fn showing(&self, real: u64, from: usize) -> Option<usize> {
        let mut next = from;
        while let Some(page) = self.first_mapped(next..BLOCKS * PAGES) {
            next = page + 1;
            if self.mapping(page).is_some_and(|mapping| mapping.real() == real) {
                return Some(page);
            }
        }
        None
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
