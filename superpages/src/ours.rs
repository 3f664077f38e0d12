//! A record for each block: what its pages agree on, which of them have an entry, and where.

use core::ops::Range;

use crate::bitmap::Bitmap;
use crate::entries::{Entries, Places};
use crate::{Counts, Entry, Manager, Mapping, Marks, PAGE_LOG2, PAGES, Refusal, Size, Table};

/// What is known of a block, in 3.2 KiB.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// What the first page would show if each page shows what follows it. An odd page shows something else.
    common: Mapping,
    mapped: Bitmap,
    /// Pages with an entry, all of one size.
    entered: Bitmap,
    places: Places,
    size: Size,
    /// Some page of it could be stored into since the block had none.
    was_writable: bool,
    mapped_count: u32,
    /// Mapped pages that are not odd.
    agreeing: u32,
    /// Which of [`Ours::odd`] has what odd pages show.
    odd: Option<usize>,
    /// Pages that became odd since `common` was chosen.
    turned: u32,
    /// Times that the block could be promoted and has to wait nevertheless.
    patience: u32,
    /// Times that it was demoted.
    demotions: u32,
    /// Some page of it was accessed when the large block was aged last.
    was_referenced: bool,
}

/// What each page of a block shows, if that does not follow from the block: its own, or nothing for one that agrees.
#[derive(Clone, Copy, Debug)]
struct Odd {
    is_used: bool,
    pages: [Option<Mapping>; PAGES],
}

impl Odd {
    const FREE: Self = Self { is_used: false, pages: [None; PAGES] };
}

impl Block {
    const EMPTY: Self = Self {
        common: Mapping(0),
        mapped: Bitmap::empty(),
        entered: Bitmap::empty(),
        places: Places::new(),
        size: Size::Small,
        was_writable: false,
        mapped_count: 0,
        agreeing: 0,
        odd: None,
        turned: 0,
        patience: 0,
        demotions: 0,
        was_referenced: true,
    };

    /// R and C of a page of a large block, and of one without an entry.
    const fn assumed(&self) -> Marks {
        Marks { referenced: true, changed: self.was_writable }
    }

    /// Times that it has to wait from now on.
    const fn wait(&self) -> u32 {
        const MOST_LOG2: u32 = 31;
        let log2 = if self.demotions < MOST_LOG2 { self.demotions } else { MOST_LOG2 };
        (1 << log2) - 1
    }
}

/// An address space of `BLOCKS` blocks, of which `ODD` may have pages that are unlike the others at a time.
///
/// A counter for each block says how many of its pages agree, so that nothing is scanned when a page is entered. A
/// block that was demoted k times is promoted the 2^k-th time that it could be, at a change of it or when a page of it
/// is missed. A demotion leaves at most 4096 pages to be missed, so that whoever changes one page n times to and fro
/// pays for at most 12 + log2(n) promotions.
///
/// Promotion and demotion take all entries of the block out, and enter none: entries of the other size come one by
/// one, when they are missed. Without `COMPILED_IN` no block is ever large, and no code asks whether it is.
#[derive(Clone, Copy, Debug)]
pub struct Ours<const BLOCKS: usize, const ODD: usize, const COMPILED_IN: bool = true> {
    blocks: [Block; BLOCKS],
    odd: [Odd; ODD],
    promotes: bool,
    counts: Counts,
}

