//! The time base and the decrementer.

use core::arch::asm;

/// The time base.
#[must_use]
pub fn timebase() -> u64 {
    let ticks;
    // SAFETY: reads a counter.
    unsafe { asm!("mfspr {}, 268", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// VTB: what of the time base passed while the vCPU was there.
#[must_use]
pub fn own_time() -> u64 {
    let ticks;
    // SAFETY: reads a counter.
    unsafe { asm!("mfspr {}, 849", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Ticks of the time base in a microsecond, on every machine that there is a description of.
pub const TICKS_PER_MICROSECOND: u64 = 512;

/// So many ticks that the decrementer does not expire during a run: as far as one of 32 bits goes.
pub const NEVER: u64 = i32::MAX as u64;

/// What the decrementer has left, in ticks; negative once it has expired. Of a decrementer with more than 32 bits these
/// are the lower ones.
#[must_use]
pub fn decrementer() -> i32 {
    let left: u64;
    // SAFETY: reads a counter.
    unsafe { asm!("mfspr {}, 22", out(reg) left, options(nomem, nostack)) };
    left as i32
}

/// Sets the decrementer: so many ticks from now it expires.
pub fn set_decrementer(ticks: u64) {
    // SAFETY: an interrupt at most, which the payload has allowed.
    unsafe { asm!("mtspr 22, {}", in(reg) ticks, options(nostack)) };
}
