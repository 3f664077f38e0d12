//! Superpages of a kernel whose translations are in a hashed page table: 16 MiB in a segment of 4 KiB pages.
//!
//! An address space is cut into blocks of 16 MiB, 4096 pages each. A kernel enters pages one by one. Once all pages
//! of a block are there and show one aligned block of memory with the same attributes, the manager promotes the
//! block: entries of 4 KiB go, and entries of 16 MiB come. Each page still has an entry of its own, as the base page
//! size of the segment says which group an address is searched in; the processor then keeps one translation for all.
//!
//! The page table is a cache of what the manager knows: a page may be mapped without an entry, and gets it when it is
//! missed ([`Manager::fault`]).
//!
//! No address is ever translated by two sizes: whoever changes the size of a block first removes all of its entries,
//! and [`Table::remove`] returns when no processor has a translation by them. In between an access misses, and its
//! handler waits, as a manager belongs to one caller at a time. Source: `docs/facts/hashed-translation.md`.
//!
//! R and C: the processor sets them in the entry that it loaded, and another entry of a large page says nothing. So
//! all pages of a promoted block count as referenced, and as changed if a page of the block could ever be stored
//! into; demotion leaves that so until a page has an entry of its own again, which begins with both. A page without
//! an entry counts so too, but where somebody looks for pages that nobody needs ([`Manager::age`]).

#![no_std]

#[cfg(test)]
extern crate std;

mod bitmap;
mod entries;
mod faithful;
mod ours;
pub mod reservation;

pub use entries::Entries;
pub use faithful::{Faithful, Promotion};
pub use ours::Ours;

use core::ops::Range;

use arch::hash::{EntryForm, LARGE_PAGES, PageSize, second};

/// log2 of the bytes of a page.
pub const PAGE_LOG2: u32 = 12;
/// log2 of the bytes of a block.
pub const BLOCK_LOG2: u32 = 24;
/// Pages of a block.
pub const PAGES: usize = 1 << (BLOCK_LOG2 - PAGE_LOG2);

/// What an entry with L=1 has below its page's address: 16 MiB in a segment of 4 KiB.
const LARGE_CODE: u64 = code_of(LARGE_PAGES[1]) << PAGE_LOG2;

const fn code_of(size: PageSize) -> u64 {
    assert!(size.base_log2 == PAGE_LOG2 && size.actual_log2 == BLOCK_LOG2);
    size.code
}

/// The size of the page that an entry shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// 4 KiB.
    Small,
    /// 16 MiB.
    Large,
}

/// What a page shows and allows: the second doubleword of its entry in ISA 2.07's form, without R, C and the code of
/// a size; and whether it is wired, which an entry does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Mapping(u64);

const MARKS: u64 = second::R | second::C;
/// The page is wired: where an entry has R.
const WIRED: u64 = second::R;

impl Mapping {
    /// The page at the real address `real`, whose low 12 bits do not count, with the `attributes` of a second
    /// doubleword: pp, N, the key, W, I, M and G.
    #[must_use]
    pub const fn new(real: u64, attributes: u64) -> Self {
        let page = real & EntryForm::V2.address;
        Self(page | attributes & !EntryForm::V2.address & !MARKS)
    }

    /// The page's real address.
    #[must_use]
    pub const fn real(self) -> u64 {
        self.0 & EntryForm::V2.address
    }

    /// All that an entry says but the page's address.
    #[must_use]
    pub const fn attributes(self) -> u64 {
        self.0 & !EntryForm::V2.address & !WIRED
    }

    /// The same page with other attributes.
    const fn with_attributes(self, attributes: u64) -> Self {
        Self(Self::new(self.real(), attributes).0 | self.0 & WIRED)
    }

    /// The same, wired or not. A wired page that has an entry keeps it, but while its block changes its size or rights:
    /// an access does not miss. Whoever enters or wires it learns by [`Refusal::TableFull`] that it has none.
    #[must_use]
    pub const fn wired(self, is_wired: bool) -> Self {
        Self(self.0 & !WIRED | if is_wired { WIRED } else { 0 })
    }

    /// Whether the page is wired.
    #[must_use]
    pub const fn is_wired(self) -> bool {
        self.0 & WIRED != 0
    }

