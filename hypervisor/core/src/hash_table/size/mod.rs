//! Another size for a table: H_RESIZE_HPT_PREPARE makes one of that size ready while the partition runs, and
//! H_RESIZE_HPT_COMMIT moves the bolted entries to it and lets it take the old one's place.
//!
//! A table that can change has memory for two of the largest size from the start, so that nothing that a partition
//! asks for has to be found then. The processor is told of one half; the other is emptied, and filled, before it is
//! told of that. Entries move while no vCPU is in the partition, some at a time ([`HashTable::move_entries`]), and
//! until the last one has moved the old table has all that it had. What is not bolted is lost, as PAPR allows: the
//! partition misses it and enters it again.
//!
//! All of it but what [`HashTable::at`] reads is read and written with the partition locked.
//! Source: `docs/facts/papr.md#another-size-for-the-table`.

use core::ops::Range;

use arch::hash::{GROUP_ENTRIES, VirtualPage, first, hash};
use arch::papr::hashed::BOLTED;

use super::entry::page_of;
use super::{HashTable, LEAST_LOG2, MADE_LARGE, OLD, OWN, WITHOUT_L, bytes_log2, superpages};
use crate::hal::Tables;
use crate::sync::Word;

/// log2 of the bytes of the largest table that the architecture knows, which no partition has.
const MOST_LOG2: u64 = 46;
/// log2 of the bytes of an entry.
const ENTRY_LOG2: u32 = 4;
/// How many times as large as by PAPR's hint a table may become, as a power of two.
const GROWS_LOG2: u32 = 1;
/// Slots that a call empties at most.
const EMPTIED: u64 = 2048;
/// Slots whose entries move in one piece, as many as are cleared in one: each page of them is forgotten.
const MOVED: u64 = super::REMOVED_NEXT;

/// How far a change of a table's size is.
#[derive(Debug)]
pub(super) struct Size {
    /// Slots of a table by PAPR's hint, which it has at first.
    usual: u64,
    /// Slots of the table that is made ready, or is; 0 if none.
    wanted: Word,
    /// How many of them are empty.
    empty: Word,
    /// How many slots of the old table are done, and one more; 0 while entries do not move.
    moved: Word,
    /// Slots of the table that had no place for all bolted entries; 0 if they had, or nobody has asked.
    full: Word,
}

impl Size {
    pub(super) fn new(usual: u64) -> Self {
        let [wanted, empty, moved, full] = core::array::from_fn(|_| Word::zero());
        Self { usual, wanted, empty, moved, full }
    }

    fn forget(&self) {
        for word in [&self.wanted, &self.empty, &self.moved, &self.full] {
            word.set(0);
        }
    }
}

/// log2 of the bytes that a table needs that may change, for a partition with so much memory: two of the largest.
pub(super) const fn room_log2(memory_bytes: u64) -> u32 {
    bytes_log2(memory_bytes) + GROWS_LOG2 + 1
}

/// A wish for a table of another size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// The table cannot change.
    Impossible,
    /// No table has that size.
    NoSize,
    /// The partition may have no table so large.
    TooLarge,
    /// The table is not ready yet: the call is to be made again.
    Goes,
    /// Entries move before any vCPU enters again, and the call is to be made again then.
    Moves,
    /// It is done.
    Done,
    /// Nobody has asked for a table of that size before.
    Unasked,
    /// The table of that size has no place for an entry that is to stay.
    Full,
}

impl HashTable {
    /// How many slots the table has that a call means, if it may mean it.
    fn meant(&self, bytes_log2: u64) -> Result<(&Size, u64), Wish> {
        let size = self.size.as_ref().ok_or(Wish::Impossible)?;
        if !(u64::from(LEAST_LOG2)..=MOST_LOG2).contains(&bytes_log2) {
            return Err(Wish::NoSize);
        }
        Ok((size, 1 << (bytes_log2 - u64::from(ENTRY_LOG2))))
    }

    /// Whether the partition can change the table's size.
    #[must_use]
    pub const fn is_resizable(&self) -> bool {
        self.size.is_some()
    }

    /// Goes on with making a table of `1 << bytes_log2` bytes ready; with 0, forgets the one that was.
    pub fn prepare(&self, bytes_log2: u64) -> Wish {
        match &self.size {
            // It is too late for another wish.
            Some(size) if size.moved.get() != 0 => return Wish::Goes,
            Some(size) if bytes_log2 == 0 => {
                size.forget();
                return Wish::Done;
            }
            _ => {}
        }
        let (size, slots) = match self.meant(bytes_log2) {
            Ok(meant) => meant,
            Err(wish) => return wish,
        };
        if slots > size.usual << GROWS_LOG2 {
            return Wish::TooLarge;
        }
        if size.wanted.get() != slots {
            size.forget();
            size.wanted.set(slots);
        }
        let begin = size.empty.get();
        let end = (begin + EMPTIED).min(slots);
        self.empty_places(self.other_half(), begin..end);
        size.empty.set(end);
        if end < slots { Wish::Goes } else { Wish::Done }
    }

    /// Lets the table of `1 << bytes_log2` bytes that was made ready take the place of the one in use. It is done, too,
    /// if the table has that size already, and no other one was asked for.
    pub fn commit(&self, bytes_log2: u64) -> Wish {
        let (size, slots) = match self.meant(bytes_log2) {
            Ok(meant) => meant,
            Err(wish) => return wish,
        };
        if size.full.get() == slots {
            size.full.set(0);
            return Wish::Full;
        }
        match size.wanted.get() {
            0 if slots == self.slots() => Wish::Done,
            wanted if wanted != slots => Wish::Unasked,
            _ if size.empty.get() < slots => Wish::Goes,
            _ => {
                if size.moved.get() == 0 {
                    size.moved.set(1);
                }
                Wish::Moves
            }
        }
    }

