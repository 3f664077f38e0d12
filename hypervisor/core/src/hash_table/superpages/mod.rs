//! Superpages for a partition that knows nothing of them: one translation of 16 MiB where it has entered a page for
//! each place of an aligned block, and all show one aligned block of its memory with the same rights.
//!
//! The processor searches a large page under the hash of each of its base pages. So every entry stays in its slot, and
//! its size alone changes; the partition reads what it wrote. Whatever changes one of them first gives all pages of
//! the block their own size back.
//!
//! No address is ever translated by two sizes: all entries of a block are invalid, and no translation by them is left,
//! before the first has its new size. In between an access would miss. So blocks change only in calls of a partition
//! that has started one vCPU: nobody else is in it. When a second one starts, all pages get their own size back.
//!
//! R and C: the processor sets them in the entry that it loaded, and another entry of a large page says nothing. So
//! all pages of a block that is made large count as referenced from then on, and as changed if they may be stored into.
//! Source: `docs/facts/hashed-translation.md`.

use alloc::vec::Vec;
use core::ops::Range;

use arch::hash::{EntryForm, GROUP_ENTRIES, LARGE_PAGES, PageSize, first, hash, second};

use super::{
    Condition, HashTable, LOCK, MADE_LARGE, MARKS, OWN, Taken, WITHOUT_L, entry, form, protected,
};
use crate::hal::{HalError, Tables};
use crate::sync::Word;

/// log2 of the bytes of a block.
const BLOCK_LOG2: u32 = 24;
/// An offset in a block.
const IN_BLOCK: u64 = (1 << BLOCK_LOG2) - 1;
/// Pages of 4 KiB of a block.
const BLOCK_UNITS: u64 = 1 << (BLOCK_LOG2 - entry::SMALL_LOG2);
/// Virtual blocks that show one block of memory and may be large.
const PLACES: usize = 4;
/// A block is made large again at once until it has lapsed so often; each further time doubles how often that has to be
/// possible.
const FREE_LAPSES: u64 = 2;
/// log2 of how often it has to be possible at most.
const PATIENCE_LOG2_MAX: u64 = 20;
/// Instead of an awaited page: the block is large.
const IS_LARGE: u64 = u64::MAX;
/// Instead of a slot: there is none.
const NO_SLOT: u64 = u64::MAX;

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Blocks that were made large.
    pub promotions: u64,
    /// Blocks whose pages got their own size back.
    pub demotions: u64,
    /// Times that a block had looked whole, and had a page in the way.
    pub failures: u64,
    /// Times that a block was whole and waited, because it had lapsed before.
    pub waits: u64,
}

/// What is known of where a partition shows its memory.
#[derive(Debug)]
pub(super) struct Superpages {
    blocks: Vec<Block>,
    /// Not 0: more than one vCPU was started.
    is_over: Word,
    promotions: Word,
    demotions: Word,
    failures: Word,
    waits: Word,
    /// While a block changes its size: the slots of its pages.
    slots: Vec<Word>,
}

/// An aligned block of memory.
#[derive(Debug)]
struct Block {
    /// How many 4 KiB of it entries of base pages show; what is shown twice counts twice. With fewer than a block has
    /// no place shows all of it.
    shown: Word,
    places: [Place; PLACES],
}

/// A virtual block that shows it.
#[derive(Debug)]
struct Place {
    /// Its [`Shape::name`]; 0 if there is none.
    name: Word,
    /// The second doubleword that the entry of its first page has to have, without R and C; those of the others differ
    /// in the address alone.
    wanted: Word,
    /// The first page that was not there, or unlike that. [`IS_LARGE`] if the block is large.
    awaited: Word,
    /// Not 0: all others were there and alike.
    is_known: Word,
    /// How often it was demoted, or had looked whole and was not.
    lapses: Word,
    /// How often it has to wait yet.
    waits: Word,
}

/// A virtual block, as the entries of its pages have it.
#[derive(Clone, Copy)]
struct Shape {
    /// The abbreviated virtual address of its first half.
    abbreviated: u64,
    /// 0 for 256 MiB, 1 for 1 TiB.
    segment_size: u64,
    /// log2 of the bytes of its pages, which are base pages.
    page_log2: u32,
}

