//! Vector registers, in which a payload's own code keeps nothing.

use core::arch::{asm, global_asm};

use arch::registers::msr;

global_asm!(include_str!("vectors.S"));

unsafe extern "C" {
    fn rt_vectors_fill(value: u64);
    fn rt_vectors_changed(value: u64) -> u64;
}

/// Allows vectors and VSX: MSR\[VEC\] and MSR\[VSX\], as a kernel does.
pub fn allow() {
    // SAFETY: the payload's own code has no vectors; this makes no difference to it.
    unsafe {
        asm!(
            "mfmsr {0}",
            "or {0}, {0}, {1}",
            "mtmsrd {0}",
            "isync",
            out(reg) _,
            in(reg) msr::VEC | msr::VSX,
            options(nostack),
        );
    }
}

/// Fills VSR32 to VSR63 with values made of this one: sums with less than 2^21. Vectors must be allowed.
pub fn fill(value: u64) {
    // SAFETY: the payload's own code keeps nothing in these registers.
    unsafe { rt_vectors_fill(value) };
}

/// Whether one of them does not hold what [`fill`] of this value has left. Vectors must be allowed.
#[must_use]
pub fn have_changed(value: u64) -> bool {
    // SAFETY: reads registers.
    unsafe { rt_vectors_changed(value) != 0 }
}
