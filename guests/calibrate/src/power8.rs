//! calibrate-power8: micro-benchmarks for what is published about POWER8, bare under OPAL.
//!
//! What it shares with `calibrate` is the files that both include; `main.rs` says what they are. `hashed.S` has
//! translation by a hashed page table, `power8.S` the other cases that are POWER8's own.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod program {
    use core::arch::global_asm;
    use core::panic::PanicInfo;

    global_asm!(
        ".set POWER8, 1",
        include_str!("case.S"),
        include_str!("boot.S"),
        include_str!("arithmetic.S"),
        include_str!("branches.S"),
        include_str!("memory.S"),
        include_str!("loops.S"),
        include_str!("siblings.S"),
        include_str!("lines.S"),
        include_str!("power8.S"),
        include_str!("hashed.S"),
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
    eprintln!("calibrate-power8: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