/// The bit of an abbreviated address that tells the halves of a block apart.
const SECOND_HALF: u64 = 1 << first::AVA_SHIFT;
const _: () = assert!(first::AVA_OMITS_LOG2 + 1 == BLOCK_LOG2);
/// Bits of a name that no abbreviated address has.
const NAME_LOW: u64 = 0x7F;
const _: () = assert!(EntryForm::V2.abbreviated & NAME_LOW == 0);

impl Shape {
    const fn of(form: EntryForm, words: [u64; 2], page_log2: u32) -> Self {
        let abbreviated = words[0] & form.abbreviated & !SECOND_HALF;
        Self { abbreviated, segment_size: form.segment_size_of(words), page_log2 }
    }

    /// What no other one has; not 0.
    const fn name(self) -> u64 {
        self.abbreviated | (self.page_log2 as u64) << 1 | self.segment_size
    }

    const fn named(name: u64) -> Self {
        let page_log2 = (name & NAME_LOW) as u32 >> 1;
        Self { abbreviated: name & !NAME_LOW, segment_size: name & 1, page_log2 }
    }

    const fn pages(self) -> u64 {
        1 << (BLOCK_LOG2 - self.page_log2)
    }

    /// L of an entry of its pages' own size.
    const fn own_l(self) -> u64 {
        if self.page_log2 == entry::SMALL_LOG2 { 0 } else { first::L }
    }

    /// The primary hash of its first page. Those of the others differ in the number of the page.
    const fn hash(self) -> u64 {
        let segment_log2 = if self.segment_size == 0 { 28 } else { 40 };
        let high = self.abbreviated >> first::AVA_SHIFT;
        let vsid = high >> (segment_log2 - first::AVA_OMITS_LOG2);
        let offset = high << first::AVA_OMITS_LOG2 & ((1 << segment_log2) - 1);
        hash(vsid, segment_log2, self.page_log2, offset)
    }

    /// The page size of the whole.
    fn large(self) -> PageSize {
        let is_it =
            |size: &&PageSize| size.base_log2 == self.page_log2 && size.actual_log2 == BLOCK_LOG2;
        *LARGE_PAGES.iter().find(is_it).expect("pages of 4 or 64 KiB")
    }
}

/// Where the entry of a base page is shown: the virtual block, which page of it, and what it has for the first page.
struct Shown {
    shape: Shape,
    page: u64,
    wanted: u64,
}

impl Shown {
    /// For the entry in `slot`, which the partition wrote so: if all of its addresses are at one place of a block.
    fn new(form: EntryForm, slot: u64, words: [u64; 2], kept: u64) -> Option<Self> {
        let page_log2 = own_log2(words)?;
        let offset = entry::page_of(form, words, slot).address & IN_BLOCK;
        let offset_of = |word: u64, address| (word & address & IN_BLOCK) >> page_log2 << page_log2;
        if offset_of(kept, EntryForm::V2.address) != offset
            || offset_of(words[1], form.address) != offset
        {
            return None;
        }
        let (shape, page) = (Shape::of(form, words, page_log2), offset >> page_log2);
        Some(Self { shape, page, wanted: (words[1] & !MARKS) - offset })
    }
}

/// log2 of the bytes of an entry's page, if that is a base page, and smaller than a block.
fn own_log2(words: [u64; 2]) -> Option<u32> {
    let size = entry::size(words)?;
    (size.base_log2 == size.actual_log2 && size.base_log2 < BLOCK_LOG2).then_some(size.base_log2)
}

/// A search for entries of a virtual block's pages.
#[derive(Clone, Copy)]
struct Search {
    hash: u64,
    page_log2: u32,
    /// The first doubleword of the first page's entry with the primary hash, where the mask is set.
    wanted: u64,
    mask: u64,
}

impl Search {
    /// For valid entries with this L.
    const fn new(form: EntryForm, shape: Shape, l: u64) -> Self {
        let Shape { abbreviated, segment_size, page_log2 } = shape;
        let [wanted, _] = form.with_segment_size([abbreviated | l | first::V, 0], segment_size);
        let [sizes, _] = form.with_segment_size([0, 0], form.segment_size.get(u64::MAX));
        let flags = first::V | first::H | first::L | OWN | LOCK;
        Self { hash: shape.hash(), page_log2, wanted, mask: form.abbreviated | sizes | flags }
    }

