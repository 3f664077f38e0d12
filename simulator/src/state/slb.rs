//! The segment lookaside buffer's entries: Power ISA 3.0B Book III, SLB Management.

pub use arch::hash::segment::{ESID, V as VALID};
use serde::{Deserialize, Serialize};

/// An entry as `slbmte` gives it, without its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SlbEntry {
    /// ESID and V.
    pub esid: u64,
    /// B, VSID, keys, N, L, C and LP.
    pub vsid: u64,
}

/// ESID bits of a segment of 1 TiB.
const LARGE_ESID: u64 = 0xFFFF_FF00_0000_0000;

impl SlbEntry {
    /// B: 0 for a segment of 256 MiB, 1 for one of 1 TiB.
    #[must_use]
    pub fn size(self) -> u64 {
        self.vsid >> 62
    }

    /// log2 of its segment's bytes.
    #[must_use]
    pub fn segment_log2(self) -> u32 {
        if self.size() == 1 { 40 } else { 28 }
    }

    /// Whether both are valid and have an address in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.esid & other.esid & VALID != 0
            && (self.matches(other.esid) || other.matches(self.esid))
    }

    /// Whether it is valid and translates `address`.
    #[must_use]
    pub fn matches(self, address: u64) -> bool {
        let significant = if self.size() == 1 { LARGE_ESID } else { ESID };
        self.esid & VALID != 0 && (self.esid ^ address) & significant == 0
    }
}
