//! What `tlbie` and `tlbiel` remove from a core, and removals that other cores have yet to make.
//!
//! The core that issues a `tlbie` makes it at once, which the architecture allows. Other cores make it
//! as late as the architecture allows: when the issuing thread executes `ptesync` behind a `tlbsync`.
//! Software that leaves one of them out finds translations that should be gone.

use std::ops::RangeInclusive;

use arch::address::GuestRealAddress;
use serde::{Deserialize, Serialize};

use super::tlb::{RADIX_PAGES_LOG2, Space, Translation};
use crate::state::cores::Core;

/// The bits of an effective address that choose a quadrant, in each.
const QUADRANTS: [u64; 4] = [0, 1 << 62, 2 << 62, 3 << 62];

/// How much is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Extent {
    /// The translations of one page; for process scope, of this PID.
    Page {
        /// PID, with process scope.
        pid: Option<u32>,
        /// Effective address without its quadrant, or guest real address.
        address: u64,
        /// log2 of the page size.
        page_log2: u32,
    },
    /// The translations of one page of virtual addresses.
    VirtualPage {
        /// The virtual address, its low 64 bits.
        address: u64,
        /// From here on its bits are compared: log2.
        compare_log2: u32,
        /// log2 of the segment's bytes.
        segment_log2: u32,
        /// log2 of the base page size.
        base_log2: u32,
        /// log2 of the actual page size; no other is removed.
        page_log2: u32,
    },
    /// Everything of one PID.
    Pid(u32),
    /// Everything.
    Everything,
}

/// One `tlbie` or `tlbiel`, understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Invalidation {
    /// Whose; `None` for all partitions.
    pub lpid: Option<u32>,
    /// R=0: hashed translations instead of radix ones.
    pub is_hashed: bool,
    /// PRS: process-scoped parts instead of partition-scoped ones.
    pub is_process: bool,
    /// How much.
    pub extent: Extent,
    /// Translations: RIC 0 and 2.
    pub translations: bool,
    /// Directories of the walk: RIC 1 and 2.
    pub directories: bool,
    /// Table entries: RIC 2.
    pub tables: bool,
}

impl Invalidation {
    /// Whether it removes a translation of `space` for a page of 2^`own_log2` bytes at `address`, which lies
    /// at `guest_real` if the partition-scoped stage took part.
    #[must_use]
    pub fn removes(
        &self,
        space: Space,
        address: u64,
        own_log2: u32,
        guest_real: Option<GuestRealAddress>,
    ) -> bool {
        if self.is_hashed != space.is_hashed() || self.lpid.is_some_and(|lpid| lpid != space.lpid())
        {
            return false;
        }
        match self.extent {
            Extent::VirtualPage {
                address: wanted,
                compare_log2,
                segment_log2,
                base_log2,
                page_log2,
            } => {
                let Space::Virtual(segment) = space else { return false };
                (segment.log2, segment.base_log2, own_log2) == (segment_log2, base_log2, page_log2)
                    && (segment.virtual_address(address) ^ wanted) >> compare_log2 == 0
            }
            Extent::Everything if self.is_hashed => !self.is_process,
            Extent::Page { pid, address: wanted, page_log2 } => {
                let log2 = own_log2.max(page_log2);
                if self.is_process {
                    space.pid() == pid && address << 2 >> 2 >> log2 == wanted >> log2
                } else {
                    guest_real.is_some_and(|page| page.0 >> log2 == wanted >> log2)
                }
            }
            Extent::Pid(pid) => space.pid() == Some(pid),
            Extent::Everything if self.is_process => space.is_process(),
            Extent::Everything => guest_real.is_some(),
        }
    }

    /// Where in the TLB what it removes can be, if that is not everywhere: log2 of a page's bytes, and addresses.
    fn places(&self) -> Option<Vec<(u32, RangeInclusive<u64>)>> {
        let around = |address: u64, log2: u32| {
            let first = address >> log2 << log2;
            first..=first | ((1 << log2) - 1)
        };
        match self.extent {
            Extent::VirtualPage { address, compare_log2, segment_log2, page_log2, .. } => {
                let offset = address & ((1 << segment_log2) - 1);
                Some(vec![(page_log2, around(offset, compare_log2.min(segment_log2)))])
            }
            Extent::Page { address, page_log2, .. } if self.is_process => {
                let own = RADIX_PAGES_LOG2.into_iter();
                let places = own.flat_map(|own_log2| {
                    let log2 = own_log2.max(page_log2);
                    QUADRANTS.map(|quadrant| (own_log2, around(quadrant | address, log2)))
                });
                Some(places.collect())
            }
            Extent::Page { .. } | Extent::Pid(_) | Extent::Everything => None,
        }
    }

    /// Removes it from `core`.
    pub fn apply(&self, core: &mut Core) {
        if self.translations {
            let removes = |space, page, translation: &Translation| {
                let Translation { page_log2, guest_real, hashed, .. } = *translation;
                let page = hashed.map_or(page, |hashed| hashed.base_page);
                self.removes(space, page, page_log2, guest_real)
            };
            match self.places() {
                Some(places) => places.into_iter().for_each(|(page_log2, addresses)| {
                    core.tlb.invalidate_within(page_log2, addresses, removes);
                }),
                None => core.tlb.invalidate(removes),
            }
        }
        if self.directories || self.tables {
            let pid = match self.extent {
                Extent::Pid(pid) => Some(pid),
                Extent::Page { .. } | Extent::VirtualPage { .. } | Extent::Everything => None,
            };
            core.walk_cache.invalidate(self.lpid, self.is_process, pid, self.tables);
        }
    }
}

