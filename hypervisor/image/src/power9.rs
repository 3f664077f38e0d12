//! The hypervisor for POWER9, as OPAL starts it: `hal` brings the machine up, `core` runs the partitions.
//!
//! There is nothing else in this crate but the linker script and the target description. Built for
//! the host it is a program that only says what it is.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
hal::entry!(hypervisor_core::run::run);

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("hypervisor-power9: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
