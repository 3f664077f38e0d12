//! Builds the bare-metal programs.
//!
//! There is no target of rustc's own for bare POWER in little-endian, so core is built with the
//! programs, from the sources of the compiler that builds them. That is the active toolchain if it
//! has the sources (`rustup component add rust-src`), else Debian's compiler and source package.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

use crate::setup::setup;
use crate::toolchain::Toolchain;
use crate::workspace::{Package, Workspace, run};

const TARGET: &str = "powerpc64le-powervisor";
const HYPERVISOR: &str = "hypervisor-image";
/// The hypervisor's program for POWER8, and the feature that it needs.
const POWER8: [&str; 2] = ["hypervisor-power8", "power8"];
/// The file with the hypervisor's programs for all processors, and how its build script finds these.
const BOTH: &str = "hypervisor-both";
const PARTS: &str = "POWERVISOR_PARTS";

/// The feature of a payload that can also be a kernel of its own, and what its image is then called besides. That is
/// built last, as its program has the payload's name.
const BARE: &str = "bare";
const BARE_SUFFIX: &str = "-bare";

/// Builds all images and copies them to where the powervisor command looks for them.
pub(crate) fn images(workspace: &Workspace) -> Result<()> {
    setup()?;
    let toolchain = Toolchain::find()
        .context("no Rust compiler with the sources of core; run `cargo xtask setup`")?;
    let target = workspace.root.join("hypervisor/image").join(TARGET).with_extension("json");
    let built = workspace.target.join("bare");
    let programs = built.join(TARGET).join("release");
    let images = || workspace.packages.iter().filter(|package| !package.programs.is_empty());
    // Apart, because cargo gives crates that are built together the features that any of them asks for, and
    // the payloads have no heap.
    let hypervisor = images().filter(|image| image.name == HYPERVISOR).collect();
    let both = images().filter(|image| image.name == BOTH).collect();
    let guests: Vec<_> = images().filter(|image| image.is_guest()).collect();
    let bare = guests.iter().copied().filter(|guest| guest.has_feature(BARE)).collect();
    let [program, feature] = POWER8;
    let build = |packages: &Vec<&Package>, others: &[&str]| {
        let mut command = toolchain.cargo();
        command
            .args(["build", "--quiet", "--release", "-Zbuild-std=core,alloc"])
            .arg("-Zbuild-std-features=compiler-builtins-mem")
            .args(toolchain.target_file_flag())
            .arg("--target")
            .arg(&target)
            .arg("--target-dir")
            .arg(&built)
            .args(packages.iter().flat_map(|package| ["--package", &package.name]))
            .args(others)
            .env(PARTS, &programs)
            .current_dir(&workspace.root);
        run(&mut command).context("building the images")
    };
    let copy = |packages: &Vec<&Package>, suffix: &str| {
        for program in packages.iter().flat_map(|image| &image.programs) {
            let from = programs.join(program);
            renew(&from, &workspace.images().join(format!("{program}{suffix}")))
                .with_context(|| format!("copying {}", from.display()))?;
        }
        Ok(())
    };
    build(&hypervisor, &[])?;
    build(&hypervisor, &["--features", feature, "--bin", program])?;
    build(&both, &[])?;
    build(&guests, &[])?;
    fs::create_dir_all(workspace.images())?;
    copy(&hypervisor, "")?;
    copy(&both, "")?;
    copy(&guests, "")?;
    build(&bare, &["--features", BARE])?;
    copy(&bare, BARE_SUFFIX)
}

/// Copies a file where it is not there already: others may be reading it.
fn renew(from: &Path, to: &Path) -> io::Result<()> {
    let bytes = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let half = to.with_extension("new");
    fs::copy(from, &half)?;
    fs::rename(half, to)
}
