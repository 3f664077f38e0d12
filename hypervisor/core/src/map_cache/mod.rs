//! The map cache of one hardware thread: which slots show which frames of partitions' memory, and when they cease to.
//!
//! There is no map of partition memory. Who needs a frame maps it into one of [`SLOTS`] slots and releases it again.
//! Maps of one frame share a slot, by a count, so that they have one address. A small hash finds the slot of a frame.
//! Its buckets name slots, and a bucket is a slot's own only if it names that slot: Xen's posted cache compared frames
//! there, and lost slots.
//!
//! A slot is always in one state:
//!
//! | state | its entry in the table | its translation may be cached | leaves it by |
//! |---|---|---|---|
//! | clean | invalid | no | [`MapCache::map`] |
//! | live | valid | yes | the last release |
//! | idle: released, in the hash | valid | yes | a map of its frame, another frame in its bucket, or [`MapCache::flush`] |
//! | retired | invalid | yes | the flush that makes it clean |
//!
//! At most [`DEPTH`] slots are live and [`BUCKETS`] idle, so that one is always clean or retired for a map that is
//! allowed. [`Mode`] says how long a released frame stays reachable. The cache decides; [`Table`] writes entries and
//! flushes translations.
//!
//! A lazy cache flushes all slots at a time, which is dear, so that it does so seldom: a slot has [`LAPS`] places one
//! after another, each an address and an entry of its own. One that would retire goes on to the next place that was not
//! used since the last flush, and is clean there; it is retired when there is none left.

pub mod domain;
mod frame;
mod slots;
pub mod xen_v2;

pub use frame::{FRAME_LOG2, Frame};
pub use slots::{Place, Slot, SlotSet};

use arch::bundle::MapPolicy;

/// Slots of a hardware thread: what one table of the last level has entries of 64 KiB.
pub const SLOTS: usize = 32;
/// Places of a slot of a lazy cache. With eight a flush of 128 `tlbiel` serves some 200 misses, and is a sixth of what
/// one takes; more places leave more translations cached.
pub const LAPS: usize = 8;
/// Buckets of the hash, so many idle slots there are at most.
pub const BUCKETS: usize = 8;
/// Frames that are mapped at a time, at most. Two are today, where a copy comes from and where it goes to; a walk
/// through the tables of a guest would map one of each level beside them.
pub const DEPTH: usize = 16;

const _: () = assert!(BUCKETS.is_power_of_two(), "the hash is a mask");
const _: () = assert!(SLOTS >= DEPTH + BUCKETS, "a map within the depth finds a slot");
const _: () = assert!(SLOTS <= u32::BITS as usize, "a set of slots is a word");

/// How long a frame that was released stays reachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Until the end of the exit in which it was released: before a guest runs on the thread again, it is not. The
    /// flushes of one exit share their barriers.
    UntilEntry,
    /// Not at all.
    UntilRelease,
    /// Until its slot is needed, or the thread runs another partition or waits.
    WhileUnneeded,
}

impl Mode {
    /// How many places a slot has behind its first one.
    const fn spare(self) -> u8 {
        match self {
            Self::UntilEntry | Self::UntilRelease => 0,
            Self::WhileUnneeded => LAPS as u8 - 1,
        }
    }

    /// The one that a policy asks for, if it asks for this cache.
    #[must_use]
    pub const fn of(policy: MapPolicy) -> Option<Self> {
        match policy {
            MapPolicy::Ours => Some(Self::UntilEntry),
            MapPolicy::OursStrict => Some(Self::UntilRelease),
            MapPolicy::OursLazy => Some(Self::WhileUnneeded),
            MapPolicy::Domain | MapPolicy::XenV2 | MapPolicy::RealMode | MapPolicy::Direct => None,
        }
    }
}

/// The entries of the slots' places, and what the processor has cached of them.
pub trait Table {
    /// Makes an invalid entry show a frame. Whoever accesses it orders the store before.
    fn set(&mut self, place: Place, frame: Frame);
    /// Makes an entry invalid.
    fn clear(&mut self, place: Place);
    /// Makes the processor forget what it cached of those entries of these slots that are invalid, and waits until it
    /// has.
    fn forget(&mut self, slots: SlotSet);
}

