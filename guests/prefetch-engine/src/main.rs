//! prefetch-engine: partitions of one vCPU each that take turns on a hardware thread of a POWER8, bare under OPAL.
//!
//! It is a hypervisor of the smallest kind: it gives each partition 32 MiB of its own with relocation off, and goes on
//! to the next one when the hypervisor decrementer says that a slice is over. It can have the core's prefetch engine
//! log what is in the caches behind each slice, and fetch that before the partition's next one.
//!
//! `boot.S` brings the thread from firmware's entry to the first slice and prints what came of it, `switch.S` is what
//! happens between two slices, `work.S` what the partitions execute. The kernel's arguments say how:
//!
//! | argument | is | if left out |
//! |---|---|---|
//! | `vcores=` | partitions, 1 to 4 | 2 |
//! | `kind0=` to `kind3=` | what each does: 0 follows a chain through its memory, 1 reads its memory in order | 0 |
//! | `set0=` to `set3=` | the KiB of its memory that it goes through, a power of two for a chain, up to 30720 | 256 |
//! | `slice=` | microseconds of a slice | 1000 |
//! | `slices=` | slices of the first partition that are measured: region 1, from the end of the slice before | 4 |
//! | `warm=` | turns of all partitions before these, with the timing model | 2 |
//! | `engine=` | 0 off, 1 logs the L2, 2 logs L2 and L3 | 0 |
//! | `rate=` | the rate in MPPR | 0 |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod program {
    use core::arch::global_asm;
    use core::panic::PanicInfo;

    global_asm!(
        include_str!("boot.S"),
        include_str!("switch.S"),
        include_str!("work.S"),
        options(raw)
    );

    /// Nothing here is Rust that could panic.
    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        loop {}
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("prefetch-engine: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
