//! A partition's hashed page table: what the processor searches, and what the partition wrote.
//!
//! The hypervisor keeps the table in its own memory, and the partition changes it by hypercalls alone. An entry is
//! there only if all of its page is the partition's memory. What the partition wrote is kept beside the entry, so that
//! it never reads a real address. Each entry has its own lock, a bit of software's in its first doubleword, and
//! nothing locks the table; who has an entry waits for nothing but the processor.
//!
//! With relocation off a partition's addresses lie in the virtual real mode area, whose entries come when they are
//! missed ([`HashTable::add_real_mode`]). They are the hypervisor's to take out again, no other entry is.

mod entry;
mod size;
mod superpages;

pub use entry::Checked;
pub use size::Wish;
pub use superpages::Counts as Superpages;

use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::hash::{self, EntryForm, GROUP_ENTRIES, VirtualPage, first, second};
use arch::papr::hashed::{BLOCK, BLOCK_LOG2, BOLTED, KEY_HIGH, PP0, RIGHTS};

use crate::hal::{HalError, Tables};
use crate::sync::{Home, TableEntry, Word, spin_loop};

/// An entry is locked: who set this has it.
const LOCK: u64 = 0x40;
/// The hypervisor made the entry.
const OWN: u64 = 0x20;

/// In what is kept of an entry, in place of R, which is the entry's own: the page's block was made large.
const MADE_LARGE: u64 = second::R;
/// The same in place of C: and the partition wrote it without L.
const WITHOUT_L: u64 = second::C;
/// The same in a bit that no partition writes: the entry was there at a look for superpages.
const OLD: u64 = entry::RESERVED_SECOND;

/// What the processor sets in an entry.
const MARKS: u64 = second::R | second::C;

/// log2 of the bytes of the smallest table.
const LEAST_LOG2: u32 = 18;
/// A table has at least this part of the partition's memory, by PAPR's hint.
const MEMORY_PER_TABLE_LOG2: u32 = 7;

/// log2 of the bytes of the table of a partition with so much memory.
#[must_use]
pub const fn bytes_log2(memory_bytes: u64) -> u32 {
    let wanted = (memory_bytes >> MEMORY_PER_TABLE_LOG2).next_power_of_two().trailing_zeros();
    if wanted < LEAST_LOG2 { LEAST_LOG2 } else { wanted }
}

/// log2 of the bytes of a page of the virtual real mode area.
pub const REAL_MODE_LOG2: u32 = 12;

/// Where the fields of an entry lie, for the processor of this hal.
#[must_use]
pub const fn form<H: Tables>() -> EntryForm {
    const { H::PROCESSOR.facts().hashed_entry }
}

/// What a partition reads of an entry, in the form in which it writes one.
pub type Written = [u64; 2];

/// On which condition an entry is meant, by its first doubleword as the partition reads it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Condition {
    /// In these bits it is `address`.
    mask: u64,
    address: u64,
    /// It has none of these.
    none_of: u64,
    /// In this bit, which the partition does not read, the entry is `own`: whether the hypervisor made it.
    own_mask: u64,
    own: u64,
}

impl Condition {
    /// An entry whose first doubleword is `address` but for its seven low bits, and has none of the bits `none_of`.
    #[must_use]
    pub const fn new(address: Option<u64>, none_of: Option<u64>) -> Self {
        let (mask, address) = match address {
            Some(address) => (!0x7F, address),
            None => (0, 0),
        };
        let none_of = match none_of {
            Some(bits) => bits,
            None => 0,
        };
        Self { mask, address, none_of, own_mask: 0, own: 0 }
    }

    /// An entry that the hypervisor made, or a partition.
    const fn of_own(is_own: bool) -> Self {
        let condition = Self::new(None, None);
        Self { own_mask: OWN, own: if is_own { OWN } else { 0 }, ..condition }
    }

    #[inline(always)]
    fn holds<H: Tables>(self, taken: &Taken<'_>) -> bool {
        let [written, _] = taken.written::<H>();
        let differs =
            (written & self.mask) ^ self.address | (taken.first & self.own_mask) ^ self.own;
        differs | written & self.none_of == 0
    }
}