/// A map that was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opened {
    /// Where the frame is.
    pub address: u64,
    /// An entry was written for it, which an access has to be ordered behind.
    pub is_new: bool,
}

/// Why there is no map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapError {
    /// [`DEPTH`] frames are mapped, or one of them as often as can be counted.
    TooDeep,
}

/// Why a release is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseError {
    /// The address is no place of this cache: another thread's, or nobody's.
    Foreign,
    /// Nothing is mapped there, or no more.
    NotMapped,
}

/// The cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapCache {
    mode: Mode,
    /// Where the first place is.
    base: u64,
    /// By slot: where it is.
    places: [Place; SLOTS],
    /// Places of a slot behind the one that it is at when all was flushed.
    spare: u8,
    /// By slot: how many of these were not used since the last flush.
    fresh: [u8; SLOTS],
    /// A place was left since then, and its translation may be cached.
    is_stale: bool,
    /// By slot that is live or idle.
    frames: [Frame; SLOTS],
    /// By slot: maps that were not released.
    counts: [u16; SLOTS],
    buckets: [Option<Slot>; BUCKETS],
    clean: SlotSet,
    retired: SlotSet,
    idle: SlotSet,
    /// Live ones whose bucket is another slot's.
    unhashed: SlotSet,
    live: usize,
}

impl MapCache {
    /// Nothing is mapped in the slots from `base` on.
    #[must_use]
    pub const fn new(mode: Mode, base: u64) -> Self {
        Self::with_spare(mode, base, mode.spare())
    }

    const fn with_spare(mode: Mode, base: u64, spare: u8) -> Self {
        Self {
            mode,
            base,
            places: Place::FIRST,
            spare,
            fresh: [spare; SLOTS],
            is_stale: false,
            frames: [Frame::ZERO; SLOTS],
            counts: [0; SLOTS],
            buckets: [None; BUCKETS],
            clean: SlotSet::ALL,
            retired: SlotSet::NONE,
            idle: SlotSet::NONE,
            unhashed: SlotSet::NONE,
            live: 0,
        }
    }

    /// Frames that are mapped.
    #[must_use]
    pub const fn live(&self) -> usize {
        self.live
    }

    /// Maps a frame.
    ///
    /// # Errors
    /// [`MapError::TooDeep`].
    #[inline]
    pub fn map(&mut self, table: &mut impl Table, frame: Frame) -> Result<Opened, MapError> {
        let bucket = frame.bucket();
        match self.buckets[bucket] {
            Some(slot) if self.frames[slot.index()] == frame => self.map_again(slot),
            occupant => self.map_missed(table, frame, bucket, occupant),
        }
    }

    /// One more map of what a slot shows.
    #[inline]
    fn map_again(&mut self, slot: Slot) -> Result<Opened, MapError> {
        let count = self.counts[slot.index()];
        if count == 0 {
            if self.live == DEPTH {
                return Err(MapError::TooDeep);
            }
            self.live += 1;
            self.idle.remove(slot);
        }
        self.counts[slot.index()] = count.checked_add(1).ok_or(MapError::TooDeep)?;
        Ok(Opened { address: self.address(slot), is_new: false })
    }

    /// A map of what its bucket does not name.
    fn map_missed(
        &mut self,
        table: &mut impl Table,
        frame: Frame,
        bucket: usize,
        occupant: Option<Slot>,
    ) -> Result<Opened, MapError> {
        if let Some(slot) = self.unhashed.iter().find(|slot| self.frames[slot.index()] == frame) {
            return self.map_again(slot);
        }
        if self.live == DEPTH {
            return Err(MapError::TooDeep);
        }
        let is_hashed = match occupant {
            Some(slot) if !self.idle.contains(slot) => false,
            Some(slot) => {
                self.idle.remove(slot);
                if self.is_retired(table, slot) {
                    self.retired.insert(slot);
                }
                true
            }
            None => true,
        };
        let slot = self.take_clean(table);
        if is_hashed {
            self.buckets[bucket] = Some(slot);
        } else {
            self.unhashed.insert(slot);
        }
        self.frames[slot.index()] = frame;
        self.counts[slot.index()] = 1;
        self.live += 1;
        table.set(self.places[slot.index()], frame);
        Ok(Opened { address: self.address(slot), is_new: true })
    }