    /// Whether anybody may store: not if pp says that all read, or fewer.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        const READ: u64 = 3;
        self.0 & second::PP0 == 0 && second::PP.get(self.0) != READ
    }

    /// What a page so many pages behind this one shows, if both belong to one contiguous piece.
    const fn plus(self, pages: usize) -> Self {
        Self(self.0.wrapping_add((pages as u64) << PAGE_LOG2))
    }

    const fn minus(self, pages: usize) -> Self {
        Self(self.0.wrapping_sub((pages as u64) << PAGE_LOG2))
    }

    /// Whether the first page of a block may show this, if the block is to be large.
    const fn begins_block(self) -> bool {
        self.real() & ((1 << BLOCK_LOG2) - 1) == 0
    }

    /// The second doubleword of an entry of this size for it.
    const fn doubleword(self, size: Size, marks: Marks) -> u64 {
        let shown = self.0 & !WIRED;
        let shown = match size {
            Size::Small => shown,
            Size::Large => {
                let below = ((1 << BLOCK_LOG2) - 1) & EntryForm::V2.address;
                shown & !below | LARGE_CODE
            }
        };
        let referenced = if marks.referenced { second::R } else { 0 };
        shown | referenced | if marks.changed { second::C } else { 0 }
    }
}

/// R and C of a page.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Marks {
    /// The page was accessed.
    pub referenced: bool,
    /// The page was stored into.
    pub changed: bool,
}

/// Where in its groups an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// In the group of the secondary hash.
    pub is_secondary: bool,
    /// Its slot there, 0 to 7.
    pub slot: u8,
}

/// An entry of the page table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The page that it was entered for, by its number in the address space.
    pub page: usize,
    /// What it shows.
    pub size: Size,
    /// Where it is.
    pub place: Place,
}

/// A hashed page table, for one address space.
pub trait Table {
    /// Puts an entry for `page` into a free slot of either group: where it is, or `None` if both groups are full.
    /// `doubleword` is its second one in ISA 2.07's form.
    fn enter(&mut self, page: usize, size: Size, doubleword: u64) -> Option<Place>;

    /// Takes entries out, as many at a time as the table can, and returns when no processor has a translation by any
    /// of them. `removed` is told the last R and C of each; both for one that was not there any more.
    fn remove(&mut self, entries: Entries<'_>, removed: impl FnMut(Entry, Marks));

    /// Takes one entry out by itself, as [`Table::remove`] does.
    fn remove_alone(&mut self, entry: Entry) -> Marks;

    /// Clears R of an entry, and returns when the next access by it sets R again: whether it was set. Of an entry that
    /// was not there any more it was.
    fn clear_referenced(&mut self, entry: Entry) -> bool;

    /// Clears C of an entry, and returns when the next store by it sets C again: whether it was set. Of an entry that
    /// was not there any more it was.
    fn clear_changed(&mut self, entry: Entry) -> bool;

    /// R and C of an entry; both of one that was not there any more.
    fn marks(&mut self, entry: Entry) -> Marks;
}

/// Why an operation did not do all that was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The page does not belong to the address space. Nothing has changed.
    OutOfSpace,
    /// The page shows other memory, and has to be removed first. Nothing has changed.
    Mapped,
    /// There is no room for a record of a page that is unlike the others of its block. Nothing has changed.
    NoRecord,
    /// Both groups of the page are full. It is mapped without an entry, and the next fault tries again, behind
    /// [`Manager::evict`] of another page.
    TableFull,
}

/// Times that a full block was looked at and stayed as it was, by why.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Failures {
    /// A page was not mapped, or had no entry.
    pub missing: u64,
    /// A page showed memory that is not at its place.
    pub misplaced: u64,
    /// A page had other attributes than the first one.
    pub unlike: u64,
    /// A page was in the group of the other hash than the first one.
    pub other_side: u64,
    /// The block was demoted, and has to wait.
    pub waiting: u64,
}

impl Failures {
    /// For any reason.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.missing + self.misplaced + self.unlike + self.other_side + self.waiting
    }
}

/// What a manager has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Blocks that became large.
    pub promotions: u64,
    /// Blocks that were entered whole, large at once.
    pub whole: u64,
    /// Blocks that were large, and have pages of 4 KiB again.
    pub demotions: u64,
    /// Attempts that came to nothing.
    pub failures: Failures,
    /// Records of pages that were read to find out whether a block can be promoted.
    pub scanned: u64,
}

