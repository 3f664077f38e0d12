//! A frame of real memory: what one slot shows.

use arch::address::RealAddress;

use super::BUCKETS;

/// Bytes of a frame, as a power of two. Memory is given to partitions in these, so that one is never two partitions'.
pub const FRAME_LOG2: u32 = 16;

/// The number of a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame(u64);

impl Frame {
    /// The first of all.
    pub const ZERO: Self = Self(0);

    /// The one that an address lies in.
    #[must_use]
    pub const fn of(address: RealAddress) -> Self {
        Self(address.0 >> FRAME_LOG2)
    }

    /// Where it begins.
    #[must_use]
    pub const fn start(self) -> RealAddress {
        RealAddress(self.0 << FRAME_LOG2)
    }

    /// Its bucket in the hash.
    pub(super) const fn bucket(self) -> usize {
        self.0 as usize & (BUCKETS - 1)
    }
}
