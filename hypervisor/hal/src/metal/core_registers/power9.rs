//! On POWER9 each thread has them.

use core::arch::asm;

use arch::registers::msr;
use hypervisor_core::hal::SplitError;
use hypervisor_core::partition::Common;
use hypervisor_core::vcpu::registers::{Registers, Supervisor};

use super::super::segments::{self, is_hashed};
use crate::host_space::region;
use crate::registers::{isync, ptesync, read, spr, write};

/// The largest value that the hypervisor decrementer is given for a vCPU, 131 ms of a 512 MHz time base: it comes out
/// every so often even if it has no time to leave, so that a doorbell that interrupts nobody, as on QEMU where the
/// guest has MSR\[EE\]=0, is late and not lost.
pub(in super::super) const LONGEST_STAY: u64 = (1 << 26) - 1;

/// This thread alone takes back a partition's translations by `tlbiel`.
pub(in super::super) use crate::host_state::per_cpu::own_index as home;

/// Whether LPIDR names the partition, whose call is answered: as the hypervisor is translated, it does with relocation
/// off alone (`hash.S`).
pub(in super::super) fn is_in_partition(_: u32) -> bool {
    let value: u64;
    // SAFETY: reads the register.
    unsafe { asm!("mfmsr {}", out(reg) value, options(nomem, nostack)) };
    value & msr::DR == 0
}

/// Whoever makes translations forgotten waits until they are.
pub(in super::super) const fn catch_up(_: u32) {}

/// The same.
pub(in super::super) const fn catch_up_at_once(_: u32) {}

/// A core of a POWER9 is whole.
pub(in super::super) const fn split_cores(_: u32) -> Result<(), SplitError> {
    Err(SplitError::Impossible)
}

/// Threads share no core.
pub(in super::super) fn take(lpid: u32) {
    unreachable!("each thread has its own LPIDR, not {lpid} for all of a core");
}

/// Another vCPU comes to this thread: the partition that [`change_partition`] has to make LPIDR name, if one.
///
/// # Safety
/// Between two vCPUs: what the one before has left in these registers is nothing to this one.
#[inline(always)]
pub(in super::super) unsafe fn come(from: &Registers, common: Common) -> Option<u64> {
    let lpid = u64::from(common.lpid);
    let before = read::<{ spr::LPIDR }>();
    if before == lpid {
        return None;
    }
    region::change_partition(common.lpid);
    if before == 0 || is_hashed(common.lpcr) {
        // One with a hashed page table gets it as it enters.
        let lpid = if is_hashed(common.lpcr) { 0 } else { lpid };
        // SAFETY: the caller's promise.
        unsafe { come_with_segments(from, common.lpcr, lpid) };
        return None;
    }
    Some(lpid)
}

/// # Safety
/// As [`come`].
#[cold]
#[inline(never)]
unsafe fn come_with_segments(from: &Registers, lpcr: u64, lpid: u64) {
    ptesync();
    isync();
    segments::change(from, lpcr);
    // SAFETY: the caller's promise; quadrant 3, where the hypervisor is, implies LPID 0.
    unsafe { write::<{ spr::LPIDR }>(lpid) };
}

/// LPIDR names this partition. The next `isync` waits for it.
///
/// # Safety
/// As [`come`].
#[inline(always)]
pub(in super::super) unsafe fn change_partition(lpid: u64) {
    // Stores of another partition must not drain under this one's LPID.
    ptesync();
    isync();
    // SAFETY: the caller's promise; quadrant 3, where the hypervisor is, implies LPID 0.
    unsafe { write::<{ spr::LPIDR }>(lpid) };
}

/// A vCPU leaves this thread `now`, whose VTB is so far behind the time base. A read waits some 40 cycles.
#[inline(always)]
pub(in super::super) fn leave(into: &mut Supervisor, now: u64, behind: u64) {
    into.vtb = now.wrapping_sub(behind);
}

/// VTB of the vCPU that enters.
///
/// # Safety
/// Only before that one is entered.
#[inline(always)]
pub(in super::super) unsafe fn set_virtual_time(virtual_time: u64) {
    // SAFETY: the caller's promise.
    unsafe { write::<{ spr::VTB }>(virtual_time) };
}

/// The vCPU that enters has to come out at the time `until`, or in [`LONGEST_STAY`] if that is sooner; it is `now`.
///
/// # Safety
/// Only before that one is entered.
#[inline(always)]
pub(in super::super) unsafe fn set_timer(until: u64, now: u64) {
    // SAFETY: the caller's promise.
    unsafe { write::<{ spr::HDEC }>(until.saturating_sub(now).clamp(1, LONGEST_STAY)) };
}
