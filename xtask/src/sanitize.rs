//! The hypervisor's portable parts under tools that notice what ordinary tests do not.
//!
//! AddressSanitizer runs the tests of core, and of hal's and the payloads' run time's portable halves.
//! Miri sees more; it is no part of a stable toolchain, so a run without it says so.

use std::process::Command;

use anyhow::Result;

use crate::outcome::Outcome;
use crate::toolchain::host;
use crate::workspace::{Workspace, output, run};

/// What is tested.
const PACKAGES: [&str; 3] = ["hypervisor-core", "hypervisor-hal", "guest-rt"];
/// Random cases of each property under Miri, which is a thousand times slower.
const CASES_UNDER_MIRI: &str = "4";
/// What brings it.
const MIRI_COMES_BY: &str = "rustup toolchain install nightly --component miri,rust-src";

/// A cargo that takes unstable flags, for the host's own target only.
pub(crate) fn unstable_cargo(workspace: &Workspace, flags: &str) -> Command {
    let mut command = workspace.cargo(&[]);
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags);
    command.env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

pub(crate) fn sanitize(workspace: &Workspace) -> Result<()> {
    let figures = address(workspace)?;
    println!("sanitize: {figures} passed under AddressSanitizer");
    match miri(workspace)? {
        Outcome::Passed(figures) => println!("sanitize: {figures} passed under Miri"),
        Outcome::Skipped(why) => println!("sanitize: SKIPPED Miri: {why}"),
    }
    Ok(())
}

fn packages() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().flat_map(|package| ["--package", package])
}

/// Under AddressSanitizer: which packages.
pub(crate) fn address(workspace: &Workspace) -> Result<String> {
    let mut command = unstable_cargo(workspace, "-Zsanitizer=address");
    command.args(["test", "--quiet", "--lib", "--target", &host()?, "--target-dir"]);
    // A test asks for more memory than there is, and for an error.
    command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
    run(command.arg(workspace.target.join("sanitize")).args(packages()))?;
    Ok(PACKAGES.join(", "))
}

/// Under Miri, if a toolchain has it: which packages.
pub(crate) fn miri(workspace: &Workspace) -> Result<Outcome> {
    let Some(miri) = find_miri(workspace) else {
        return Ok(Outcome::Skipped(format!("no toolchain has it; `{MIRI_COMES_BY}` brings it")));
    };
    let mut command = miri();
    command.args(["test", "--quiet", "--lib", "--target-dir"]);
    command.arg(workspace.target.join("miri")).args(packages());
    command.env("PROPTEST_CASES", CASES_UNDER_MIRI).current_dir(&workspace.root);
    // proptest looks for the file of its last failures.
    run(command.env("MIRIFLAGS", "-Zmiri-disable-isolation"))?;
    Ok(Outcome::Passed(PACKAGES.join(", ")))
}

/// `cargo miri`, of the active toolchain or of the nightly one.
fn find_miri(workspace: &Workspace) -> Option<Box<dyn Fn() -> Command + '_>> {
    let active = || {
        let mut command = workspace.cargo(&["miri"]);
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    };
    let nightly = || {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]);
        // Those that name the active toolchain.
        for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
            command.env_remove(variable);
        }
        command
    };
    if output(active().arg("--version")).is_ok() {
        return Some(Box::new(active));
    }
    output(nightly().arg("--version")).is_ok().then(|| Box::new(nightly) as Box<_>)
}
