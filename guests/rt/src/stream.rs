//! The four kernels of STREAM, in vectors of two doubles, for payloads whose code is compiled without floating point.
//!
//! Each goes once through arrays of doubles, a line of the caches in each round. Numbers are the bits of an `f64`.

use core::arch::asm;

use arch::registers::msr;

/// Doublewords of a round.
pub const LINE: usize = 16;

/// Allows floating point and vectors, as a kernel does.
pub fn allow() {
    // SAFETY: the payload's own code has neither; this makes no difference to it.
    unsafe {
        asm!(
            "mfmsr {0}",
            "or {0}, {0}, {1}",
            "mtmsrd {0}",
            "isync",
            out(reg) _,
            in(reg) msr::FP | msr::VEC | msr::VSX,
            options(nostack),
        );
    }
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// As STREAM calls it.
    pub name: &'static str,
    /// Arrays that it goes through, by which STREAM reckons its bytes.
    pub arrays: usize,
    /// Writes the first array by the other two and a factor.
    pub run: fn(&mut [u64], &[u64], &[u64], u64),
}

macro_rules! kernel {
    ($name:ident: $($instruction:literal)*) => {
        #[inline(never)]
        fn $name(to: &mut [u64], one: &[u64], other: &[u64], factor: u64) {
            assert!(to.len() == one.len() && to.len() == other.len(), "arrays of one length");
            assert!(!to.is_empty() && to.len().is_multiple_of(LINE), "whole lines");
            // SAFETY: goes once through the arrays, which are whole lines of one length. The compiler's code uses no
            // floating-point and no vector register.
            unsafe {
                asm!(
                    "mtctr {lines}",
                    "lxvdsx 3, 0, {factor}",
                    "2:",
                    ".irp place, 0, {p1}, {p2}, {p3}, {p4}, {p5}, {p6}, {p7}",
                    $($instruction,)*
                    ".endr",
                    "addi {to}, {to}, 128",
                    "addi {one}, {one}, 128",
                    "addi {other}, {other}, 128",
                    "bdnz 2b",
                    lines = in(reg) to.len() / LINE,
                    factor = in(reg_nonzero) &raw const factor,
                    p1 = in(reg_nonzero) 16,
                    p2 = in(reg_nonzero) 32,
                    p3 = in(reg_nonzero) 48,
                    p4 = in(reg_nonzero) 64,
                    p5 = in(reg_nonzero) 80,
                    p6 = in(reg_nonzero) 96,
                    p7 = in(reg_nonzero) 112,
                    to = inout(reg_nonzero) to.as_mut_ptr() => _,
                    one = inout(reg_nonzero) one.as_ptr() => _,
                    other = inout(reg_nonzero) other.as_ptr() => _,
                    out("ctr") _,
                    options(nostack),
                );
            }
        }
    };
}

kernel!(copy: "lxvd2x 0, \\place, {one}" "stxvd2x 0, \\place, {to}");
kernel!(scale: "lxvd2x 0, \\place, {one}" "xvmuldp 0, 0, 3" "stxvd2x 0, \\place, {to}");
kernel!(add:
    "lxvd2x 0, \\place, {one}" "lxvd2x 1, \\place, {other}" "xvadddp 0, 0, 1" "stxvd2x 0, \\place, {to}");
kernel!(triad:
    "lxvd2x 0, \\place, {one}" "lxvd2x 1, \\place, {other}" "xvmaddadp 0, 1, 3" "stxvd2x 0, \\place, {to}");

/// All of them, in STREAM's order.
pub const KERNELS: [Kernel; 4] = [
    Kernel { name: "copy", arrays: 2, run: copy },
    Kernel { name: "scale", arrays: 2, run: scale },
    Kernel { name: "add", arrays: 3, run: add },
    Kernel { name: "triad", arrays: 3, run: triad },
];
