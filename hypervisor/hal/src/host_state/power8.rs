//! The registers of the hypervisor's own on POWER8, where it runs with relocation off.

use core::arch::asm;

use arch::registers::{lpcr, msr};
use hypervisor_core::facilities;

use super::HOST_MSR;
use crate::registers::{isync, spr, write};

/// Relocation is off: the hypervisor's addresses are real ones, whose top bits do not count.
pub(super) const RELOCATION: u64 = 0;

/// LPCR before the first partition: no hypervisor decrementer, and external interrupts are the hypervisor's.
pub(crate) const HOST_LPCR: u64 = lpcr::DPFD.set(0, 4);

/// Sets the registers of this thread up that stay as they are.
///
/// # Safety
/// Relocation is off.
pub(crate) unsafe fn set_up_thread(_: u64) {
    // SAFETY: with relocation off none of them has an effect on the hypervisor.
    unsafe {
        write::<{ spr::LPIDR }>(0);
        write::<{ spr::PIDR }>(0);
        write::<{ spr::LPCR }>(HOST_LPCR);
        write::<{ spr::HFSCR }>(facilities::NOTHING);
        // It prefetches for vCPUs that do not have it too.
        write::<{ spr::DSCR }>(0);
        write::<{ spr::AMOR }>(u64::MAX);
        write::<{ spr::AMR }>(0);
        write::<{ spr::IAMR }>(0);
    }
    isync();
}

/// Sets MSR of the hypervisor.
///
/// # Safety
/// Behind [`set_up_thread`].
pub(crate) unsafe fn begin() {
    const { assert!(HOST_MSR & (msr::IR | msr::DR | msr::EE) == 0) };
    // SAFETY: the same code goes on.
    unsafe { asm!("mtmsrd {}", "isync", in(reg) HOST_MSR) };
}

/// A random number: the processor has no instruction for one.
pub(crate) const fn random() -> Option<u64> {
    None
}