impl<const BLOCKS: usize, const ODD: usize, const COMPILED_IN: bool>
    Ours<BLOCKS, ODD, COMPILED_IN>
{
    /// An empty address space, whose blocks become large only if `promotes`.
    #[must_use]
    pub const fn new(promotes: bool) -> Self {
        Self {
            blocks: [const { Block::EMPTY }; BLOCKS],
            odd: [const { Odd::FREE }; ODD],
            promotes,
            counts: Counts::NONE,
        }
    }

    /// From now on blocks become large, or not.
    pub const fn set_promotes(&mut self, promotes: bool) {
        self.promotes = promotes;
    }

    /// The size of a block's pages.
    const fn size(&self, number: usize) -> Size {
        if COMPILED_IN { self.blocks[number].size } else { Size::Small }
    }

    fn odd_mapping(&self, number: usize, index: usize) -> Option<Mapping> {
        self.blocks[number].odd.and_then(|odd| self.odd[odd].pages[index])
    }

    fn shown(&self, number: usize, index: usize) -> Option<Mapping> {
        let block = &self.blocks[number];
        let common = || block.common.plus(index);
        let shows = || self.odd_mapping(number, index).unwrap_or_else(common);
        block.mapped.contains(index).then(shows)
    }

    /// Takes the entries of these pages out, and tells `removed` of each what it was marked with.
    fn take_entries(
        &mut self,
        table: &mut impl Table,
        number: usize,
        pages: Range<usize>,
        mut removed: impl FnMut(usize, Marks),
    ) {
        let size = self.size(number);
        let Block { entered, places, .. } = &mut self.blocks[number];
        if entered.first_in(pages.clone()).is_none() {
            return;
        }
        let Range { start: from, end: to } = pages;
        let entries = Entries { base: number * PAGES, size, entered, from, to, places };
        table.remove(entries, |entry, marks| removed(entry.page % PAGES, marks));
        entered.take_all_in(pages);
    }

    /// Enters a page of a block, which has this size.
    fn put(
        &mut self,
        table: &mut impl Table,
        page: usize,
        size: Size,
        mapping: Mapping,
        marks: Marks,
    ) -> Result<(), Refusal> {
        let doubleword = mapping.doubleword(size, marks);
        let place = table.enter(page, size, doubleword).ok_or(Refusal::TableFull)?;
        let block = &mut self.blocks[page / PAGES];
        block.entered.add(page % PAGES);
        block.places.set(page % PAGES, place);
        Ok(())
    }

    /// Enters a page, unless it has an entry: with these marks if it is small.
    fn put_if_missing(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
        marks: Marks,
    ) -> Result<(), Refusal> {
        let (number, index) = (page / PAGES, page % PAGES);
        let block = &self.blocks[number];
        match (block.entered.contains(index), self.size(number)) {
            (true, _) => Ok(()),
            (false, Size::Small) => self.put(table, page, Size::Small, mapping, marks),
            (false, Size::Large) => self.put(table, page, Size::Large, mapping, block.assumed()),
        }
    }

    /// Enters the first page of a block, or its last one, large if that can be. Not inlined, as little is entered so.
    #[inline(never)]
    fn enter_first_or_last(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
    ) -> Result<(), Refusal> {
        let (number, index) = (page / PAGES, page % PAGES);
        if !self.has_room(number, index, mapping) {
            return Err(Refusal::NoRecord);
        }
        self.record(number, index, mapping);
        self.promote(table, number);
        self.put_if_missing(table, page, mapping, Marks::default())
    }

    /// Enters a page that is mapped already. Not inlined, as little is entered so.
    #[inline(never)]
    fn enter_again(
        &mut self,
        table: &mut impl Table,
        page: usize,
        before: Mapping,
        mapping: Mapping,
    ) -> Result<(), Refusal> {
        if before.real() != mapping.real() {
            return Err(Refusal::Mapped);
        }
        let number = page / PAGES;
        let mut marks = self.blocks[number].assumed();
        if before != mapping {
            marks = self.change(table, page, mapping)?.unwrap_or(marks);
        }
        self.promote(table, number);
        self.put_if_missing(table, page, mapping, marks)
    }

    /// Makes the block small. Its pages have no entries then, and count as [`Block::assumed`].
    fn demote(&mut self, table: &mut impl Table, number: usize) {
        if self.size(number) == Size::Small {
            return;
        }
        self.resize(table, number, Size::Small);
        let block = &mut self.blocks[number];
        block.demotions = block.demotions.saturating_add(1);
        block.patience = block.wait();
        self.counts.demotions += 1;
    }

    /// Gives a block whose pages all agree another size. They have no entries then, but for those that are wired.
    fn resize(&mut self, table: &mut impl Table, number: usize, size: Size) {
        let had = self.wired_entries(number);
        self.take_entries(table, number, 0..PAGES, |_, _| {});
        self.blocks[number].size = size;
        // A page that had none gets its entry when it is missed.
        let _ = self.enter_wired(table, number, had);
    }

    /// Which pages of a block whose pages all agree have an entry, if they are wired.
    fn wired_entries(&self, number: usize) -> Option<Bitmap> {
        let block = &self.blocks[number];
        block.common.is_wired().then_some(block.entered)
    }

    /// Gives the pages of such a block their entries: first those that had one, for which there is room, as pages of
    /// one group are searched in one other alone.
    fn enter_wired(
        &mut self,
        table: &mut impl Table,
        number: usize,
        had: Option<Bitmap>,
    ) -> Result<(), Refusal> {
        let Some(had) = had else { return Ok(()) };
        let block = &self.blocks[number];
        let (common, marks) = (block.common, block.assumed());
        let mut entered = Ok(());
        for is_turn_of_had in [true, false] {
            for index in 0..PAGES {
                let has_entry = self.blocks[number].entered.contains(index);
                if !has_entry && had.contains(index) == is_turn_of_had {
                    let page = number * PAGES + index;
                    let size = self.size(number);
                    entered = entered.and(self.put(table, page, size, common.plus(index), marks));
                }
            }
        }
        entered
    }

    /// Makes the block large if it can be, and has waited long enough.
    fn promote(&mut self, table: &mut impl Table, number: usize) {
        if !COMPILED_IN || !self.promotes {
            return;
        }
        let block = &mut self.blocks[number];
        let is_whole = block.agreeing as usize == PAGES && block.common.begins_block();
        if !is_whole || block.size == Size::Large {
            return;
        }
        if block.patience > 0 {
            block.patience -= 1;
            self.counts.failures.waiting += 1;
            return;
        }
        self.resize(table, number, Size::Large);
        self.blocks[number].was_referenced = true;
        self.counts.promotions += 1;
    }

    /// Whether it can be recorded that the page shows this.
    fn has_room(&self, number: usize, index: usize, mapping: Mapping) -> bool {
        let block = &self.blocks[number];
        block.mapped_count == 0
            || (block.mapped_count == 1 && block.mapped.contains(index))
            || self.has_room_beside_others(number, index, mapping)
    }

    /// The same of a block in which other pages are mapped.
    fn has_room_beside_others(&self, number: usize, index: usize, mapping: Mapping) -> bool {
        let block = &self.blocks[number];
        block.odd.is_some()
            || mapping == block.common.plus(index)
            || self.odd.iter().any(|odd| !odd.is_used)
    }

    fn forget(&mut self, number: usize, index: usize) {
        let is_odd = self.odd_mapping(number, index).is_some();
        let block = &mut self.blocks[number];
        if !block.mapped.take(index) {
            return;
        }
        block.mapped_count -= 1;
        if is_odd {
            let odd = block.odd.expect("an odd page has a record");
            self.odd[odd].pages[index] = None;
        } else {
            block.agreeing -= 1;
        }
        self.free_odd(number);
    }

    /// Gives the record of odd pages back if there is none.
    fn free_odd(&mut self, number: usize) {
        let block = &mut self.blocks[number];
        if block.agreeing == block.mapped_count
            && let Some(odd) = block.odd.take()
        {
            self.odd[odd].is_used = false;
        }
    }

    /// Records what a page of a small block shows that has no entry and no record; there is room.
    fn record(&mut self, number: usize, index: usize, mapping: Mapping) {
        let block = &mut self.blocks[number];
        if block.mapped_count == 0 {
            (block.common, block.turned) = (mapping.minus(index), 0);
        }
        block.was_writable |= mapping.is_writable();
        block.mapped.add(index);
        block.mapped_count += 1;
        if block.common.plus(index) == mapping {
            block.agreeing += 1;
            return;
        }
        let free = || self.odd.iter().position(|odd| !odd.is_used).expect("there is room");
        let odd = block.odd.unwrap_or_else(free);
        block.odd = Some(odd);
        self.odd[odd].is_used = true;
        self.odd[odd].pages[index] = Some(mapping);
        block.turned = block.turned.saturating_add(1);
        // Nobody agrees any more. A look at all pages is paid for by as many changes.
        if block.agreeing == 0 && block.turned >= block.mapped_count {
            (block.common, block.turned) = (mapping.minus(index), 0);
            let mut next = 0;
            while let Some(index) = block.mapped.first_in(next..PAGES) {
                next = index + 1;
                let shown = &mut self.odd[odd].pages[index];
                if *shown == Some(block.common.plus(index)) {
                    *shown = None;
                    block.agreeing += 1;
                }
            }
            self.counts.scanned += u64::from(block.mapped_count);
            self.free_odd(number);
        }
    }

    /// Makes a mapped page show the same memory with other attributes, or a page show what none did: R and C of its
    /// entry.
    fn change(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
    ) -> Result<Option<Marks>, Refusal> {
        let (number, index) = (page / PAGES, page % PAGES);
        if !self.has_room(number, index, mapping) {
            return Err(Refusal::NoRecord);
        }
        self.demote(table, number);
        let mut marks = None;
        self.take_entries(table, number, index..index + 1, |_, found| marks = Some(found));
        self.forget(number, index);
        self.record(number, index, mapping);
        Ok(marks)
    }

    /// Where the entry of a page is, if it has one.
    fn entry(&self, page: usize) -> Option<Entry> {
        let (block, index) = (&self.blocks[page / PAGES], page % PAGES);
        let size = self.size(page / PAGES);
        let entry = || Entry { page, size, place: block.places.get(index) };
        block.entered.contains(index).then(entry)
    }

    fn parts(pages: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let end = pages.end.min(BLOCKS * PAGES);
        let blocks = pages.start / PAGES..end.div_ceil(PAGES);
        blocks.map(move |number| {
            let base = number * PAGES;
            let start = pages.start.max(base) - base;
            (number, start..(end - base).min(PAGES))
        })
    }
}

