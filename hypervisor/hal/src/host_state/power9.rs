//! The registers of the hypervisor's own on POWER9: what they hold while no partition runs.

use core::arch::asm;

use arch::registers::{lpcr, msr};

use super::HOST_MSR;
use crate::registers::{spr, write};

/// LPCR before the first partition: radix, interrupts of the hypervisor at the virtual door, none
/// from the interrupt controller, and no hypervisor decrementer.
pub(crate) const HOST_LPCR: u64 =
    lpcr::AIL.set(lpcr::DPFD.set(0, 4), 3) | lpcr::UPRT | lpcr::HR | lpcr::HEIC | lpcr::HVICE;

/// Relocation is on: the hypervisor's addresses are translated by its radix tree.
pub(super) const RELOCATION: u64 = msr::IR | msr::DR;

/// Times that `darn` is asked before it is believed to have no number.
const RANDOM_TRIES: u32 = 10;

/// Says where the tables are.
///
/// # Safety
/// `ptcr` names tables that map the running image at its address; translation is off.
pub(super) unsafe fn announce(ptcr: u64) {
    // SAFETY: the caller's promise.
    unsafe { write::<{ spr::PTCR }>(ptcr) };
}

/// Sets MSR of the hypervisor: translation is on.
///
/// # Safety
/// Behind [`set_up_thread`].
pub(crate) unsafe fn begin() {
    // SAFETY: SLB and ERAT hold nothing that is needed; then the same code goes on, translated.
    unsafe {
        asm!(
            ".long {slbia}",
            "isync",
            "mtmsrd {msr}",
            "isync",
            slbia = const 31 << 26 | 7 << 21 | 498 << 1,   // slbia IH=7: lookaside only
            msr = in(reg) HOST_MSR,
        );
    }
    debug_assert!(HOST_MSR & msr::EE == 0);
}

/// A random number of the processor's own, if it has one now.
pub(crate) fn random() -> Option<u64> {
    (0..RANDOM_TRIES).find_map(|_| {
        let number: u64;
        // SAFETY: `darn` with L=1, a conditioned number; all ones say that there is none.
        unsafe { asm!("darn {}, 1", out(reg) number, options(nomem, nostack)) };
        (number != u64::MAX).then_some(number)
    })
}