/// Why an entry stays that was to go with others of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// It is not there, or its condition does not hold, or it is bolted.
    Missing,
    /// No block of such pages goes at once.
    Wrong,
    /// Its page or its segment has another size than that of the first one.
    Unlike,
    /// Somebody else has it.
    Busy,
    /// It is in another block than the first one.
    Beyond,
}

/// log2 of the bytes of the largest base page of which a block goes at once: the abbreviated address of a block of
/// larger ones would not be that of each of its pages.
pub const BLOCK_BASE_LOG2_MAX: u32 = 16;

/// Slots that [`HashTable::remove_next`] goes through at a time. The hypervisor's longest work in one piece takes some
/// 18 us; these, all full, take 5 us by `tlbiel` and 15 by `tlbie`.
pub const REMOVED_NEXT: u64 = 64;

/// What a table can, beside what all can.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Large blocks form in it.
    pub has_superpages: bool,
    /// The partition can change its size.
    pub is_resizable: bool,
}

/// A table.
#[derive(Debug)]
pub struct HashTable {
    lpid: u32,
    /// All that there is room for.
    entries: &'static [TableEntry],
    /// For each: the second doubleword as the partition wrote it, without R and C.
    kept: Vec<Word>,
    /// Where in them the table in use begins. Both change while nobody is in the partition.
    begin: Word,
    /// How many slots it has.
    slots: Word,
    /// Counts entries of the hypervisor's own that made room.
    turn: Word,
    /// The slot that [`HashTable::remove_next`] goes on from.
    next: Word,
    /// Who may have translations by the entries.
    home: Home,
    /// What is known for superpages, if the partition is to have them.
    superpages: Option<superpages::Superpages>,
    /// How far a change of its size is, if it can change.
    size: Option<size::Size>,
}

/// An entry that is locked, valid, and as it was.
struct Taken<'a> {
    slot: u64,
    entry: &'a TableEntry,
    kept: &'a Word,
    first: u64,
}

/// Locks an entry: its first doubleword. While somebody else has it, `wait` is called before each new attempt.
fn lock(entry: &TableEntry, mut wait: impl FnMut()) -> u64 {
    loop {
        let before = entry.add(LOCK);
        if before & LOCK == 0 {
            return before;
        }
        wait();
    }
}

/// A second doubleword with other rights, the flags of H_PROTECT.
const fn protected(word: u64, rights: u64) -> u64 {
    const CHANGES: u64 = second::PP0 | second::KEY_HIGH.mask() | RIGHTS;
    const { assert!(second::KEY_LOW.mask() | second::N | second::PP.mask() == RIGHTS) };
    let bits = (rights & PP0) << 55 | (rights & KEY_HIGH) << 48 | rights & RIGHTS;
    word & !CHANGES | bits
}