impl<const BLOCKS: usize, const ODD: usize, const COMPILED_IN: bool> Manager
    for Ours<BLOCKS, ODD, COMPILED_IN>
{
    fn enter(
        &mut self,
        table: &mut impl Table,
        page: usize,
        mapping: Mapping,
        _: bool,
    ) -> Result<(), Refusal> {
        if page >= self.pages() {
            return Err(Refusal::OutOfSpace);
        }
        let (number, index) = (page / PAGES, page % PAGES);
        let Some(before) = self.shown(number, index) else {
            let count = self.blocks[number].mapped_count;
            // One comparison, so that who never makes a block large does not pay for a look whether this is its last
            // page.
            let others = if COMPILED_IN { 1..PAGES as u32 - 1 } else { 1..PAGES as u32 };
            if !others.contains(&count) {
                return self.enter_first_or_last(table, page, mapping);
            }
            if !self.has_room_beside_others(number, index, mapping) {
                return Err(Refusal::NoRecord);
            }
            self.record(number, index, mapping);
            // The block is small, as it is not full.
            return self.put(table, page, Size::Small, mapping, Marks::default());
        };
        self.enter_again(table, page, before, mapping)
    }

    fn enter_block(&mut self, table: &mut impl Table, number: usize, first: Mapping) -> bool {
        let Some(block) = self.blocks.get_mut(number) else { return false };
        if !COMPILED_IN
            || !self.promotes
            || block.mapped_count > 0
            || block.patience > 0
            || !first.begins_block()
        {
            return false;
        }
        (block.common, block.turned) = (first, 0);
        (block.size, block.was_writable) = (Size::Large, first.is_writable());
        block.was_referenced = true;
        block.mapped = Bitmap::full();
        (block.mapped_count, block.agreeing) = (PAGES as u32, PAGES as u32);
        let none = self.wired_entries(number);
        if self.enter_wired(table, number, none).is_err() {
            self.remove(table, number * PAGES..(number + 1) * PAGES, |_, _, _| {});
            return false;
        }
        self.counts.whole += 1;
        true
    }

    fn fault(&mut self, table: &mut impl Table, page: usize) -> Result<bool, Refusal> {
        let Some(mapping) = self.mapping(page) else { return Ok(false) };
        self.enter(table, page, mapping, false).map(|()| true)
    }

    fn protect(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        attributes: u64,
    ) -> Result<(), Refusal> {
        for (number, part) in Self::parts(pages) {
            let common = self.blocks[number].common;
            let changed = common.with_attributes(attributes);
            if part == (0..PAGES) && self.size(number) == Size::Large {
                if changed != common {
                    let had = self.wired_entries(number);
                    self.take_entries(table, number, 0..PAGES, |_, _| {});
                    self.blocks[number].common = changed;
                    self.blocks[number].was_writable |= changed.is_writable();
                    let _ = self.enter_wired(table, number, had);
                }
                continue;
            }
            let mut next = part.start;
            while let Some(index) = self.blocks[number].mapped.first_in(next..part.end) {
                next = index + 1;
                let before = self.shown(number, index).expect("the page is mapped");
                let mapping = before.with_attributes(attributes);
                if mapping == before {
                    continue;
                }
                let page = number * PAGES + index;
                let marks = self.change(table, page, mapping)?;
                self.promote(table, number);
                if let Some(marks) = marks
                    && self.size(number) == Size::Small
                {
                    self.put(table, page, Size::Small, mapping, marks)?;
                }
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
        for (number, part) in Self::parts(pages) {
            if self.blocks[number].mapped.first_in(part.clone()).is_none() {
                continue;
            }
            // Entries of a large block say nothing of R and C.
            let was_large = self.size(number) == Size::Large;
            if was_large && part != (0..PAGES) {
                self.demote(table, number);
            }
            let mut with_entry = Bitmap::empty();
            let (mut referenced, mut changed) = (Bitmap::empty(), Bitmap::empty());
            self.take_entries(table, number, part.clone(), |index, marks| {
                with_entry.add(index);
                if marks.referenced {
                    referenced.add(index);
                }
                if marks.changed {
                    changed.add(index);
                }
            });
            let mut next = part.start;
            while let Some(index) = self.blocks[number].mapped.first_in(next..part.end) {
                next = index + 1;
                let mapping = self.shown(number, index).expect("the page is mapped");
                let marks = if was_large || !with_entry.contains(index) {
                    self.blocks[number].assumed()
                } else {
                    Marks {
                        referenced: referenced.contains(index),
                        changed: changed.contains(index),
                    }
                };
                self.forget(number, index);
                removed(number * PAGES + index, mapping, marks);
            }
            if self.blocks[number].mapped_count == 0 {
                let block = &mut self.blocks[number];
                (block.size, block.was_writable) = (Size::Small, false);
            }
        }
    }

    fn age(&mut self, table: &mut impl Table, page: usize) -> bool {
        let Some(mapping) = self.mapping(page) else { return false };
        if mapping.is_wired() {
            return true;
        }
        let (number, index) = (page / PAGES, page % PAGES);
        if self.size(number) == Size::Small {
            return self.entry(page).is_some_and(|entry| table.clear_referenced(entry));
        }
        // The entries go, and the first access to the block brings one back.
        if index == 0 {
            let mut was_referenced = false;
            self.take_entries(table, number, 0..PAGES, |_, _| was_referenced = true);
            self.blocks[number].was_referenced = was_referenced;
        }
        self.blocks[number].was_referenced
    }

    fn marks(&mut self, table: &mut impl Table, page: usize) -> Option<Marks> {
        self.mapping(page)?;
        let block = &self.blocks[page / PAGES];
        let entry = self.entry(page).filter(|entry| entry.size == Size::Small);
        Some(entry.map_or_else(|| block.assumed(), |entry| table.marks(entry)))
    }

    fn clear_changed(&mut self, table: &mut impl Table, page: usize) -> bool {
        let Some(mapping) = self.mapping(page) else { return false };
        let number = page / PAGES;
        let (was_large, assumed) = (self.is_large(page), self.blocks[number].assumed());
        self.demote(table, number);
        let Some(entry) = self.entry(page) else {
            if assumed.changed {
                let marks = Marks { changed: false, ..assumed };
                let _ = self.put(table, page, Size::Small, mapping, marks);
            }
            return assumed.changed;
        };
        let was_changed = table.clear_changed(entry);
        if was_large { assumed.changed } else { was_changed }
    }

    fn set_wired(
        &mut self,
        table: &mut impl Table,
        pages: Range<usize>,
        is_wired: bool,
    ) -> Result<(), Refusal> {
        for (number, part) in Self::parts(pages) {
            if part == (0..PAGES) && self.size(number) == Size::Large {
                let common = &mut self.blocks[number].common;
                *common = common.wired(is_wired);
                let had = self.wired_entries(number);
                self.enter_wired(table, number, had)?;
                continue;
            }
            let mut next = part.start;
            while let Some(index) = self.blocks[number].mapped.first_in(next..part.end) {
                next = index + 1;
                let before = self.shown(number, index).expect("the page is mapped");
                let mapping = before.wired(is_wired);
                if mapping != before {
                    if !self.has_room(number, index, mapping) {
                        return Err(Refusal::NoRecord);
                    }
                    self.demote(table, number);
                    // What the entry says stays true.
                    self.forget(number, index);
                    self.record(number, index, mapping);
                    self.promote(table, number);
                }
                let block = &self.blocks[number];
                if is_wired && !block.entered.contains(index) {
                    let (page, assumed) = (number * PAGES + index, block.assumed());
                    self.put(table, page, self.size(number), mapping, assumed)?;
                }
            }
        }
        Ok(())
    }

    fn evict(&mut self, table: &mut impl Table, page: usize) -> bool {
        let may_go = self.mapping(page).is_some_and(|mapping| !mapping.is_wired());
        if !may_go || self.entry(page).is_none() {
            return false;
        }
        let index = page % PAGES;
        self.take_entries(table, page / PAGES, index..index + 1, |_, _| {});
        true
    }

    fn showing(&self, real: u64, from: usize) -> Option<usize> {
        (from / PAGES..BLOCKS).find_map(|number| {
            let first = from.saturating_sub(number * PAGES);
            let shows = |mapping: Mapping| mapping.real() == real;
            // Pages that agree are found by their distance from the first one, and the others one by one.
            let common = self.blocks[number].common;
            let distance = Mapping::new(real, 0).0.wrapping_sub(common.real());
            let agreeing = (Mapping(distance).real() >> PAGE_LOG2) as usize;
            let agrees = |index: &usize| self.shown(number, *index).is_some_and(shows);
            let agreeing = Some(agreeing).filter(|index| (first..PAGES).contains(index));
            let odd = self.blocks[number].odd.and_then(|odd| {
                let pages = &self.odd[odd].pages[first..];
                Some(first + pages.iter().position(|page| page.is_some_and(shows))?)
            });
            let found = [agreeing.filter(agrees), odd];
            found.into_iter().flatten().min().map(|index| number * PAGES + index)
        })
    }

    fn mapping(&self, page: usize) -> Option<Mapping> {
        (page < self.pages()).then(|| self.shown(page / PAGES, page % PAGES)).flatten()
    }

    fn is_large(&self, page: usize) -> bool {
        page < self.pages() && self.size(page / PAGES) == Size::Large
    }

    fn pages(&self) -> usize {
        BLOCKS * PAGES
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