impl Counts {
    /// Nothing.
    pub const NONE: Self = Self {
        promotions: 0,
        whole: 0,
        demotions: 0,
        failures: Failures { missing: 0, misplaced: 0, unlike: 0, other_side: 0, waiting: 0 },
        scanned: 0,
    };
}

/// The mappings of an address space, with one table.
pub trait Manager {
    /// Maps a page, or gives one that shows the same memory other attributes, and enters it. `is_full` says whether
    /// all pages of the [reservation](reservation::Reservations) that it is from are in use.
    ///
    /// # Errors
    /// [`Refusal`].
    fn enter(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
        is_full: bool,
    ) -> Result<(), Refusal>;

    /// Maps all pages of a block, of which none is mapped, to the aligned block of memory whose first page is `first`,
    /// large at once: whether it did. Nothing has changed if not. Ours does not if they are wired and one has no room.
    fn enter_block(&mut self, table: &mut impl Table, number: usize, first: Mapping) -> bool;

    /// What to do when an access to a page found no entry: whether the page is mapped, and has one now.
    ///
    /// # Errors
    /// [`Refusal::TableFull`].
    fn fault(&mut self, table: &mut impl Table, page: usize) -> Result<bool, Refusal>;

    /// Gives mapped pages of `pages` other attributes; the others stay as they are. R and C of a small page are kept.
    /// A large block that lies in `pages` stays large, and one of which a part does is demoted.
    ///
    /// # Errors
    /// [`Refusal`]; pages in front of the one that met it have changed.
    fn protect(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        attributes: u64,
    ) -> Result<(), Refusal>;

    /// Takes mapped pages of `pages` out, and tells `removed` of each what it was, with its last R and C. A large
    /// block of which a part is taken out is demoted first.
    fn remove(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        removed: impl FnMut(usize, Mapping, Marks),
    );

    /// Whether a mapped page was accessed since this was asked of it last, as far as anybody knows: for who looks for
    /// pages that nobody needs, and asks of all pages in turn. R of a large block is one for all of its pages; what is
    /// found for the first one is said of the others. A page that has lost its entry since was not accessed, and one
    /// that is wired always was.
    fn age(&mut self, table: &mut impl Table, page: usize) -> bool;

    /// R and C of a mapped page, as far as anybody knows. With [`Manager::is_large`] it is what `mincore` tells.
    fn marks(&mut self, table: &mut impl Table, page: usize) -> Option<Marks>;

    /// Forgets that a mapped page was stored into, for who has written it somewhere else: whether it was, as far as
    /// anybody knows. A large block is demoted for that. Where the page has no entry and there is no room for one, it
    /// goes on to count as changed.
    fn clear_changed(&mut self, table: &mut impl Table, page: usize) -> bool;

    /// Wires the mapped pages of `pages`, or lets them be as others again. A large block that lies in `pages` stays
    /// large, and one of which a part does is demoted.
    ///
    /// # Errors
    /// [`Refusal`]; pages in front of the one that met it have changed.
    fn set_wired(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        is_wired: bool,
    ) -> Result<(), Refusal>;

    /// Takes the entry of a mapped page out, for who needs its place in the table: whether it did. The page gets one
    /// again when it is missed, of the size that its block has then. A wired page keeps it.
    fn evict(&mut self, table: &mut impl Table, page: usize) -> bool;

    /// The first page from `from` on that shows the frame at the real address `real`.
    fn showing(&self, real: u64, from: usize) -> Option<usize>;

    /// Takes a frame out wherever it is shown, and tells `removed` as [`Manager::remove`] does.
    fn remove_frame(
        &mut self,
        table: &mut impl Table,
        real: u64,
        mut removed: impl FnMut(usize, Mapping, Marks),
    ) {
        let mut from = 0;
        while let Some(page) = self.showing(real, from) {
            self.remove(table, page..page + 1, &mut removed);
            from = page + 1;
        }
    }

    /// Takes all pages out.
    fn exit(&mut self, table: &mut impl Table, removed: impl FnMut(usize, Mapping, Marks)) {
        self.remove(table, 0..self.pages(), removed);
    }

    /// What a page shows.
    fn mapping(&self, page: usize) -> Option<Mapping>;

    /// Whether a page belongs to a large block.
    fn is_large(&self, page: usize) -> bool;

    /// How many pages the address space has.
    fn pages(&self) -> usize;

    /// What the manager has done.
    fn counts(&self) -> Counts;
}

#[cfg(test)]
mod tests;