    /// Both hashes of a page, each with what its entry has.
    const fn sides(self, page: u64) -> [(u64, u64); 2] {
        let (hash, offset) = (self.hash ^ page, page << self.page_log2);
        let wanted = self.wanted | offset >> first::AVA_OMITS_LOG2 << first::AVA_SHIFT;
        [(hash, wanted), (!hash, wanted | first::H)]
    }
}

impl Superpages {
    /// For so many bytes of memory that the partition shows nowhere.
    pub(super) fn new(memory_bytes: u64) -> Result<Self, HalError> {
        let count = (memory_bytes >> BLOCK_LOG2) as usize;
        let (mut blocks, mut slots) = (Vec::new(), Vec::new());
        blocks.try_reserve_exact(count).map_err(|_| HalError::OutOfTables)?;
        blocks.extend((0..count).map(|_| Block::new()));
        slots.try_reserve_exact(BLOCK_UNITS as usize).map_err(|_| HalError::OutOfTables)?;
        slots.extend((0..BLOCK_UNITS).map(|_| Word::zero()));
        let [is_over, promotions, demotions, failures, waits] =
            core::array::from_fn(|_| Word::zero());
        Ok(Self { blocks, is_over, promotions, demotions, failures, waits, slots })
    }

    /// The table is empty, and one vCPU starts.
    pub(super) fn reset(&self) {
        for block in &self.blocks {
            block.shown.set(0);
            block.places.iter().for_each(Place::forget);
        }
        self.is_over.set(0);
    }

    /// The block of a page that the partition wrote so.
    #[inline(always)]
    fn block(&self, kept: u64) -> Option<&Block> {
        self.blocks.get(((kept & EntryForm::V2.address) >> BLOCK_LOG2) as usize)
    }

    /// An entry with these words, the second of which the partition wrote, comes or goes: its block.
    #[inline(always)]
    fn count(&self, words: [u64; 2], times: i64) -> Option<&Block> {
        let block = self.block(words[1])?;
        let units = if words[0] & first::L == 0 { 1 } else { units_of_large(words) };
        block.shown.set(block.shown.get().saturating_add_signed(times * units));
        Some(block)
    }
}

/// How many 4 KiB an entry with L=1 shows, if its page is a base page.
#[inline(never)]
fn units_of_large(words: [u64; 2]) -> i64 {
    own_log2(words).map_or(0, |log2| 1 << (log2 - entry::SMALL_LOG2))
}

impl Block {
    fn new() -> Self {
        Self { shown: Word::zero(), places: core::array::from_fn(|_| Place::new()) }
    }

    fn place(&self, name: u64) -> Option<&Place> {
        self.places.iter().find(|place| place.name.get() == name)
    }
}

impl Place {
    fn new() -> Self {
        let [name, wanted, awaited, is_known, lapses, waits] =
            core::array::from_fn(|_| Word::zero());
        Self { name, wanted, awaited, is_known, lapses, waits }
    }

    /// There is none.
    fn forget(&self) {
        let Self { name, wanted, awaited, is_known, lapses, waits } = self;
        for word in [name, wanted, awaited, is_known, lapses, waits] {
            word.set(0);
        }
    }

    fn is_large(&self) -> bool {
        self.awaited.get() == IS_LARGE
    }

    fn awaits(&self, page: u64, is_known: bool) {
        self.awaited.set(page);
        self.is_known.set(u64::from(is_known));
    }

    /// It was demoted, or had looked whole and was not.
    fn lapse(&self) {
        let lapses = self.lapses.get() + 1;
        self.lapses.set(lapses);
        let patience = lapses.saturating_sub(FREE_LAPSES).min(PATIENCE_LOG2_MAX);
        self.waits.set((1 << patience) - 1);
    }
}

fn add_one(count: &Word) {
    count.set(count.get() + 1);
}

impl HashTable {
    /// What was done to give the partition superpages, if it has them.
    #[must_use]
    pub fn superpages(&self) -> Option<Counts> {
        let Superpages { promotions, demotions, failures, waits, .. } = self.superpages.as_ref()?;
        Some(Counts {
            promotions: promotions.get(),
            demotions: demotions.get(),
            failures: failures.get(),
            waits: waits.get(),
        })
    }

