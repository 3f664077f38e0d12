//! An address together with whose it is, by either scheme.

use arch::address::{EffectiveAddress, RealAddress};

use crate::state::tlb::Space;

/// What an effective address means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Where {
    /// This real address.
    Real(RealAddress),
    /// What has to be translated.
    Virtual(Located),
}

impl Where {
    /// What has to be translated, if it has.
    pub(super) fn located(self) -> Option<Located> {
        match self {
            Self::Real(_) => None,
            Self::Virtual(located) => Some(located),
        }
    }
}

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
