//! The segment lookaside buffer of a partition with radix translation, which has no use for it.

use core::arch::asm;

/// The entries of the segment lookaside buffer that a partition with radix translation can write: LPCR\[UPRT\]
/// is 1 then (Linux's `book3s_hv_p9_entry.c`).
const SEGMENTS: u64 = 4;

/// Forgets what a partition may have left in the segment lookaside buffer, cached translations apart.
#[inline]
pub(crate) fn clear_segments() {
    for index in 0..SEGMENTS {
        // SAFETY: with radix translation nothing looks into the buffer.
        unsafe { asm!("slbmte {}, {}", in(reg) 0, in(reg) index, options(nostack)) };
    }
}