    /// More than one vCPU runs from now on, and none is in the partition: all pages get their own size back, and keep
    /// it.
    pub fn has_several<H: Tables>(&self, hal: &H) {
        let Some(superpages) = &self.superpages else { return };
        superpages.is_over.set(1);
        let places = superpages.blocks.iter().flat_map(|block| &block.places);
        for place in places.filter(|place| place.is_large()) {
            self.demote(hal, superpages, Shape::named(place.name.get()));
            place.forget();
        }
    }

    /// An entry came into `slot`, for which the partition wrote these words.
    #[inline(never)]
    pub fn has_come<H: Tables>(&self, hal: &H, slot: u64, words: [u64; 2]) {
        if let Some(superpages) = &self.superpages
            && let Some(block) = superpages.count(words, 1)
            && block.shown.get() >= BLOCK_UNITS
        {
            self.look(hal, superpages, block, slot);
        }
    }

    /// The entries in these slots go, each on its condition: their pages get their own size back.
    #[inline(never)]
    pub fn before_removals<H: Tables, const COUNT: usize>(
        &self,
        hal: &H,
        requests: [Option<(u64, Condition)>; COUNT],
    ) {
        let Some(superpages) = &self.superpages else { return };
        for (index, request) in requests.iter().enumerate() {
            let Some((slot, condition)) = *request else { continue };
            let Some((_, kept)) = self.meant::<H>(slot, condition) else { continue };
            // An entry goes once.
            let mut earlier = requests[..index].iter().flatten();
            let is_same = |(other, condition): &(u64, Condition)| {
                *other == slot && self.meant::<H>(slot, *condition).is_some()
            };
            if earlier.any(is_same) {
                continue;
            }
            if kept & MADE_LARGE != 0 {
                self.give_back(hal, slot);
            }
            // The hypervisor's own were not counted when they came.
            if let Some((entry, kept)) = self.at(slot)
                && entry.first() & OWN == 0
            {
                superpages.count([entry.first(), kept.get()], -1);
            }
        }
    }

    /// Both words of the entry in `slot`, the second as it was kept, if the condition holds for it. Nobody else is in
    /// the partition, and nobody has an entry.
    fn meant<H: Tables>(&self, slot: u64, condition: Condition) -> Option<(u64, u64)> {
        let (entry, kept) = self.at(slot)?;
        let first = entry.first();
        let seen = Taken { slot, entry, kept, first };
        let is_meant = first & first::V != 0 && condition.holds::<H>(&seen);
        is_meant.then(|| (first, kept.get()))
    }

    /// The entry in `slot` gets these rights, if the condition holds for it, or its R or C is cleared, if there are
    /// none: its page gets its own size back. Whether there is nothing to do, as nothing changes in a large page.
    #[inline(never)]
    pub fn before_change<H: Tables>(
        &self,
        hal: &H,
        slot: u64,
        condition: Condition,
        rights: Option<u64>,
    ) -> bool {
        let meant = self.meant::<H>(slot, condition);
        let Some((_, kept)) = meant.filter(|(_, kept)| kept & MADE_LARGE != 0) else {
            return false;
        };
        if rights.is_some_and(|rights| protected(kept, rights) == kept) {
            return true;
        }
        self.give_back(hal, slot);
        false
    }

    /// The entry in `slot` has other rights.
    #[inline(never)]
    pub fn has_changed<H: Tables>(&self, hal: &H, slot: u64) {
        if let Some(superpages) = &self.superpages
            && let Some((_, kept)) = self.at(slot)
            && let Some(block) = superpages.block(kept.get())
            && block.shown.get() >= BLOCK_UNITS
        {
            self.look(hal, superpages, block, slot);
        }
    }

    /// Whether the partition may have superpages, and all changes of its entries are to be told.
    #[inline(always)]
    #[must_use]
    pub fn may_have_superpages(&self) -> bool {
        self.superpages.as_ref().is_some_and(|superpages| superpages.is_over.get() == 0)
    }

