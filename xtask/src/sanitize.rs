//! The hypervisor's portable parts under tools that notice what ordinary tests do not.
//!
//! AddressSanitizer runs the tests of core, and of hal's and the payloads' run time's portable halves.
//! Miri would see more; it is no part of a stable toolchain, so a run without it says so.

use std::process::Command;

use anyhow::Result;

use crate::toolchain::host;
use crate::workspace::{Workspace, output, run};

/// What is tested.
const PACKAGES: [&str; 3] = ["hypervisor-core", "hypervisor-hal", "guest-rt"];
/// Random cases of each property under Miri, which is a thousand times slower.
const CASES_UNDER_MIRI: &str = "4";

/// A cargo that takes unstable flags, for the host's own target only.
pub(crate) fn unstable_cargo(workspace: &Workspace, flags: &str) -> Command {
    let mut command = workspace.cargo(&[]);
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags);
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

pub(crate) fn sanitize(workspace: &Workspace) -> Result<()> {
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let mut command = unstable_cargo(workspace, "-Zsanitizer=address");
    command.args(["test", "--quiet", "--lib", "--target", &host()?, "--target-dir"]);
    run(command.arg(workspace.target.join("sanitize")).args(packages.clone()))?;
    println!("sanitize: {} passed under AddressSanitizer", PACKAGES.join(", "));

    if let Err(error) = output(workspace.cargo(&["miri", "--version"]).env("RUSTC_BOOTSTRAP", "1"))
    {
        let why = error.to_string();
        println!(
            "sanitize: SKIPPED Miri, which is not installed: {}",
            why.lines().next().unwrap_or("")
        );
        return Ok(());
    }
    let mut command = workspace.cargo(&["miri", "test", "--quiet", "--lib", "--target-dir"]);
    command.arg(workspace.target.join("miri")).args(packages);
    command.env("RUSTC_BOOTSTRAP", "1").env("PROPTEST_CASES", CASES_UNDER_MIRI);
    // proptest looks for the file of its last failures.
    run(command.env("MIRIFLAGS", "-Zmiri-disable-isolation"))?;
    println!("sanitize: {} passed under Miri", PACKAGES.join(", "));
    Ok(())
}
