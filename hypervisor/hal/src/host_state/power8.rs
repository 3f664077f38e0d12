//! The registers of the hypervisor's own on POWER8, where it runs with relocation off.

use core::arch::asm;

use arch::registers::{lpcr, msr};

use super::HOST_MSR;

/// Relocation is off: the hypervisor's addresses are real ones, whose top bits do not count.
pub(super) const RELOCATION: u64 = 0;

/// LPCR before the first partition: no hypervisor decrementer, and external interrupts are the hypervisor's.
pub(crate) const HOST_LPCR: u64 = lpcr::DPFD.set(0, 4);

/// There are no tables.
///
/// # Safety
/// None is needed: it does nothing.
pub(super) const unsafe fn announce(_: u64) {}

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
