//! How a hardware thread with nothing to do waits: the processor's own way, or by polling where firmware tells of none.

#[cfg(feature = "power8")]
mod power8;
#[cfg(not(feature = "power8"))]
mod power9;

#[cfg(feature = "power8")]
pub(super) use power8::*;
#[cfg(not(feature = "power8"))]
pub(super) use power9::*;

use core::arch::asm;

use hypervisor_core::scheduling::doorbell::Doorbell;

use crate::registers::{read, spr};

/// The largest positive value of a decrementer of 32 bits: LPCR\[LD\] is 0 in [`crate::host_state::HOST_LPCR`].
const DECREMENTER_MAX: u64 = 0x7FFF_FFFF;

/// Waits at low priority, so that the core's other threads have it for themselves.
fn poll(until: u64, doorbell: &Doorbell) {
    // SAFETY: hints; r31 and r2 are not changed.
    unsafe { asm!("or 31, 31, 31", options(nomem, nostack, preserves_flags)) };
    while read::<{ spr::TB }>() < until && !doorbell.is_rung() {}
    // SAFETY: as above; medium priority.
    unsafe { asm!("or 2, 2, 2", options(nomem, nostack, preserves_flags)) };
}