impl HashTable {
    /// An empty table for the partition `lpid` with so much memory, known to the processor.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    pub fn new(
        hal: &impl Tables,
        lpid: u32,
        memory_bytes: u64,
        options: Options,
    ) -> Result<Self, HalError> {
        let Options { has_superpages, is_resizable } = options;
        let room_log2 = if is_resizable { size::room_log2 } else { bytes_log2 }(memory_bytes);
        let entries = hal.new_hash_table(lpid, room_log2)?;
        let mut kept = Vec::new();
        kept.try_reserve_exact(entries.len()).map_err(|_| HalError::OutOfTables)?;
        kept.extend(entries.iter().map(|_| Word::zero()));
        let superpages = has_superpages.then(superpages::Superpages::new).transpose()?;
        let usual = entries.len() >> (room_log2 - bytes_log2(memory_bytes));
        let slots = Word::zero();
        slots.set(usual as u64);
        hal.set_hash_table(lpid, &entries[..usual]);
        Ok(Self {
            lpid,
            entries,
            kept,
            begin: Word::zero(),
            slots,
            turn: Word::zero(),
            next: Word::zero(),
            home: Home::none(),
            superpages,
            size: is_resizable.then(|| size::Size::new(usual as u64)),
        })
    }

    /// Says which hardware thread alone may run the partition from now on, before it does, or that several may. If it
    /// is another one than before, nothing is left anywhere of what was translated.
    pub fn set_home(&self, hal: &impl Tables, home: Option<usize>) {
        if home.is_some_and(|thread| !self.home.is(thread)) {
            hal.forget_hashed(self.lpid);
        }
        self.home.set(home);
    }

    /// How many entries it has room for.
    #[inline]
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots.get()
    }

    #[inline(always)]
    fn at(&self, slot: u64) -> Option<(&TableEntry, &Word)> {
        if slot >= self.slots() {
            return None;
        }
        let place = usize::try_from(self.begin.get() + slot).ok()?;
        Some((self.entries.get(place)?, self.kept.get(place)?))
    }

    /// The entry in a slot of the table.
    fn entry(&self, slot: u64) -> &TableEntry {
        &self.entries[(self.begin.get() + slot) as usize]
    }

    /// Puts an entry into the first free one of `slots`, which are in the table; says which that is.
    #[inline(always)]
    pub fn enter(
        &self,
        hal: &impl Tables,
        mut slots: core::ops::Range<u64>,
        checked: &Checked,
    ) -> Option<u64> {
        slots.find(|slot| self.put(hal, *slot, checked))
    }

    /// Puts an entry there, if the slot is free.
    fn put(&self, hal: &impl Tables, slot: u64, checked: &Checked) -> bool {
        let Some((entry, kept)) = self.at(slot) else { return false };
        if entry.first() & first::V != 0 {
            return false;
        }
        // Who has an entry that is not valid is about to fill or to free it.
        let before = lock(entry, spin_loop);
        if before & first::V != 0 {
            entry.give(before);
            return false;
        }
        kept.set(checked.kept);
        entry.set_second(checked.second);
        entry.give(checked.first);
        hal.publish_entries();
        true
    }

    /// Locks the valid entry in a slot of the table, if `condition` holds for it. While somebody else has it, `wait` is
    /// called before each new attempt.
    #[inline(always)]
    fn take<H: Tables>(
        &self,
        slot: u64,
        condition: Condition,
        wait: impl FnMut(),
    ) -> Option<Taken<'_>> {
        let (entry, kept) = self.at(slot)?;
        if entry.first() & (first::V | LOCK) == 0 {
            return None;
        }
        let first = lock(entry, wait);
        let taken = Taken { slot, entry, kept, first };
        if first & first::V != 0 && condition.holds::<H>(&taken) {
            return Some(taken);
        }
        entry.give(first);
        None
    }

    /// Whether the processor finds an entry in a slot of the table.
    #[cfg(loom)]
    pub(crate) fn holds(&self, slot: u64) -> bool {
        self.at(slot).is_some_and(|(entry, _)| entry.first() & first::V != 0)
    }

    /// What is in a slot of the table; zeros if nothing is.
    #[must_use]
    pub fn read<H: Tables>(&self, slot: u64) -> Written {
        let taken = self.take::<H>(slot, Condition::default(), spin_loop);
        let Some(taken) = taken else { return [0; 2] };
        let written = taken.written::<H>();
        taken.entry.give(taken.first);
        written
    }

    /// Where a partition says that the page of 2^`base_log2` bytes at `offset` of a virtual segment is, of which the
    /// processor may find an entry: the guest real address of `offset`.
    #[must_use]
    pub fn find<H: Tables>(
        &self,
        vsid: u64,
        segment_log2: u32,
        base_log2: u32,
        offset: u64,
    ) -> Option<GuestRealAddress> {
        let form = form::<H>();
        let page = offset >> base_log2 << base_log2;
        let low = first::AVA_OMITS_LOG2;
        let high = vsid << (segment_log2 - low) | page >> low;
        let hashed = hash::hash(vsid, segment_log2, base_log2, offset);
        let groups = self.slots() / GROUP_ENTRIES as u64 - 1;
        let find = |hashed: u64, h: u64| {
            let start = (hashed & groups) * GROUP_ENTRIES as u64;
            (start..start + GROUP_ENTRIES as u64).find_map(|slot| {
                let taken = self.take::<H>(slot, Condition::default(), spin_loop)?;
                let found = taken.page::<H>();
                let [_, second] = taken.written::<H>();
                let is_it = (taken.first >> first::AVA_SHIFT ^ high) << first::AVA_SHIFT
                    & form.abbreviated
                    == 0
                    && taken.first & first::H == h
                    && found.size.base_log2 == base_log2
                    && found.segment_size == u64::from(segment_log2 == 40)
                    && found.address == vsid << segment_log2 | page;
                taken.entry.give(taken.first);
                let inside = (1 << found.size.actual_log2) - 1;
                let address = second & EntryForm::V2.address & !inside | offset & inside;
                is_it.then_some(GuestRealAddress(address))
            })
        };
        find(hashed, 0).or_else(|| find(!hashed, first::H))
    }

    /// The entries that the partition has made, each with its slot. No vCPU of the partition runs.
    pub fn written<H: Tables>(&self) -> impl Iterator<Item = (u64, Written)> {
        (0..self.slots()).filter_map(|slot| {
            let (entry, _) = self.at(slot)?;
            let is_its = entry.first() & (first::V | OWN) == first::V;
            is_its.then(|| (slot, self.read::<H>(slot)))
        })
    }

    /// Takes the entry in a slot out, on a condition, and no translation by it is left: what it was, with its last R
    /// and C.
    #[inline(always)]
    pub fn remove<H: Tables>(&self, hal: &H, slot: u64, condition: Condition) -> Option<Written> {
        let taken = self.take::<H>(slot, condition, spin_loop)?;
        taken.entry.keep(LOCK);
        hal.forget_pages(self.lpid, &self.home, [Some(taken.page::<H>())]);
        Some(taken.end::<H>())
    }

    /// Takes the entries in these slots out, as [`HashTable::remove`] does one: what each was.
    #[inline(always)]
    pub fn remove_all<H: Tables, const COUNT: usize>(
        &self,
        hal: &H,
        requests: [Option<(u64, Condition)>; COUNT],
    ) -> [Option<Written>; COUNT] {
        let mut taken = [const { None }; COUNT];
        let mut removed = [None; COUNT];
        for (index, request) in requests.into_iter().enumerate() {
            let Some((slot, condition)) = request else { continue };
            // Who waits for an entry has none: two that want each other's would wait for good.
            let found = self.take::<H>(slot, condition, || {
                self.free(hal, &mut taken, &mut removed);
                spin_loop();
            });
            if let Some(found) = found {
                found.entry.keep(LOCK);
                taken[index] = Some(found);
            }
        }
        self.free(hal, &mut taken, &mut removed);
        removed
    }

    /// The slots that [`HashTable::remove_next`] goes through next.
    #[must_use]
    pub fn next(&self) -> core::ops::Range<u64> {
        let first = self.next.get();
        first..(first + REMOVED_NEXT).min(self.slots())
    }

    /// Takes what the partition has in the next slots out, and no translation by that is left: whether it was not the
    /// end of the table yet. One vCPU at a time does so; what another one enters meanwhile may stay.
    ///
    /// Where a block is large, its pages have to get their own size first ([`HashTable::divides`]): nothing is done.
    #[cold]
    pub fn remove_next<H: Tables>(&self, hal: &H) -> bool {
        let slots = self.next();
        if slots.clone().any(|slot| self.is_large(slot)) {
            return true;
        }
        let not_own = Condition::of_own(false);
        for group in slots.clone().step_by(GROUP_ENTRIES) {
            let requests: [_; GROUP_ENTRIES] = core::array::from_fn(|place| {
                let slot = group + place as u64;
                let word = self.at(slot)?.0.first();
                // Who changes an entry has it locked, and it is not valid meanwhile.
                let may_be_its = word & LOCK != 0 || word & (first::V | OWN) == first::V;
                may_be_its.then_some((slot, not_own))
            });
            self.remove_all(hal, requests);
        }
        let is_end = slots.end == self.slots();
        self.next.set(if is_end { 0 } else { slots.end });
        !is_end
    }

    /// Takes the entries in these slots of the table out that are in one block of pages of one size, that of the first,
    /// each on its condition, and no translation by them is left. Waits for nobody: who has an entry keeps it.
    pub fn remove_block<H: Tables>(
        &self,
        hal: &H,
        requests: [Option<(u64, Condition)>; BLOCK],
    ) -> [Option<Result<Written, Kept>>; BLOCK] {
        let mut taken = [const { None }; BLOCK];
        let mut refused = [None; BLOCK];
        let mut block = None;
        for (index, request) in requests.into_iter().enumerate() {
            let Some((slot, condition)) = request else { continue };
            match self.take_of_block::<H>(slot, condition, &mut block) {
                Ok(found) => {
                    found.entry.keep(LOCK);
                    taken[index] = Some(found);
                }
                Err(kept) => refused[index] = Some(kept),
            }
        }
        let mut removed = [None; BLOCK];
        self.free(hal, &mut taken, &mut removed);
        core::array::from_fn(|index| match refused[index] {
            Some(kept) => Some(Err(kept)),
            None => removed[index].map(Ok),
        })
    }

    /// Locks the entry in a slot of the table if nobody has it, and it may go with the block of those before.
    fn take_of_block<H: Tables>(
        &self,
        slot: u64,
        condition: Condition,
        block: &mut Option<VirtualPage>,
    ) -> Result<Taken<'_>, Kept> {
        let (entry, kept) = self.at(slot).ok_or(Kept::Wrong)?;
        if entry.first() & (first::V | LOCK) == 0 {
            return Err(Kept::Missing);
        }
        let first = entry.add(LOCK);
        if first & LOCK != 0 {
            return Err(Kept::Busy);
        }
        let taken = Taken { slot, entry, kept, first };
        let refusal = Self::keeps::<H>(&taken, condition, block);
        refusal.map_or(Ok(taken), |kept| {
            entry.give(first);
            Err(kept)
        })
    }

    /// Why an entry stays, if it does; `block` is the one of the entries before, and of this one if it is the first.
    fn keeps<H: Tables>(
        taken: &Taken<'_>,
        condition: Condition,
        block: &mut Option<VirtualPage>,
    ) -> Option<Kept> {
        if taken.first & first::V == 0 || taken.first & BOLTED != 0 {
            return Some(Kept::Missing);
        }
        let page = taken.page::<H>();
        let base_log2 = page.size.base_log2;
        if base_log2 > BLOCK_BASE_LOG2_MAX {
            return Some(Kept::Wrong);
        }
        if !condition.holds::<H>(taken) {
            return Some(Kept::Missing);
        }
        let of_block = VirtualPage { address: page.address >> (base_log2 + BLOCK_LOG2), ..page };
        match block.replace(of_block) {
            None => None,
            Some(before) => {
                *block = Some(before);
                if (before.size, before.segment_size) != (of_block.size, of_block.segment_size) {
                    Some(Kept::Unlike)
                } else {
                    (before.address != of_block.address).then_some(Kept::Beyond)
                }
            }
        }
    }

    /// Frees entries that are not valid any more, once no translation by them is left.
    fn free<H: Tables, const COUNT: usize>(
        &self,
        hal: &H,
        taken: &mut [Option<Taken<'_>>; COUNT],
        removed: &mut [Option<Written>; COUNT],
    ) {
        let pages = taken.each_ref().map(|taken| taken.as_ref().map(Taken::page::<H>));
        if pages.iter().all(Option::is_none) {
            return;
        }
        hal.forget_pages(self.lpid, &self.home, pages);
        for (taken, removed) in taken.iter_mut().zip(removed) {
            let Some(taken) = taken.take() else { continue };
            *removed = Some(taken.end::<H>());
        }
    }

    /// Changes what the entry in a slot allows, on a condition, and no translation by the old one is left: whether it
    /// is there. `rights` are the flags of H_PROTECT.
    #[inline(always)]
    pub fn protect<H: Tables>(
        &self,
        hal: &H,
        slot: u64,
        condition: Condition,
        rights: u64,
    ) -> Option<()> {
        let change = |word: u64| protected(word, rights);
        let taken = self.take::<H>(slot, condition, spin_loop)?;
        taken.kept.set(change(taken.kept.get()));
        self.rewrite(hal, &taken, change);
        Some(())
    }

    /// Clears R or C of the entry in a slot, and the next access sets it again: its second doubleword as it was.
    pub fn clear<H: Tables>(&self, hal: &H, slot: u64, mark: u64) -> Option<u64> {
        let taken = self.take::<H>(slot, Condition::default(), spin_loop)?;
        let kept = taken.kept.get();
        let before = self.rewrite(hal, &taken, |word| word & !mark);
        Some(kept & !(MARKS | OLD) | before & MARKS)
    }

    /// Replaces the second doubleword while the entry is not valid and no translation by it is left, and gives the
    /// entry back: what it was.
    #[inline(always)]
    fn rewrite<H: Tables>(&self, hal: &H, taken: &Taken<'_>, change: impl Fn(u64) -> u64) -> u64 {
        taken.entry.keep(LOCK);
        hal.forget_pages(self.lpid, &self.home, [Some(taken.page::<H>())]);
        let before = taken.entry.second();
        taken.entry.set_second(change(before));
        taken.entry.give(taken.first);
        hal.publish_entries();
        before
    }

    /// Makes a page of the partition's memory reachable with relocation off, that is not; whether there was a place.
    ///
    /// Where both groups are full, one of the hypervisor's own entries there makes room, and another page of them comes
    /// back when it is missed.
    pub fn add_real_mode<H: Tables>(
        &self,
        hal: &H,
        address: GuestRealAddress,
        real: RealAddress,
    ) -> bool {
        let (checked, hashed) = entry::of_real_mode(form::<H>(), address, real);
        let groups = self.slots() / GROUP_ENTRIES as u64 - 1;
        let group = |hashed: u64| (hashed & groups) * GROUP_ENTRIES as u64;
        let places = [(group(hashed), 0), (group(!hashed), first::H)];
        let slots = |start: u64| start..start + GROUP_ENTRIES as u64;
        let with = |h: u64| Checked { first: checked.first | OWN | h, ..checked };
        // Another vCPU may have been faster: two entries for one page are undefined.
        let is_there = |(start, h): (u64, u64)| {
            let wanted = checked.first | h;
            slots(start).any(|slot| {
                let entry = self.entry(slot);
                let first = entry.first() & !(OWN | LOCK | entry::GUESTS_OWN);
                first == wanted && form::<H>().segment_size_of([first, entry.second()]) == 1
            })
        };
        if places.into_iter().any(is_there) {
            return true;
        }
        let mut enters = |(start, h)| self.enter(hal, slots(start), &with(h)).is_some();
        if places.into_iter().any(&mut enters) {
            return true;
        }
        // The one to go is another one each time, so that an instruction that needs several goes on in the end, unless
        // there is one place for them.
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        let own = |(start, _): (u64, u64)| {
            (0..GROUP_ENTRIES as u64)
                .map(|place| start + (place + turn) % GROUP_ENTRIES as u64)
                .find(|slot| self.entry(*slot).first() & (OWN | first::V) == OWN | first::V)
        };
        let own_alone = Condition::of_own(true);
        places.into_iter().any(|place| {
            own(place).is_some_and(|slot| {
                self.remove(hal, slot, own_alone);
                // If the partition was faster in either step, the page is missed again.
                enters(place);
                true
            })
        })
    }

    /// Empties slots from `slot` on, at most so many: where the next one is. No vCPU of the partition runs.
    pub fn empty(&self, slot: u64, count: u64) -> Option<u64> {
        let end = (slot + count).min(self.slots());
        self.empty_places(self.begin.get(), slot..end);
        (end < self.slots()).then_some(end)
    }

    /// There is nothing in it that anybody has begun with.
    fn starts_anew(&self) {
        if let Some(superpages) = &self.superpages {
            superpages.reset();
        }
        self.next.set(0);
    }
}

impl Taken<'_> {
    /// What the partition reads.
    #[inline(always)]
    fn written<H: Tables>(&self) -> Written {
        let (now, kept) = (self.entry.second(), self.kept.get());
        const { assert!(WITHOUT_L >> 5 == first::L) };
        let first = self.first & !((kept & WITHOUT_L) >> 5);
        [entry::as_written(form::<H>(), [first, now]), kept & !(MARKS | OLD) | now & MARKS]
    }

    /// Frees it, once no translation by it is left: what it was.
    #[inline(always)]
    fn end<H: Tables>(&self) -> Written {
        let written = self.written::<H>();
        self.entry.give(0);
        written
    }

    #[inline(always)]
    fn page<H: Tables>(&self) -> VirtualPage {
        entry::page_of(form::<H>(), [self.first, self.entry.second()], self.slot)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
