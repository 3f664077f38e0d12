//! Superpages for a partition that knows nothing of them: one translation of 16 MiB where it has entered a page for
//! each place of an aligned block, and all show one aligned block of its memory with the same rights.
//!
//! The processor searches a large page under the hash of each of its base pages. So every entry stays in its slot, and
//! its size alone changes; the partition reads what it wrote. Whatever changes one of them first gives all pages of
//! the block their own size back.
//!
//! From time to time a vCPU that is about to enter looks at some entries ([`HashTable::look`]): one that was there at a
//! look before is old, and its block is made large if all of it is there and alike. Calls of the table pay nothing for
//! that, pages that live for a moment stay as they are, and what the looks and the changes take is a bounded part of
//! the time.
//!
//! No address is ever translated by two sizes: all entries of a block are invalid, and no translation by them is left,
//! before the first has its new size. In between an access would miss. So blocks change while no vCPU is in the
//! partition ([`HashTable::change_sizes`]).
//!
//! R and C: the processor sets them in the entry that it loaded, and another entry of a large page says nothing. So
//! all pages of a block that is made large count as referenced from then on, and as changed if they may be stored into.
//! Source: `docs/facts/hashed-translation.md`.

use alloc::vec::Vec;

use arch::hash::{EntryForm, GROUP_ENTRIES, LARGE_PAGES, PageSize, first, hash, second};

use super::{
    Condition, HashTable, LOCK, MADE_LARGE, MARKS, OLD, OWN, Taken, WITHOUT_L, entry, form, lock,
    protected,
};
use crate::hal::{HalError, Platform, Tables};
use crate::sync::{Word, spin_loop};

/// log2 of the bytes of a block.
const BLOCK_LOG2: u32 = 24;
/// An offset in a block.
const IN_BLOCK: u64 = (1 << BLOCK_LOG2) - 1;
/// Pages of 4 KiB of a block.
const BLOCK_UNITS: u64 = 1 << (BLOCK_LOG2 - entry::SMALL_LOG2);
/// Instead of a slot: there is none.
const NO_SLOT: u64 = u64::MAX;

/// Ticks of the time base between two looks, at least: 10 ms of 512 MHz.
const PERIOD: u64 = 5_120_000;
/// Looks and changes may take one of so many ticks.
const SHARE: u64 = 1024;
/// Ticks for which that may be ahead of the time: a partition that starts has 4 ms to itself.
const AHEAD: u64 = 4 * SHARE * 512_000;
/// Groups that a look reads, at most.
const STEPS: u64 = 16;
/// Pages that a look looks for before it begins with another block.
const PROBES: u64 = BLOCK_UNITS / 8;
/// One group of so many is read. The pages of 64 KiB of a block lie in so many groups, one in each, and those of 4 KiB
/// in more.
const STRIDE: u64 = 256;
/// How far apart pages are that are looked for one after the other, and groups that are read in another pair of sweeps;
/// odd, so that all have their turn.
const LEAP: u64 = 77;

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Blocks that were made large.
    pub promotions: u64,
    /// Blocks whose pages got their own size back.
    pub demotions: u64,
    /// Times that the block of an old page was not whole.
    pub failures: u64,
    /// Ticks of the time base that all of that took.
    pub ticks: u64,
}