    /// A page of the block came, or allows something else: if it is the awaited one of its place, or that one came
    /// unnoticed, looks at those behind that, and makes them one if all are there and alike.
    #[inline(never)]
    fn look<H: Tables>(&self, hal: &H, superpages: &Superpages, block: &Block, slot: u64) {
        let Some((entry, kept)) = self.at(slot) else { return };
        let words = [entry.first(), entry.second()];
        if words[0] & OWN != 0 {
            return;
        }
        let Some(shown) = Shown::new(form::<H>(), slot, words, kept.get()) else { return };
        let place = self.place_of::<H>(block, &shown).filter(|place| !place.is_large());
        let Some(place) = place else { return };
        let Shown { shape, page, wanted } = shown;
        let search = Search::new(form::<H>(), shape, shape.own_l());
        let is_alike = |page: u64| self.alike(search, page, place.wanted.get()) != NO_SLOT;
        let awaited = place.awaited.get();
        // A new place awaits its first page, which may be there already.
        let mut next = if awaited == 0 { 0 } else { awaited + 1 };
        if place.wanted.get() != wanted {
            // All follow two that agree, the awaited one and another; one alone may come back.
            if page == awaited || self.alike(search, awaited, wanted) == NO_SLOT {
                return;
            }
            place.wanted.set(wanted);
            place.awaits(0, false);
            next = 0;
        } else if page != awaited && !is_alike(awaited) {
            return;
        }
        let find = |page: u64| {
            let slot = self.alike(search, page, place.wanted.get());
            (slot != NO_SLOT).then_some(slot)
        };
        let mut are_noted = false;
        if place.is_known.get() == 0 {
            if let Some(unlike) = superpages.note(next..shape.pages(), find) {
                return place.awaits(unlike, false);
            }
            place.awaits(page, true);
            are_noted = next == 0;
        }
        if place.waits.get() != 0 {
            place.waits.set(place.waits.get() - 1);
            return add_one(&superpages.waits);
        }
        // All may have changed since they were looked at.
        if !are_noted && let Some(unlike) = superpages.note(0..shape.pages(), find) {
            place.lapse();
            place.awaits(unlike, false);
            return add_one(&superpages.failures);
        }
        self.promote(hal, superpages, shape);
        block.shown.set(block.shown.get().saturating_sub(BLOCK_UNITS));
        place.awaits(IS_LARGE, false);
        add_one(&superpages.promotions);
    }

