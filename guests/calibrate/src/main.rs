//! calibrate: micro-benchmarks for what is published about POWER9, bare under OPAL.
//!
//! Each case is a loop between two marks, run once to warm up and once to be measured. On our machine
//! `powervisor calibrate` reads the marks; on hardware the same image prints time-base ticks on the
//! console, so that owners can put their own figures beside the model's.
//!
//! `boot.S` brings a thread from firmware's entry to the list of cases, `case.S` has the macros that a
//! case is written with, the other files are the cases by subject.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod program {
    use core::arch::global_asm;
    use core::panic::PanicInfo;

    global_asm!(
        include_str!("case.S"),
        include_str!("boot.S"),
        include_str!("arithmetic.S"),
        include_str!("branches.S"),
        include_str!("memory.S"),
        include_str!("synchronization.S"),
        include_str!("registers.S"),
        include_str!("real_mode_return.S"),
        include_str!("exit_ladder.S"),
        include_str!("loops.S"),
        include_str!("siblings.S"),
        include_str!("lines.S"),
        include_str!("translation.S"),
        include_str!("curves.S"),
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
    eprintln!("calibrate: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
