//! An address together with whose it is, by either scheme.

use arch::address::EffectiveAddress;

use crate::state::tlb::Space;

/// An address that has to be translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Located {
    /// Whose it is.
    pub(super) space: Space,
    /// What it is there.
    pub(super) input: u64,
    /// Hashed: the SLB's doubleword "VSID".
    pub(super) segment: u64,
    /// Hashed: whether the hypervisor gets the storage interrupts.
    pub(super) is_virtualized: bool,
}

impl Located {
    pub(super) fn radix(space: Space, input: u64) -> Self {
        Self { space, input, segment: 0, is_virtualized: false }
    }

    /// What the TLB knows it by: with radix the effective address as it is, quadrant included.
    pub(super) fn key(&self, address: EffectiveAddress) -> u64 {
        if self.space.is_hashed() { self.input } else { address.0 }
    }
}