/// What is known for a partition that is to have superpages. All but `large` and `divides` is read and written with the
/// partition locked.
#[derive(Debug)]
pub(super) struct Superpages {
    /// How many blocks are large.
    large: Word,
    /// The slot of a large page, and one more, whose block's pages are to have their own size back before a vCPU
    /// enters; 0 if there is none.
    divides: Word,
    /// The same of an old page whose block is whole, and is to be made large.
    joins: Word,
    /// How many groups were read.
    steps: Word,
    /// When the next look is due.
    due: Word,
    /// Until when looks and changes have had their share of the time.
    shared: Word,
    promotions: Word,
    demotions: Word,
    failures: Word,
    ticks: Word,
    /// While a block changes its size: the slots of its pages.
    slots: Vec<Word>,
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

impl Shape {
    const fn of(form: EntryForm, words: [u64; 2], page_log2: u32) -> Self {
        let abbreviated = words[0] & form.abbreviated & !SECOND_HALF;
        Self { abbreviated, segment_size: form.segment_size_of(words), page_log2 }
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

/// Where the entry of a base page is shown: the virtual block, and the second doubleword that the entry of its first
/// page has to have, without R and C; those of the others differ in the address alone.
#[derive(Clone, Copy)]
struct Shown {
    shape: Shape,
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
        let shape = Shape::of(form, words, page_log2);
        Some(Self { shape, wanted: (words[1] & !MARKS) - offset })
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
    /// For an empty table.
    pub(super) fn new() -> Result<Self, HalError> {
        let mut slots = Vec::new();
        slots.try_reserve_exact(BLOCK_UNITS as usize).map_err(|_| HalError::OutOfTables)?;
        slots.extend((0..BLOCK_UNITS).map(|_| Word::zero()));
        let [large, divides, joins, steps, due, shared, promotions, demotions, failures, ticks] =
            core::array::from_fn(|_| Word::zero());
        Ok(Self {
            large,
            divides,
            joins,
            steps,
            due,
            shared,
            promotions,
            demotions,
            failures,
            ticks,
            slots,
        })
    }

    /// The table is emptied.
    pub(super) fn reset(&self) {
        for word in [&self.large, &self.divides, &self.joins] {
            word.set(0);
        }
    }

    /// Whether a block is to change its size before a vCPU enters.
    fn awaits_change(&self) -> bool {
        self.divides.get() != 0 || self.joins.get() != 0
    }

    /// Looks or changes took from `begin` to `end`.
    fn took(&self, begin: u64, end: u64) {
        let taken = end.saturating_sub(begin);
        self.ticks.set(self.ticks.get() + taken);
        let shared = self.shared.get().max(begin).saturating_add(taken.saturating_mul(SHARE));
        self.shared.set(shared);
        self.due.set(end.saturating_add(PERIOD).max(shared.saturating_sub(AHEAD)));
    }
}

/// What an entry is without its block, of which this is kept.
pub(super) const fn of_own_size([first, second]: [u64; 2], kept: u64) -> [u64; 2] {
    if kept & MADE_LARGE == 0 {
        return [first, second];
    }
    let below = IN_BLOCK & EntryForm::V2.address;
    let l = if kept & WITHOUT_L != 0 { 0 } else { first::L };
    [first & !first::L | l, second & !below | kept & below]
}

fn add_one(count: &Word) {
    count.set(count.get() + 1);
}

/// A slot that was noted with one more, which is noted no more.
fn take_slot(word: &Word) -> Option<u64> {
    let slot = word.get().checked_sub(1)?;
    word.set(0);
    Some(slot)
}

impl HashTable {
    /// What was done to give the partition superpages, if it has them.
    #[must_use]
    pub fn superpages(&self) -> Option<Counts> {
        let Superpages { promotions, demotions, failures, ticks, .. } = self.superpages.as_ref()?;
        Some(Counts {
            promotions: promotions.get(),
            demotions: demotions.get(),
            failures: failures.get(),
            ticks: ticks.get(),
        })
    }

    /// No look is due before [`HashTable::wants_change`].
    #[cfg(loom)]
    pub(crate) fn look_when_told(&self) {
        self.superpages.as_ref().expect("superpages").due.set(u64::MAX);
    }

    /// A block is to be made large, which will not be whole.
    #[cfg(loom)]
    pub(crate) fn wants_change(&self) {
        self.superpages.as_ref().expect("superpages").joins.set(1);
    }

    /// When a vCPU that is about to enter has to call [`HashTable::look`] first, if the partition is to have
    /// superpages; at once if a block, or the table, is to change its size.
    #[must_use]
    pub fn next_look(&self) -> Option<u64> {
        if self.is_moving() {
            return Some(0);
        }
        let superpages = self.superpages.as_ref()?;
        Some(if superpages.awaits_change() { 0 } else { superpages.due.get() })
    }

    /// Whether there are large blocks, so that calls have to ask [`HashTable::divides`] first.
    #[inline(always)]
    #[must_use]
    pub fn has_large(&self) -> bool {
        self.superpages.as_ref().is_some_and(|superpages| superpages.large.get() != 0)
    }

    /// Whether the entry in `slot`, if there is one, is of a large block.
    #[inline(always)]
    pub fn is_large(&self, slot: u64) -> bool {
        self.at(slot).is_some_and(|(_, kept)| kept.get() & MADE_LARGE != 0)
    }

    /// Whether the entry in `slot` is of a large block and changes, as the condition holds for it: if so, its pages get
    /// their own size back before a vCPU enters, and the call is to be made again then. With `rights`, the flags of
    /// H_PROTECT, it changes only if it has others.
    ///
    /// Who asks is in the partition, so that no block changes its size meanwhile.
    #[cold]
    pub fn divides<H: Tables>(&self, slot: u64, condition: Condition, rights: Option<u64>) -> bool {
        let (Some(superpages), Some((entry, kept))) = (&self.superpages, self.at(slot)) else {
            return false;
        };
        let mut first = entry.first();
        // Who has the entry shows none meanwhile, and may put it back.
        while first & LOCK != 0 {
            spin_loop();
            first = entry.first();
        }
        let word = kept.get();
        let divides = first & first::V != 0
            && word & MADE_LARGE != 0
            && condition.holds::<H>(&Taken { slot, entry, kept, first })
            && rights.is_none_or(|rights| protected(word, rights) != word);
        if divides {
            superpages.divides.set(slot + 1);
        }
        divides
    }

    /// A vCPU is about to enter, with its partition locked. If nobody is in it, `is_alone`, changes what is to change;
    /// looks at some entries, if that is due `now`. Whether a block, or the table, is to change its size yet: nobody
    /// may enter before, and whoever is in the partition has to leave it.
    pub fn look<H: Tables + Platform>(&self, hal: &H, now: u64, is_alone: bool) -> bool {
        if self.is_moving() {
            if is_alone {
                self.move_entries(hal);
            }
            return self.is_moving();
        }
        let Some(superpages) = &self.superpages else { return false };
        if superpages.awaits_change() && !is_alone {
            return true;
        }
        let begin = hal.timebase();
        if superpages.awaits_change() {
            self.change_sizes(hal, superpages);
        } else if now >= superpages.due.get()
            && let Some((slot, shape)) = self.find_whole::<H>(superpages)
        {
            if is_alone {
                self.promote(hal, superpages, shape);
            } else {
                superpages.joins.set(slot + 1);
            }
        }
        superpages.took(begin, hal.timebase());
        superpages.awaits_change()
    }

    /// Nobody is in the partition: changes what was noted.
    fn change_sizes<H: Tables>(&self, hal: &H, superpages: &Superpages) {
        if let Some(slot) = take_slot(&superpages.divides) {
            self.give_back(hal, superpages, slot);
        }
        if let Some(slot) = take_slot(&superpages.joins) {
            // It may have changed since it was found.
            match self.shown::<H>(slot) {
                Some(shown) if self.note_whole::<H>(superpages, shown).1 => {
                    self.promote(hal, superpages, shown.shape);
                }
                _ => add_one(&superpages.failures),
            }
        }
    }

    /// Reads some groups, and finds a whole block: the slot of one of its pages. The slots of all are noted.
    fn find_whole<H: Tables>(&self, superpages: &Superpages) -> Option<(u64, Shape)> {
        let groups = self.slots() / GROUP_ENTRIES as u64;
        let windows = groups.div_ceil(STRIDE);
        let mut probes = 0;
        let begin = superpages.steps.get();
        for step in begin..begin + STEPS.min(windows) {
            superpages.steps.set(step + 1);
            // Each group is read in two sweeps, and in no look twice: what is there in both is old.
            let group = step % windows * STRIDE + step / windows / 2 * LEAP % STRIDE;
            let slots = group * GROUP_ENTRIES as u64..(group + 1) * GROUP_ENTRIES as u64;
            for slot in slots.take_while(|slot| *slot < self.slots()) {
                let Some(shown) = self.ages(slot).then(|| self.shown::<H>(slot)).flatten() else {
                    continue;
                };
                let (looked_for, is_whole) = self.note_whole::<H>(superpages, shown);
                if is_whole {
                    return Some((slot, shown.shape));
                }
                add_one(&superpages.failures);
                probes += looked_for;
            }
            if probes > PROBES {
                break;
            }
        }
        None
    }

    /// Whether the entry in `slot`, if there is one, is old; from now on it is.
    fn ages(&self, slot: u64) -> bool {
        let Some((entry, kept)) = self.at(slot) else { return false };
        let is_old = kept.get() & OLD != 0;
        if !is_old && entry.first() & first::V != 0 {
            let first = lock(entry, spin_loop);
            if first & first::V != 0 {
                kept.set(kept.get() | OLD);
            }
            entry.give(first);
        }
        is_old
    }

    /// Where the entry in `slot` is shown, if it is a base page's, of its own size, at one place of a block.
    fn shown<H: Tables>(&self, slot: u64) -> Option<Shown> {
        let (entry, kept) = self.at(slot)?;
        let (words, kept) = ([entry.first(), entry.second()], kept.get());
        let is_own = words[0] & (first::V | OWN | LOCK) == first::V && kept & MADE_LARGE == 0;
        is_own.then(|| Shown::new(form::<H>(), slot, words, kept)).flatten()
    }

    /// Looks for all pages of a block, and notes their slots, until one is not there or unlike the others: how many
    /// were looked for, and whether all are there.
    fn note_whole<H: Tables>(&self, superpages: &Superpages, shown: Shown) -> (u64, bool) {
        let Shown { shape, wanted } = shown;
        let search = Search::new(form::<H>(), shape, shape.own_l());
        for count in 0..shape.pages() {
            // Of a block that has some pages one is missed soon.
            let page = count * LEAP % shape.pages();
            let slot = self.alike(search, page, wanted);
            if slot == NO_SLOT {
                return (count + 1, false);
            }
            superpages.slots[page as usize].set(slot);
        }
        (shape.pages(), true)
    }

    /// Calls `found` for each entry of a page that is searched for, until it says that this was it.
    #[inline(always)]
    fn search(&self, search: Search, page: u64, mut found: impl FnMut(u64) -> bool) {
        let groups = self.slots() / GROUP_ENTRIES as u64 - 1;
        for (hash, wanted) in search.sides(page) {
            let start = (hash & groups) * GROUP_ENTRIES as u64;
            let place = (self.begin.get() + start) as usize;
            let entries = self.entries.get(place..place + GROUP_ENTRIES).unwrap_or_default();
            for (slot, entry) in (start..).zip(entries) {
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

    /// Makes a block large whose slots are noted. Nobody is in the partition.
    fn promote<H: Tables>(&self, hal: &H, superpages: &Superpages, shape: Shape) {
        let code = shape.large().code << entry::SMALL_LOG2;
        let below = IN_BLOCK & form::<H>().address;
        self.change_size(hal, superpages, shape, |[first, second], kept| {
            let without_l = if first & first::L == 0 { WITHOUT_L } else { 0 };
            kept.set(kept.get() | MADE_LARGE | without_l);
            let changed = if entry::is_writable(second) { second::C } else { 0 };
            [first | first::L, second & !below | code | second::R | changed]
        });
        add_one(&superpages.promotions);
        add_one(&superpages.large);
    }

    /// Gives the pages of a large block their own size back.
    fn demote<H: Tables>(&self, hal: &H, superpages: &Superpages, shape: Shape) {
        let search = Search::new(form::<H>(), shape, first::L);
        for (page, place) in (0..shape.pages()).zip(&superpages.slots) {
            place.set(NO_SLOT);
            self.search(search, page, |slot| {
                let is_it = self.at(slot).is_some_and(|(entry, kept)| {
                    let words = [entry.first(), entry.second()];
                    let segment_size = form::<H>().segment_size_of(words);
                    // A block of other base pages may have entries in the same groups, with the same address.
                    kept.get() & MADE_LARGE != 0
                        && segment_size == shape.segment_size
                        && entry::size(words) == Some(shape.large())
                });
                if is_it {
                    place.set(slot);
                }
                is_it
            });
        }
        self.change_size(hal, superpages, shape, |words, kept| {
            let own = of_own_size(words, kept.get());
            kept.set(kept.get() & !(MADE_LARGE | WITHOUT_L));
            own
        });
        add_one(&superpages.demotions);
        superpages.large.set(superpages.large.get().saturating_sub(1));
    }

    /// The block with the entry in `slot`, if it is large, gets its pages back. Nobody is in the partition.
    fn give_back<H: Tables>(&self, hal: &H, superpages: &Superpages, slot: u64) {
        let Some((entry, kept)) = self.at(slot) else { return };
        let words = [entry.first(), entry.second()];
        if words[0] & first::V == 0 || kept.get() & MADE_LARGE == 0 {
            return;
        }
        let size = entry::size(words).expect("only checked entries are there");
        self.demote(hal, superpages, Shape::of(form::<H>(), words, size.base_log2));
    }

    /// Changes the size of the pages whose slots are noted: all are invalid, and forgotten, before the first has its
    /// new one. To name a large page to the processor takes an invalidation for each of its base pages: it forgets all
    /// of the partition instead.
    fn change_size<H: Tables>(
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

#[cfg(all(test, not(loom)))]
mod tests;
