//! The hypervisor for POWER8; `power9.rs` is the one for POWER9.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
hal::entry!(hypervisor_core::run::run);

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("hypervisor-power8: a bare-metal program; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
