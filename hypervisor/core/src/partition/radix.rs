//! A partition with radix translation: its LPCR, and what its device tree says about translation.
//!
//! Source: `docs/facts/kvm-exit.md#lpcr-of-a-partition`, `docs/facts/papr.md#device-tree-of-a-partition`.

use core::fmt;

use arch::address::GuestRealAddress;
use arch::processor::Processor;
use arch::registers::lpcr;

/// Its part of LPCR.
pub(super) const LPCR: u64 = lpcr::UPRT | lpcr::HR;

/// What is set in LPCR as it starts: the guest issues `tlbie` itself.
pub(super) const LPCR_AT_START: u64 = lpcr::GTSE;

/// Bytes of `ibm,architecture-vec-5`: radix translation, and that the guest issues `tlbie`.
pub(super) const ARCHITECTURE_VECTOR_5: [(usize, u8); 2] = [(24, 0x40), (26, 0x40)];

/// A byte of `ibm,pa-features`, and its bit.
pub(super) const FEATURE: (usize, u8) = (40, 0x80);

/// The two bits of an address that name a quadrant are not part of it on the way through the second stage.
const GUEST_REAL_MASK: u64 = 0x3FFF_FFFF_FFFF_FFFF;

/// The processor has no radix translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRadix(Processor);

impl fmt::Display for NoRadix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no radix translation: give the partition translation = \"hash\"", self.0)
    }
}

/// Whether partitions may have radix translation.
///
/// # Errors
/// [`NoRadix`].
pub fn check(processor: Processor) -> Result<(), NoRadix> {
    if processor.facts().has_radix() { Ok(()) } else { Err(NoRadix(processor)) }
}

/// What ASDR has of an access that the second stage did not translate: its guest real address, to 4 KiB.
#[must_use]
pub const fn guest_real(asdr: u64) -> GuestRealAddress {
    GuestRealAddress(asdr & GUEST_REAL_MASK)
}