    /// The place where a page is shown; if it has none yet, a new one, or that of a block whose first page is gone.
    fn place_of<'a, H: Tables>(&self, block: &'a Block, shown: &Shown) -> Option<&'a Place> {
        let name = shown.shape.name();
        if let Some(place) = block.place(name) {
            return Some(place);
        }
        let is_gone = |place: &&Place| {
            let shape = Shape::named(place.name.get());
            let search = Search::new(form::<H>(), shape, shape.own_l());
            let mut is_there = false;
            self.search(search, 0, |_| {
                is_there = true;
                true
            });
            !is_there && !place.is_large()
        };
        let place = block.place(0).or_else(|| block.places.iter().find(is_gone))?;
        place.forget();
        place.name.set(name);
        place.wanted.set(shown.wanted);
        Some(place)
    }

    /// Calls `found` for each entry of a page that is searched for, until it says that this was it.
    #[inline(always)]
    fn search(&self, search: Search, page: u64, mut found: impl FnMut(u64) -> bool) {
        let groups = self.entries.len() / GROUP_ENTRIES - 1;
        for (hash, wanted) in search.sides(page) {
            let start = (hash as usize & groups) * GROUP_ENTRIES;
            let entries = self.entries.get(start..start + GROUP_ENTRIES).unwrap_or_default();
            for (slot, entry) in (start as u64..).zip(entries) {
                if entry.first() & search.mask == wanted && found(slot) {
                    return;
                }
            }
        }
    }

    /// The slot of a page that has one entry, with this second doubleword but for the address, R and C; [`NO_SLOT`] if
    /// it has none, or several, which is the partition's mistake.
    fn alike(&self, search: Search, page: u64, wanted: u64) -> u64 {
        let wanted = wanted + (page << search.page_log2);
        let mut alike = NO_SLOT;
        let mut count = 0;
        self.search(search, page, |slot| {
            count += 1;
            let is_it = self.at(slot).is_some_and(|(entry, _)| entry.second() & !MARKS == wanted);
            alike = if is_it && count == 1 { slot } else { NO_SLOT };
            count > 1
        });
        alike
    }

    /// Makes a block large whose slots are noted.
    fn promote<H: Tables>(&self, hal: &H, superpages: &Superpages, shape: Shape) {
        let code = shape.large().code << entry::SMALL_LOG2;
        let below = IN_BLOCK & form::<H>().address;
        self.resize(hal, superpages, shape, |[first, second], kept| {
            let without_l = if first & first::L == 0 { WITHOUT_L } else { 0 };
            kept.set(kept.get() | MADE_LARGE | without_l);
            let changed = if entry::is_writable(second) { second::C } else { 0 };
            [first | first::L, second & !below | code | second::R | changed]
        });
    }

    /// Gives the pages of a large block their own size back.
    fn demote<H: Tables>(&self, hal: &H, superpages: &Superpages, shape: Shape) {
        let search = Search::new(form::<H>(), shape, first::L);
        let find = |page: u64| {
            let mut large = NO_SLOT;
            self.search(search, page, |slot| {
                let is_it = self.at(slot).is_some_and(|(entry, kept)| {
                    let words = [entry.first(), entry.second()];
                    let segment_size = form::<H>().segment_size_of(words);
                    kept.get() & MADE_LARGE != 0 && segment_size == shape.segment_size
                });
                large = if is_it { slot } else { NO_SLOT };
                is_it
            });
            Some(large)
        };
        superpages.note(0..shape.pages(), find);
        let below = IN_BLOCK & EntryForm::V2.address;
        self.resize(hal, superpages, shape, |[first, second], kept| {
            kept.set(kept.get() & !(MADE_LARGE | WITHOUT_L));
            [first & !first::L | shape.own_l(), second & !below | kept.get() & below]
        });
        add_one(&superpages.demotions);
    }

    /// The block with the entry in `slot`, which is large, gets its pages back.
    #[cold]
    fn give_back<H: Tables>(&self, hal: &H, slot: u64) {
        let (Some(superpages), Some((entry, kept))) = (&self.superpages, self.at(slot)) else {
            return;
        };
        let words = [entry.first(), entry.second()];
        let size = entry::size(words).expect("only checked entries are there");
        let shape = Shape::of(form::<H>(), words, size.base_log2);
        self.demote(hal, superpages, shape);
        let Some(block) = superpages.block(kept.get()) else { return };
        block.shown.set(block.shown.get() + BLOCK_UNITS);
        if let Some(place) = block.place(shape.name()) {
            place.lapse();
            place.awaits((kept.get() & IN_BLOCK) >> shape.page_log2, true);
        }
    }

    /// Changes the size of the pages whose slots are noted: all are invalid, and forgotten, before the first has its
    /// new one. To name a large page to the processor takes an invalidation for each of its base pages: it forgets all
    /// of the partition instead.
    fn resize<H: Tables>(
        &self,
        hal: &H,
        superpages: &Superpages,
        shape: Shape,
        change: impl Fn([u64; 2], &Word) -> [u64; 2],
    ) {
        let slots = &superpages.slots[..shape.pages() as usize];
        let entries = || slots.iter().filter_map(|slot| self.at(slot.get()));
        for (entry, _) in entries() {
            entry.give(entry.first() & !first::V | LOCK);
        }
        hal.forget_hashed(self.lpid);
        for (entry, kept) in entries() {
            let [first, second] = change([entry.first(), entry.second()], kept);
            entry.set_second(second);
            entry.give(first & !LOCK | first::V);
        }
        hal.publish_entries();
    }
}

impl Superpages {
    /// Notes the slots of these pages of a block that `find` finds: the first page for which it says that there is
    /// none.
    fn note(&self, pages: Range<u64>, find: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let slots = &self.slots[pages.start as usize..pages.end as usize];
        pages.zip(slots).find_map(|(page, place)| match find(page) {
            Some(slot) => {
                place.set(slot);
                None
            }
            None => Some(page),
        })
    }
}

#[cfg(test)]
mod tests;
