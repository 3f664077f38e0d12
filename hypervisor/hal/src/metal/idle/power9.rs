//! POWER9: `stop` that loses nothing.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use arch::registers::lpcr;
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::scheduling::doorbell::Doorbell;

use super::super::{facilities, residents};
use super::{DECREMENTER_MAX, poll};
use crate::host_space::region;
use crate::host_state::HOST_LPCR;
use crate::registers::{isync, read, spr, write};

/// PSSCR for waiting, or [`NO_STOP`].
static IDLE: AtomicU64 = AtomicU64::new(NO_STOP);
const NO_STOP: u64 = u64::MAX;

/// Threads wait by the `stop` that firmware tells of, whose EC and ESL are 0, or by polling.
pub(in super::super) fn set_up(firmware: &Firmware<'_>) {
    IDLE.store(firmware.idle_psscr().unwrap_or(NO_STOP), Ordering::Relaxed);
}

/// Waits until the time base is `until` or more, this thread is called, whose doorbell this is, or for nothing.
#[inline(always)]
pub(in super::super) fn wait(until: u64, doorbell: impl FnOnce() -> &'static Doorbell) {
    let psscr = IDLE.load(Ordering::Relaxed);
    region::flush();
    // An alert would end the wait, and nobody takes it here.
    facilities::rest();
    if psscr == NO_STOP {
        return poll(until, doorbell());
    }
    let left = until.saturating_sub(read::<{ spr::TB }>());
    if left == 0 {
        return;
    }
    // SAFETY: EC=0, so the thread goes on behind `stop`; no guest runs on it, and whoever enters one sets
    // these registers again. MSR[EE]=0: what wakes it stays pending.
    unsafe {
        let wakes = lpcr::PECE_DECREMENTER | lpcr::PECE_HYPERVISOR_DOORBELL;
        residents::set_control(HOST_LPCR | wakes);
        write::<{ spr::DEC }>(left.min(DECREMENTER_MAX));
        // What the last guest had left must not expire here: the exception would wait for the next one.
        write::<{ spr::HDEC }>(DECREMENTER_MAX);
        write::<{ spr::PSSCR }>(psscr);
        isync();
        asm!(".long {}", const 19 << 26 | 370 << 1, options(nostack)); // stop
    }
}
