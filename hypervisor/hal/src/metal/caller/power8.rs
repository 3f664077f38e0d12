//! On POWER8 by the interrupt controller: `msgsnd` reaches the sender's core alone. A thread that is called gets an
//! external interrupt. Source: `docs/facts/power8.md#interrupt-presentation`.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use arch::interrupt::Vector;
use hypervisor_core::boot::firmware::Firmware;

use crate::host_state::per_cpu::{THREADS_MAX, own_index};

/// XIRR, accepted by a read and ended by a write; its first byte is CPPR.
const XIRR: u64 = 4;
/// MFRR: the priority of a request between threads.
const MFRR: u64 = 0xC;
/// The priority of a call, as Linux has it, and that of no request, with which a thread wants all others.
const CALL: u8 = 4;
const NONE: u8 = 0xFF;
/// The number of a request between threads, in what XIRR has below CPPR.
const NUMBER: u32 = 0x00FF_FFFF;
const BETWEEN_THREADS: u32 = 2;

/// By index of the thread, where its registers are; 0 for one that has none.
static REGISTERS: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

/// Finds how to call the thread with this index and PIR; whether it can be called.
pub(crate) fn find(index: usize, server: u32, firmware: &Firmware<'_>) -> bool {
    let place = firmware.presentation(server).map_or(0, |registers| registers.0);
    REGISTERS[index].store(place, Ordering::Relaxed);
    place != 0
}

fn registers(index: usize) -> Option<u64> {
    Some(REGISTERS[index].load(Ordering::Relaxed)).filter(|place| *place != 0)
}

fn write_byte(place: u64, value: u8) {
    // SAFETY: firmware says that these are the interrupt controller's; relocation is off.
    unsafe { asm!("stbcix {}, 0, {}", in(reg) value, in(reg) place, options(nostack)) };
}

/// Lets this thread be called.
pub(crate) fn allow() {
    if let Some(place) = registers(own_index()) {
        write_byte(place + MFRR, NONE);
        write_byte(place + XIRR, NONE);
    }
}

/// Calls the thread with this index, behind a `sync`.
pub(crate) fn call(index: usize, _: u32) {
    if let Some(place) = registers(index) {
        write_byte(place + MFRR, CALL);
    }
}

/// Forgets that this thread was called, before a `sync`, if `may_be` says that it may have been.
pub(crate) fn forget(may_be: impl FnOnce() -> bool) {
    let Some(place) = registers(own_index()).filter(|_| may_be()) else { return };
    let xirr: u32;
    // SAFETY: as in `write_byte`; the controller is big-endian.
    unsafe { asm!("lwzcix {}, 0, {}", out(reg) xirr, in(reg) place + XIRR, options(nostack)) };
    match xirr.swap_bytes() & NUMBER {
        0 => {}
        BETWEEN_THREADS => {
            write_byte(place + MFRR, NONE);
            // SAFETY: as above; CPPR is what it was.
            unsafe {
                asm!("stwcix {}, 0, {}", in(reg) xirr, in(reg) place + XIRR, options(nostack))
            };
        }
        // A source that nobody here has asked for: it is in service for good, so that it does not come again.
        _ => write_byte(place + XIRR, NONE),
    }
}

/// What an interrupt of this thread means: an external one is a call if it was called.
pub(crate) fn meaning(vector: Vector, is_called: impl FnOnce() -> bool) -> Vector {
    if vector != Vector::External {
        return vector;
    }
    forget(|| true);
    if is_called() { Vector::DirectedHypervisorDoorbell } else { vector }
}
