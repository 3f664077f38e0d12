//! Xen's map cache for each vCPU as it was posted in February 2020 and never merged: to measure it, and to show
//! what it leaves behind, and for nothing else.
//!
//! A bucket is compared by its *frame*, not by its slot. So a slot whose bucket names the same frame in another
//! slot counts as hashed when it is released, and is lost. A released slot keeps its entry and its translation
//! until another frame takes it: any slot may keep a frame reachable for good. What the map side does is a
//! reconstruction from the posted unmap side and from its review.

use super::{
    BUCKETS, FRAME_LOG2, Frame, MapError, Opened, Place, ReleaseError, SLOTS, Slot, SlotSet, Table,
};

/// The cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XenV2 {
    /// Where slot 0 is.
    base: u64,
    /// By slot whose entry is valid.
    frames: [Option<Frame>; SLOTS],
    counts: [u16; SLOTS],
    buckets: [Option<(Frame, Slot)>; BUCKETS],
    free: SlotSet,
}

impl XenV2 {
    /// Nothing is mapped in the slots from `base` on.
    #[must_use]
    pub const fn new(base: u64) -> Self {
        let (frames, counts, buckets) = ([None; SLOTS], [0; SLOTS], [None; BUCKETS]);
        Self { base, frames, counts, buckets, free: SlotSet::ALL }
    }

    /// Maps a frame.
    ///
    /// # Errors
    /// [`MapError::TooDeep`]: no slot is free, because so many are mapped or were lost.
    pub fn map(&mut self, table: &mut impl Table, frame: Frame) -> Result<Opened, MapError> {
        let bucket = frame.bucket();
        let base = self.base;
        let address = |slot: Slot| base + ((slot.index() as u64) << FRAME_LOG2);
        match self.buckets[bucket] {
            Some((hashed, slot)) if hashed == frame => {
                let address = address(slot);
                let count = &mut self.counts[slot.index()];
                *count = count.checked_add(1).ok_or(MapError::TooDeep)?;
                return Ok(Opened { address, is_new: false });
            }
            Some((_, slot)) if self.counts[slot.index()] == 0 => self.free.insert(slot),
            _ => {}
        }
        let slot = self.free.take_first().ok_or(MapError::TooDeep)?;
        if self.frames[slot.index()].replace(frame).is_some() {
            table.clear(Place::first(slot));
        }
        table.forget(SlotSet::of(slot));
        table.set(Place::first(slot), frame);
        self.counts[slot.index()] = 1;
        self.buckets[bucket] = Some((frame, slot));
        Ok(Opened { address: address(slot), is_new: true })
    }

    /// Releases what is mapped at `address`. Neither entry nor translation changes.
    ///
    /// # Errors
    /// [`ReleaseError`].
    pub fn release(&mut self, address: u64) -> Result<(), ReleaseError> {
        let offset = address.checked_sub(self.base).ok_or(ReleaseError::Foreign)?;
        let slot = Slot::new((offset >> FRAME_LOG2) as usize).ok_or(ReleaseError::Foreign)?;
        let count = &mut self.counts[slot.index()];
        *count = count.checked_sub(1).ok_or(ReleaseError::NotMapped)?;
        let frame = self.frames[slot.index()];
        let named = frame.and_then(|frame| self.buckets[frame.bucket()]);
        if *count == 0 && named.map(|(frame, _)| frame) != frame {
            self.free.insert(slot);
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::tests::{Worst, frame};
    use super::{BUCKETS, MapError, SLOTS, XenV2};
    use std::vec::Vec;

    /// The order of maps that loses a slot: A, B of the same bucket, A again.
    #[test]
    fn it_loses_slots_until_it_has_none() {
        let (mut cache, mut table) = (XenV2::new(0), Worst::new());
        let mut lost = 0;
        let run_out = (0..100 * SLOTS as u64).find(|_| {
            let mut open = Vec::new();
            for number in [0, BUCKETS as u64, 0] {
                match cache.map(&mut table, frame(number)) {
                    Ok(opened) => open.push(opened.address),
                    Err(MapError::TooDeep) => return true,
                }
            }
            open.into_iter().for_each(|address| cache.release(address).unwrap());
            lost += 1;
            false
        });
        assert!(run_out.is_some() && lost < SLOTS, "{lost} rounds");
    }

    #[test]
    fn it_leaves_what_was_released_reachable() {
        let (mut cache, mut table) = (XenV2::new(0), Worst::new());
        let opened = cache.map(&mut table, frame(3)).unwrap();
        cache.release(opened.address).unwrap();
        assert!(table.reaches(frame(3)));
        // Even when its bucket is another frame's.
        let other = cache.map(&mut table, frame(3 + BUCKETS as u64)).unwrap();
        assert!(table.reaches(frame(3)) || other.address == opened.address);
    }
}
