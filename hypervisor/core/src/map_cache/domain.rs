//! Xen's map cache of a domain, as it is since 2013: a pool of slots that all vCPUs share, behind a lock. To
//! measure it, and for nothing else.
//!
//! A hash of each vCPU finds what it released last; all else takes the lock. A slot that is released is
//! garbage: its entry is invalid, and its translation may still be cached. When no slot is left that was never
//! used since, all garbage becomes free at once, behind a flush of everything; every other vCPU flushes before
//! its next miss, which the epoch tells it.

use alloc::vec;
use alloc::vec::Vec;

use super::{BUCKETS, Frame, MapError};
use crate::sync::{Lock, SharedWord};

/// Slots for each vCPU: those of a nested walk of two trees of four levels.
pub const SLOTS_OF_VCPU: usize = 16;

/// The entries of a pool's slots, and what the processor has cached.
pub trait Pool {
    /// Makes an entry show a frame.
    fn set(&mut self, slot: usize, frame: Frame);
    /// Makes an entry invalid.
    fn clear(&mut self, slot: usize);
    /// What an entry shows.
    fn frame(&self, slot: usize) -> Option<Frame>;
    /// Makes this core forget everything.
    fn forget_all(&mut self);
}

/// What all vCPUs share.
#[derive(Debug)]
pub struct Domain {
    shared: Lock<Shared>,
    /// Slots that were released since the last wrap: one bit each.
    garbage: Vec<SharedWord>,
}

#[derive(Debug)]
struct Shared {
    in_use: Vec<u64>,
    slots: usize,
    cursor: usize,
    epoch: u64,
}

/// What a vCPU has for itself.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OfVcpu {
    buckets: [Option<Bucket>; BUCKETS],
    epoch: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bucket {
    frame: Frame,
    slot: usize,
    count: u16,
}

impl Shared {
    fn next_free(&mut self) -> Option<usize> {
        let free = |slot: &usize| self.in_use[slot / 64] & (1 << (slot % 64)) == 0;
        let slot = (self.cursor..self.slots).find(free)?;
        self.in_use[slot / 64] |= 1 << (slot % 64);
        self.cursor = slot + 1;
        Some(slot)
    }
}

impl Domain {
    /// A pool for so many vCPUs.
    #[must_use]
    pub fn new(vcpus: usize) -> Self {
        let slots = vcpus * SLOTS_OF_VCPU;
        let words = slots.div_ceil(64);
        let shared = Shared { in_use: vec![0; words], slots, cursor: 0, epoch: 0 };
        let garbage = (0..words).map(|_| SharedWord::empty()).collect();
        Self { shared: Lock::new(shared), garbage }
    }

    /// Maps a frame: its slot, and whether its entry was written.
    ///
    /// # Errors
    /// [`MapError::TooDeep`].
    pub fn map(
        &self,
        own: &mut OfVcpu,
        pool: &mut impl Pool,
        frame: Frame,
    ) -> Result<(usize, bool), MapError> {
        let first = frame.bucket();
        if let Some(bucket) = &mut own.buckets[first]
            && bucket.frame == frame
        {
            bucket.count = bucket.count.checked_add(1).ok_or(MapError::TooDeep)?;
            return Ok((bucket.slot, false));
        }
        let mut shared = self.shared.lock();
        if shared.epoch != own.epoch {
            own.epoch = shared.epoch;
            pool.forget_all();
        }
        let slot = match shared.next_free() {
            Some(slot) => slot,
            None => {
                let slot = self.wrap(&mut shared, own, pool, first)?;
                pool.forget_all();
                shared.epoch += 1;
                own.epoch = shared.epoch;
                slot
            }
        };
        drop(shared);
        pool.set(slot, frame);
        Ok((slot, true))
    }

    /// Makes garbage free, or steals the slot of an idle bucket.
    fn wrap(
        &self,
        shared: &mut Shared,
        own: &mut OfVcpu,
        pool: &mut impl Pool,
        first: usize,
    ) -> Result<usize, MapError> {
        for (in_use, garbage) in shared.in_use.iter_mut().zip(&self.garbage) {
            *in_use &= !garbage.take();
        }
        shared.cursor = 0;
        if let Some(slot) = shared.next_free() {
            return Ok(slot);
        }
        let mut buckets = (0..BUCKETS).map(|offset| (first + offset) % BUCKETS);
        let idle =
            buckets.find(|&place| own.buckets[place].is_some_and(|bucket| bucket.count == 0));
        let stolen = idle.and_then(|place| own.buckets[place].take()).ok_or(MapError::TooDeep)?;
        pool.clear(stolen.slot);
        Ok(stolen.slot)
    }

