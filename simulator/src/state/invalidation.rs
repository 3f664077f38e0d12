//! What `tlbie` and `tlbiel` remove from a core, and removals that other cores have yet to make.
//!
//! The core that issues a `tlbie` makes it at once, which the architecture allows. Other cores make it
//! as late as the architecture allows: when the issuing thread executes `ptesync` behind a `tlbsync`.
//! Software that leaves one of them out finds translations that should be gone.

use arch::address::GuestRealAddress;
use serde::{Deserialize, Serialize};

use super::tlb::{Space, Translation};
use crate::state::cores::Core;

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

    /// Removes it from `core`.
    pub fn apply(&self, core: &mut Core) {
        if self.translations {
            core.tlb.invalidate(|space, page, translation| {
                let Translation { page_log2, guest_real, hashed, .. } = *translation;
                let page = hashed.map_or(page, |hashed| hashed.base_page);
                self.removes(space, page, page_log2, guest_real)
            });
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