    /// Whether entries are on their way to another table: nobody may enter, and whoever is in the partition has to
    /// leave it.
    pub(super) fn is_moving(&self) -> bool {
        self.size.as_ref().is_some_and(|size| size.moved.get() != 0)
    }

    /// Where the half of the room begins that is not in use.
    fn other_half(&self) -> u64 {
        if self.begin.get() == 0 { self.entries.len() as u64 / 2 } else { 0 }
    }

    /// Empties slots of the table that begins there.
    pub(super) fn empty_places(&self, begin: u64, slots: Range<u64>) {
        for place in begin + slots.start..begin + slots.end {
            let (entry, kept) = (&self.entries[place as usize], &self.kept[place as usize]);
            entry.give(0);
            entry.set_second(0);
            kept.set(0);
        }
    }

    /// Moves the bolted ones of some slots. Nobody is in the partition.
    #[cold]
    pub(super) fn move_entries<H: Tables>(&self, hal: &H) {
        let Some(size) = &self.size else { return };
        let Some(begin) = size.moved.get().checked_sub(1) else { return };
        let (wanted, end) = (size.wanted.get(), (begin + MOVED).min(self.slots()));
        let mut groups = (begin..end).step_by(GROUP_ENTRIES);
        if !groups.all(|group| self.move_group(hal, group, wanted)) {
            size.forget();
            size.full.set(wanted);
        } else if end < self.slots() {
            size.moved.set(end + 1);
        } else {
            size.forget();
            self.use_table(hal, self.other_half(), wanted);
        }
    }

    /// Copies what is to stay of a group to the table of so many slots in the other half; whether there was a place for
    /// all of it.
    fn move_group<H: Tables>(&self, hal: &H, group: u64, slots: u64) -> bool {
        let form = super::form::<H>();
        let bolted: [_; GROUP_ENTRIES] = core::array::from_fn(|place| {
            let (entry, kept) = self.at(group + place as u64)?;
            let word = entry.first();
            let is_to_stay = word & (first::V | OWN | BOLTED) == first::V | BOLTED;
            is_to_stay.then_some((word, entry, kept.get()))
        });
        if bolted.iter().all(Option::is_none) {
            return true;
        }
        // After that the processor sets no R and C in them any more.
        let slot = |place: usize| group + place as u64;
        let page = |place: usize| {
            let (word, entry, _) = bolted[place].as_ref()?;
            Some(page_of(form, [*word, entry.second()], slot(place)))
        };
        hal.forget_pages(self.lpid, &self.home, core::array::from_fn::<_, GROUP_ENTRIES, _>(page));
        bolted.iter().enumerate().all(|(place, bolted)| {
            bolted.as_ref().is_none_or(|(word, entry, kept)| {
                let words = superpages::of_own_size([*word, entry.second()], *kept);
                self.put_in_other_half(
                    page_of(form, words, slot(place)),
                    place,
                    words,
                    *kept,
                    slots,
                )
            })
        })
    }

    /// Puts the entry of a page into the table of so many slots in the other half, in the same place of its group if
    /// nobody else has that; whether there was one.
    fn put_in_other_half(
        &self,
        page: VirtualPage,
        place: usize,
        [first, second]: [u64; 2],
        kept: u64,
        slots: u64,
    ) -> bool {
        let hashed = hash_of(page);
        let hashed = if first & first::H == 0 { hashed } else { !hashed };
        let groups = slots / GROUP_ENTRIES as u64;
        let start = (self.other_half() + (hashed & (groups - 1)) * GROUP_ENTRIES as u64) as usize;
        let mut places = (0..GROUP_ENTRIES).map(|more| start + (place + more) % GROUP_ENTRIES);
        let free = places.find(|place| self.entries[*place].first() & first::V == 0);
        let Some(place) = free else { return false };
        self.kept[place].set(kept & !(MADE_LARGE | WITHOUT_L | OLD));
        self.entries[place].set_second(second);
        self.entries[place].give(first);
        true
    }

    /// From now on the table is the one that begins there, with so many slots. Nobody is in the partition.
    fn use_table<H: Tables>(&self, hal: &H, begin: u64, slots: u64) {
        self.begin.set(begin);
        self.slots.set(slots);
        self.starts_anew();
        let entries = &self.entries[begin as usize..(begin + slots) as usize];
        hal.set_hash_table(self.lpid, entries);
    }

    /// Before it is emptied: it has its first size again, and nothing is known of what it had. No vCPU of the partition
    /// runs.
    pub fn reset(&self, hal: &impl Tables) {
        self.starts_anew();
        let Some(size) = &self.size else { return };
        size.forget();
        if self.slots() != size.usual {
            self.use_table(hal, self.begin.get(), size.usual);
        }
    }
}

/// The primary hash of a page.
fn hash_of(page: VirtualPage) -> u64 {
    let segment_log2 = if page.segment_size == 0 { 28 } else { 40 };
    let offset = page.address & ((1 << segment_log2) - 1);
    hash(page.address >> segment_log2, segment_log2, page.size.base_log2, offset)
}

#[cfg(all(test, not(loom)))]
mod tests;