    /// Releases what is mapped at `address`, or anywhere in the same slot.
    ///
    /// # Errors
    /// [`ReleaseError`]; nothing has changed then.
    #[inline]
    pub fn release(&mut self, table: &mut impl Table, address: u64) -> Result<(), ReleaseError> {
        let place = self.place_at(address).ok_or(ReleaseError::Foreign)?;
        let slot = place.slot();
        let count = &mut self.counts[slot.index()];
        if self.places[slot.index()] != place || *count == 0 {
            return Err(ReleaseError::NotMapped);
        }
        *count -= 1;
        if *count != 0 {
            return Ok(());
        }
        self.live -= 1;
        let is_hashed = self.unhashed == SlotSet::NONE || !self.unhashed.remove(slot);
        if is_hashed && self.mode != Mode::UntilRelease {
            self.idle.insert(slot);
            return Ok(());
        }
        if is_hashed {
            self.buckets[self.frames[slot.index()].bucket()] = None;
        }
        if self.is_retired(table, slot) {
            if self.mode == Mode::UntilRelease {
                self.forget(table, SlotSet::of(slot));
            } else {
                self.retired.insert(slot);
            }
        }
        Ok(())
    }

    /// An exit is over, and a guest runs next: what was released in it ceases to be reachable, if the mode says so.
    #[inline]
    pub fn end_exit(&mut self, table: &mut impl Table) {
        if self.mode != Mode::WhileUnneeded {
            self.flush(table);
        }
    }

    /// Makes all that was released unreachable.
    #[inline]
    pub fn flush(&mut self, table: &mut impl Table) {
        if self.idle != SlotSet::NONE || self.retired != SlotSet::NONE || self.is_stale {
            self.flush_some(table);
        }
    }

    #[inline(never)]
    fn flush_some(&mut self, table: &mut impl Table) {
        let mut retired = core::mem::take(&mut self.retired);
        for slot in core::mem::take(&mut self.idle).iter() {
            self.buckets[self.frames[slot.index()].bucket()] = None;
            if self.is_retired(table, slot) {
                retired.insert(slot);
            }
        }
        self.forget(table, retired);
    }

    /// Makes what a slot shows invalid. It is clean at its next place; whether it has none, and is to be retired.
    fn is_retired(&mut self, table: &mut impl Table, slot: Slot) -> bool {
        let index = slot.index();
        table.clear(self.places[index]);
        let Some(fresh) = self.fresh[index].checked_sub(1) else { return true };
        self.fresh[index] = fresh;
        self.places[index] = self.places[index].next();
        self.is_stale = true;
        self.clean.insert(slot);
        false
    }

    /// Makes these clean, and all places that were left.
    fn forget(&mut self, table: &mut impl Table, retired: SlotSet) {
        self.clean.extend(retired);
        if core::mem::take(&mut self.is_stale) {
            self.fresh = [self.spare; SLOTS];
            table.forget(SlotSet::ALL);
        } else {
            table.forget(retired);
        }
    }

    /// A slot that is clean, now. The bound of the states says that there is one, or one to be made.
    fn take_clean(&mut self, table: &mut impl Table) -> Slot {
        if self.clean == SlotSet::NONE {
            let retired = core::mem::take(&mut self.retired);
            self.forget(table, retired);
        }
        self.clean.take_first().expect("slots that are neither live nor idle are clean or retired")
    }

    fn address(&self, slot: Slot) -> u64 {
        self.base + ((self.places[slot.index()].index() as u64) << FRAME_LOG2)
    }

    fn place_at(&self, address: u64) -> Option<Place> {
        Place::new((address.checked_sub(self.base)? >> FRAME_LOG2) as usize)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