    /// Releases a slot. Without the lock.
    pub fn release(&self, own: &mut OfVcpu, pool: &mut impl Pool, slot: usize) {
        let Some(frame) = pool.frame(slot) else { return };
        let place = &mut own.buckets[frame.bucket()];
        let garbage = match place {
            Some(bucket) if bucket.slot == slot => {
                bucket.count -= 1;
                return;
            }
            Some(Bucket { count: 1.., .. }) => slot,
            _ => match place.replace(Bucket { frame, slot, count: 0 }) {
                None => return,
                Some(idle) => idle.slot,
            },
        };
        self.discard(pool, garbage);
    }

    /// The vCPU leaves the thread: what it keeps for itself is garbage.
    pub fn leave(&self, own: &mut OfVcpu, pool: &mut impl Pool) {
        for bucket in own.buckets.iter_mut().filter_map(Option::take) {
            self.discard(pool, bucket.slot);
        }
    }

    fn discard(&self, pool: &mut impl Pool, slot: usize) {
        pool.clear(slot);
        self.garbage[slot / 64].add(1 << (slot % 64));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::tests::frame;
    use super::{Domain, Frame, MapError, OfVcpu, Pool, SLOTS_OF_VCPU};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use std::vec;
    use std::vec::Vec;

    /// One core of several that share the entries: it has cached all that it could have.
    struct Core {
        cached: Vec<Option<Frame>>,
        flushes: usize,
    }

    struct View<'a> {
        entries: &'a mut Vec<Option<Frame>>,
        core: &'a mut Core,
    }

    impl Pool for View<'_> {
        fn set(&mut self, slot: usize, frame: Frame) {
            assert_eq!(self.entries[slot].replace(frame), None, "in use by another");
            assert_eq!(self.core.cached[slot].replace(frame), None, "stale");
        }
        fn clear(&mut self, slot: usize) {
            self.entries[slot] = None;
        }
        fn frame(&self, slot: usize) -> Option<Frame> {
            self.entries[slot]
        }
        fn forget_all(&mut self) {
            self.core.cached.clone_from(self.entries);
            self.core.flushes += 1;
        }
    }

    proptest! {
        /// Of two vCPUs, neither gets a slot that the other uses, nor one whose translation it has cached.
        #[test]
        fn no_slot_is_used_twice_or_stale(steps in proptest::collection::vec((0usize..2, 0u64..24, 0usize..20), 1..600)) {
            let domain = Domain::new(2);
            let slots = 2 * SLOTS_OF_VCPU;
            let mut entries = vec![None; slots];
            let mut cores = [(); 2].map(|()| Core { cached: vec![None; slots], flushes: 0 });
            let mut own = [OfVcpu::default(), OfVcpu::default()];
            let mut open: [Vec<(Frame, usize)>; 2] = [Vec::new(), Vec::new()];
            for (vcpu, number, close) in steps {
                let mut view = View { entries: &mut entries, core: &mut cores[vcpu] };
                if open[vcpu].len() < 8 {
                    match domain.map(&mut own[vcpu], &mut view, frame(number)) {
                        Ok((slot, _)) => {
                            prop_assert_eq!(view.entries[slot], Some(frame(number)));
                            prop_assert!(open[1 - vcpu].iter().all(|(_, other)| *other != slot));
                            open[vcpu].push((frame(number), slot));
                        }
                        Err(MapError::TooDeep) => prop_assert!(false, "8 of 16 are mapped"),
                    }
                }
                if close < open[vcpu].len() {
                    let (_, slot) = open[vcpu].swap_remove(close);
                    domain.release(&mut own[vcpu], &mut view, slot);
                }
            }
        }
    }

    #[test]
    fn a_wrap_flushes_each_vcpu_once() {
        let domain = Domain::new(1);
        let mut entries = vec![None; SLOTS_OF_VCPU];
        let mut core = Core { cached: vec![None; SLOTS_OF_VCPU], flushes: 0 };
        let mut own = OfVcpu::default();
        for number in 0..4 * SLOTS_OF_VCPU as u64 {
            let mut view = View { entries: &mut entries, core: &mut core };
            let (slot, _) = domain.map(&mut own, &mut view, frame(number)).unwrap();
            domain.release(&mut own, &mut view, slot);
        }
        // Eight of the sixteen are in the hash, so that each wrap frees eight.
        assert_eq!(core.flushes, 6);
    }
}
