//! The powervisor command as fast as this toolchain can make it: one unit of optimisation, led by a profile.
//!
//! The profile is taken from an instrumented build that does what people do most. It says how often code runs, and
//! nothing about the machine that is simulated: every figure stays what it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::images::images;
use crate::toolchain::host;
use crate::workspace::{Workspace, output, run};

/// What the profile is taken from: functional and timing mode, one thread and several.
const TRAINING: [&[&str]; 4] = [
    &["run", "experiments/null-hypercall.toml", "--explain"],
    &["run", "experiments/compute.toml"],
    &["boot", "examples/smp.toml", "--timing", "--topology", "1x1x4"],
    &["boot", "examples/preempt.toml"],
];
/// What brings the program that reads profiles.
const PROFDATA_COMES_BY: &str = "rustup component add llvm-tools";

/// Builds the command, without a profile if the toolchain has nothing that reads one, and says where it lies.
pub(crate) fn dist(workspace: &Workspace) -> Result<()> {
    images(workspace)?;
    let built = match if_possible(workspace)? {
        Some(built) => built,
        None => {
            println!(
                "dist: no profile leads the build: `{PROFDATA_COMES_BY}` brings what reads one"
            );
            build(workspace, None)?
        }
    };
    println!("dist: {}", built.display());
    Ok(())
}

/// Builds the command with a profile, if this toolchain can.
pub(crate) fn if_possible(workspace: &Workspace) -> Result<Option<PathBuf>> {
    profdata()?.map(|profdata| profiled(workspace, &profdata)).transpose()
}

/// The toolchain's own: another version does not read its profiles.
fn profdata() -> Result<Option<PathBuf>> {
    let libraries = output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let folder = Path::new(libraries.trim()).parent().context("rustc names no folder")?;
    let profdata = folder.join("bin/llvm-profdata");
    Ok(profdata.is_file().then_some(profdata))
}

fn profiled(workspace: &Workspace, profdata: &Path) -> Result<PathBuf> {
    let folder = workspace.target.join("dist");
    let profile = folder.join("powervisor.profdata");
    let instrumented = instrumented(workspace, &folder.join("raw"))?;
    if !is_newer(&profile, &instrumented) {
        train(workspace, &instrumented, &folder.join("raw"))?;
        let mut merge = Command::new(profdata);
        merge.args(["merge", "--output"]).arg(&profile).arg(folder.join("raw"));
        run(&mut merge)?;
    }
    build(workspace, Some(&profile))
}

/// Builds the command that writes a profile into the folder `raw` when it ends.
fn instrumented(workspace: &Workspace, raw: &Path) -> Result<PathBuf> {
    println!("dist: building the command that takes the profile ...");
    let target = workspace.target.join("dist/instrumented");
    cargo_build(workspace, &target, &format!("-Cprofile-generate={}", raw.display()), &[])
}

fn train(workspace: &Workspace, instrumented: &Path, raw: &Path) -> Result<()> {
    if raw.exists() {
        fs::remove_dir_all(raw).with_context(|| format!("{} cannot be emptied", raw.display()))?;
    }
    for arguments in TRAINING {
        println!("dist: taking the profile of powervisor {} ...", arguments.join(" "));
        output(&mut workspace.command(instrumented, arguments))?;
    }
    Ok(())
}

fn build(workspace: &Workspace, profile: Option<&Path>) -> Result<PathBuf> {
    println!("dist: building the command ...");
    let target = workspace.target.join("dist");
    let flags = profile.map(|profile| format!("-Cprofile-use={}", profile.display()));
    let whole =
        [("CARGO_PROFILE_RELEASE_LTO", "fat"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")];
    cargo_build(workspace, &target, &flags.unwrap_or_default(), &whole)
}

/// Builds for the named host, so that the flags are not for what runs while it builds.
fn cargo_build(
    workspace: &Workspace,
    target: &Path,
    flags: &str,
    settings: &[(&str, &str)],
) -> Result<PathBuf> {
    let host = host()?;
    let mut command =
        workspace.cargo(&["build", "--quiet", "--release", "--package", "powervisor"]);
    command.args(["--target", &host, "--target-dir"]).arg(target);
    command.env("RUSTFLAGS", flags).env_remove("CARGO_ENCODED_RUSTFLAGS");
    run(command.envs(settings.iter().copied()))?;
    Ok(target.join(host).join("release/powervisor"))
}

/// Whether both are there, and the first was written after the second.
fn is_newer(file: &Path, than: &Path) -> bool {
    let written = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    matches!((written(file), written(than)), (Some(file), Some(than)) if file > than)
}
