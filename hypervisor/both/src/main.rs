//! One file that OPAL starts on a POWER8 and on a POWER9: it holds the image for either, and a few instructions that
//! look at PVR and go on in one of them.
//!
//! All of it is in `both.S` and in the linker script. Built for the host it is a program that only says what it is.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
core::arch::global_asm!(
    include_str!("../../hal/src/metal/little_endian.S"),
    include_str!("both.S"),
    PVR = const arch::registers::spr::Spr::Pvr.number_to_read(),
    POWER8_FIRST = const arch::processor::Processor::Power8.facts().versions[0],
    POWER8_LAST = const arch::processor::Processor::Power8.facts().versions[1],
);

/// Nothing here panics: no function of Rust runs.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("hypervisor: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
