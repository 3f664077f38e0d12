//! vCPUs in the order of a key.

use alloc::collections::VecDeque;

use crate::vcpu_id::VcpuId;

/// A vCPU, behind what it is ordered by.
pub(super) type Place = (u64, VcpuId);

/// Of an order without a vCPU.
pub(super) const NOBODY: Place = (u64::MAX, VcpuId(u32::MAX));

/// vCPUs by a key, the least first. Who comes goes near the end, and who goes is the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    places: VecDeque<Place>,
    /// The first of them, or [`NOBODY`].
    pub(super) first: Place,
}

impl Order {
    pub(super) const fn new() -> Self {
        Self { places: VecDeque::new(), first: NOBODY }
    }

    pub(super) fn insert(&mut self, place: Place) {
        if self.places.back().is_none_or(|last| *last < place) {
            self.places.push_back(place);
        } else {
            let index = self.places.partition_point(|other| *other < place);
            self.places.insert(index, place);
        }
        self.first = self.first.min(place);
    }

    /// One that is there has another key now.
    pub(super) fn change(&mut self, from: Place, to: Place) {
        if self.places.len() == 1 {
            self.places[0] = to;
            self.first = to;
        } else {
            self.remove(from);
            self.insert(to);
        }
    }

    pub(super) fn remove(&mut self, place: Place) {
        if self.first == place {
            self.places.pop_front();
        } else if let Ok(index) = self.places.binary_search(&place) {
            self.places.remove(index);
        }
        self.first = self.places.front().copied().unwrap_or(NOBODY);
    }
}
