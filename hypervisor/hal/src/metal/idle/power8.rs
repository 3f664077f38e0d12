//! POWER8: `nap`, which loses the thread's own registers and ends by a system reset. `docs/facts/power8.md#nap` has
//! what it asks for.
//!
//! A call is an external interrupt, which stays until its thread accepts it (`caller/power8.rs`). So one that comes
//! between the last look and `nap` ends it at once. The hypervisor decrementer is the core's and ends no `nap`: it is
//! left to the threads that are in their guests.

use core::sync::atomic::{AtomicBool, Ordering};

use arch::interrupt::wake;
use arch::registers::lpcr;
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::scheduling::doorbell::Doorbell;

use super::super::{caller, facilities, residents};
use super::{DECREMENTER_MAX, poll};
use crate::host_space::region;
use crate::host_state::{HOST_LPCR, clear_keys};
use crate::registers::{isync, read, spr, write};

/// Whether threads wait by `nap`.
static NAPS: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// SRR1 of the system reset that ends it.
    fn hal_nap() -> u64;
}

/// Threads wait by `nap` if firmware tells of it, or by polling.
pub(in super::super) fn set_up(firmware: &Firmware<'_>) {
    NAPS.store(firmware.tells_of_nap(), Ordering::Relaxed);
}

/// Waits until the time base is `until` or more, this thread is called, whose doorbell this is, or for nothing.
pub(in super::super) fn wait(until: u64, doorbell: impl FnOnce() -> &'static Doorbell) {
    region::flush();
    // An alert would end the wait, and nobody takes it here.
    facilities::rest();
    if !NAPS.load(Ordering::Relaxed) {
        return poll(until, doorbell());
    }
    let left = until.saturating_sub(read::<{ spr::TB }>());
    if left == 0 {
        return;
    }
    // SAFETY: no guest runs on this thread, and what it had in registers that are lost is in its record; whoever enters
    // one sets these again. MSR[EE]=0: what wakes it stays pending.
    let status = unsafe {
        let wakes = lpcr::PECE_DECREMENTER | lpcr::PECE_EXTERNAL;
        residents::set_control(HOST_LPCR | wakes);
        write::<{ spr::DEC }>(left.min(DECREMENTER_MAX));
        isync();
        let status = hal_nap();
        clear_keys();
        status
    };
    match wake::REASON & status {
        // Behind a call that was cleared before the interrupt was here, nobody else accepts that one.
        wake::EXTERNAL => caller::forget(|| !doorbell().is_rung()),
        wake::DECREMENTER => {}
        _ => panic!("a nap has ended for what was not asked for: SRR1 = {status:#x}"),
    }
}
