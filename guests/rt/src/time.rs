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

/// Sets the decrementer: so many ticks from now it expires.
pub fn set_decrementer(ticks: u64) {
    // SAFETY: an interrupt at most, which the payload has allowed.
    unsafe { asm!("mtspr 22, {}", in(reg) ticks, options(nostack)) };
}
