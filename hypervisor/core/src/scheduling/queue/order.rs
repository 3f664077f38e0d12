//! vCPUs in the order of a key.

use alloc::collections::VecDeque;

use crate::vcpu_id::VcpuId;

/// A vCPU, behind what it is ordered by.
pub(super) type Place = (u64, VcpuId);

/// Of an order without a vCPU.
pub(super) const NOBODY: Place = (u64::MAX, VcpuId(u32::MAX));

/// vCPUs by a key, the least first. Who comes goes near the end, and who goes is the first.
///
/// The first is apart from the others: where one waits, as when two hand a hardware thread to and fro, that is all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    /// The first of them, or [`NOBODY`].
    pub(super) first: Place,
    /// Those behind it.
    others: VecDeque<Place>,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self { first: NOBODY, others: VecDeque::new() }
    }

    #[inline]
    pub(super) fn insert(&mut self, place: Place) {
        if self.first == NOBODY {
            self.first = place;
        } else {
            self.insert_more(place);
        }
    }

    #[inline(never)]
    fn insert_more(&mut self, place: Place) {
        if place < self.first {
            self.others.push_front(core::mem::replace(&mut self.first, place));
        } else if self.others.back().is_none_or(|last| *last < place) {
            self.others.push_back(place);
        } else {
            let index = self.others.partition_point(|other| *other < place);
            self.others.insert(index, place);
        }
    }

    /// One that is there has another key now.
    #[inline]
    pub(super) fn change(&mut self, from: Place, to: Place) {
        if self.others.is_empty() {
            self.first = to;
        } else {
            self.remove(from);
            self.insert(to);
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, place: Place) {
        if self.others.is_empty() {
            self.first = NOBODY;
        } else {
            self.remove_of_several(place);
        }
    }

    #[inline(never)]
    fn remove_of_several(&mut self, place: Place) {
        if self.first == place {
            self.first = self.others.pop_front().unwrap_or(NOBODY);
        } else if let Ok(index) = self.others.binary_search(&place) {
            self.others.remove(index);
        }
    }
}