/// Invalidations of one thread that other cores have not made yet.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Outstanding {
    issued: Vec<Invalidation>,
    ordered: Vec<Invalidation>,
}

impl Outstanding {
    /// `tlbie` was executed.
    pub fn issue(&mut self, invalidation: Invalidation) {
        self.issued.push(invalidation);
    }

    /// `tlbsync` was executed.
    pub fn order(&mut self) {
        self.ordered.append(&mut self.issued);
    }

    /// `ptesync` was executed: what other cores must make now.
    #[must_use]
    pub fn complete(&mut self) -> Vec<Invalidation> {
        std::mem::take(&mut self.ordered)
    }
}

#[cfg(test)]
mod tests {
    use arch::address::RealAddress;
    use proptest::prelude::*;

    use super::{Extent, Invalidation};
    use crate::state::cores::Core;
    use crate::state::tlb::{Hashed, RADIX_PAGES_LOG2, Segment, Space, Tlb, Translation};

    /// Few processes and pages, so that many of them are the invalid one.
    fn of_a_process() -> impl Strategy<Value = (Space, u64, u32)> {
        let sizes = prop::sample::select(RADIX_PAGES_LOG2.to_vec());
        (0..2u32, 0..2u32, sizes, 0..4u64, 0..3u64, 0..3u64, 0..3u64).prop_map(
            |(lpid, pid, page_log2, quadrant, huge, large, small)| {
                let address = quadrant << 62 | huge << 30 | large << 21 | small << 12;
                (Space::Process { lpid, pid }, address, page_log2)
            },
        )
    }

    /// Few segments and pages, so that many of them are the invalid one.
    fn place() -> impl Strategy<Value = (Segment, u64, u32)> {
        let segment = (0..2u32, 0..2u64, prop::sample::select(vec![(28, 12), (40, 12), (28, 16)]));
        let page = (prop::sample::select(vec![12, 16, 24, 34]), 0..4u64, 0..20u64);
        (segment, page).prop_map(|((lpid, vsid, (log2, base_log2)), (page_log2, large, small))| {
            let offset = (large << 24 | small << 12) & ((1 << log2) - 1);
            (Segment { lpid, vsid, log2, base_log2 }, offset, page_log2)
        })
    }

    fn translation(page_log2: u32, hashed: Option<Hashed>) -> Translation {
        let real = RealAddress(0);
        Translation { page_log2, real, guest_real: None, process: None, partition: None, hashed }
    }

    /// What is removed among the places where it can be is what is removed among all.
    fn check(tlb: Tlb, invalidation: Invalidation) -> Result<(), TestCaseError> {
        let is_kept = |&(space, page, translation): &(Space, u64, &Translation)| {
            let page = translation.hashed.map_or(page, |hashed| hashed.base_page);
            !invalidation.removes(space, page, translation.page_log2, None)
        };
        let mut core = Core::new(0);
        core.tlb = tlb.clone();
        invalidation.apply(&mut core);
        let expected: Vec<_> = tlb.entries().filter(is_kept).collect();
        prop_assert_eq!(core.tlb.entries().collect::<Vec<_>>(), expected.clone());
        let is_removed = expected.len() < tlb.entries().count();
        prop_assert_eq!(core.tlb.generation() > tlb.generation(), is_removed);
        Ok(())
    }

    const NOTHING: Invalidation = Invalidation {
        lpid: None,
        is_hashed: false,
        is_process: false,
        extent: Extent::Everything,
        translations: true,
        directories: false,
        tables: false,
    };

    proptest! {
        #[test]
        fn a_page_of_a_process_is_looked_for_where_it_can_be(
            places in prop::collection::vec(of_a_process(), 1..40),
            (space, address, page_log2) in of_a_process(),
        ) {
            let mut tlb = Tlb::default();
            for (space, address, page_log2) in places {
                tlb.insert(space, address, translation(page_log2, None));
            }
            let (pid, address) = (space.pid(), address << 2 >> 2);
            let extent = Extent::Page { pid, address, page_log2 };
            let lpid = Some(space.lpid());
            check(tlb, Invalidation { lpid, is_process: true, extent, ..NOTHING })?;
        }

        #[test]
        fn a_virtual_page_is_looked_for_where_it_can_be(
            places in prop::collection::vec(place(), 1..40),
            (segment, offset, page_log2) in place(),
            compares_base in any::<bool>(),
        ) {
            let mut tlb = Tlb::default();
            for (segment, offset, page_log2) in places {
                let hashed = Hashed { second: 0, place: 0, base_page: offset };
                tlb.insert(Space::Virtual(segment), offset, translation(page_log2, Some(hashed)));
            }
            let extent = Extent::VirtualPage {
                address: segment.virtual_address(offset),
                compare_log2: if compares_base { 12 } else { page_log2 },
                segment_log2: segment.log2,
                base_log2: segment.base_log2,
                page_log2,
            };
            let lpid = Some(segment.lpid);
            check(tlb, Invalidation { lpid, is_hashed: true, extent, ..NOTHING })?;
        }
    }
}
