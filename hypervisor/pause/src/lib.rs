//! How a hardware thread of the hypervisor waits for another one: it leaves the core to its siblings for a moment.
//!
//! `core` waits, and has no unsafe code; `hal` has it, and depends on `core`. Hence a crate below both.

#![no_std]

/// A moment at very low priority. The priority that the thread had before, which may be the guest's, comes back.
#[inline(always)]
pub fn pause() {
    #[cfg(all(target_arch = "powerpc64", target_os = "none"))]
    {
        const PPR: u16 = arch::registers::spr::Spr::Ppr.number_to_read();
        // SAFETY: it moves the thread's priority and puts it back.
        unsafe {
            core::arch::asm!(
                "mfspr {priority}, {ppr}",
                "or 31, 31, 31",
                "mtspr {ppr}, {priority}",
                priority = out(reg) _,
                ppr = const PPR,
                options(nomem, nostack, preserves_flags)
            );
        }
    }
    #[cfg(not(all(target_arch = "powerpc64", target_os = "none")))]
    core::hint::spin_loop();
}
