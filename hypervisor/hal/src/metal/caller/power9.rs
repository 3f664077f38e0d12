//! On POWER9 by `msgsnd`, which reaches all threads.

use core::arch::asm;

use arch::interrupt::Vector;
use hypervisor_core::boot::firmware::Firmware;

/// `msgsnd` and `msgclr` to hypervisor state, RB field 32:36.
const HYPERVISOR_DOORBELL: u64 = 5 << 27;

/// Finds how to call the thread with this index and PIR; whether it can be called, as all can.
pub(crate) const fn find(_: usize, _: u32, _: &Firmware<'_>) -> bool {
    true
}

/// Lets this thread be called: it can be.
pub(crate) const fn allow() {}

/// Calls the thread with this index and PIR, behind a `sync`.
#[inline(always)]
pub(crate) fn call(_: usize, server: u32) {
    const MSGSND: u32 = 31 << 26 | 4 << 11 | 206 << 1; // msgsnd r4
    let message = HYPERVISOR_DOORBELL | u64::from(server);
    // SAFETY: a message to a thread that the hypervisor runs on.
    unsafe { asm!(".long {}", const MSGSND, in("r4") message, options(nostack)) };
}

/// Forgets that this thread was called, before a `sync`. It may not have been.
#[inline(always)]
pub(crate) fn forget(_: impl FnOnce() -> bool) {
    const MSGCLR: u32 = 31 << 26 | 4 << 11 | 238 << 1; // msgclr r4
    const MSGSYNC: u32 = 31 << 26 | 886 << 1;
    // SAFETY: a message that nobody else gets, and a barrier.
    unsafe {
        asm!(
            ".long {clear}", ".long {synchronize}",
            clear = const MSGCLR, synchronize = const MSGSYNC,
            in("r4") HYPERVISOR_DOORBELL, options(nostack)
        );
    }
}

/// What an interrupt of this thread means: it says itself whether that is a call.
#[inline(always)]
pub(crate) fn meaning(vector: Vector, _: impl FnOnce() -> bool) -> Vector {
    vector
}
