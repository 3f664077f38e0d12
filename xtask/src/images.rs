//! Builds the bare-metal programs.
//!
//! There is no target of rustc's own for bare POWER in little-endian, so core is built with the
//! programs, from the sources of the compiler that builds them. That is the active toolchain if it
//! has the sources (`rustup component add rust-src`), else Debian's compiler and source package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

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
    let builder = Builder::new(workspace, &workspace.target)?;
    let images = || workspace.packages.iter().filter(|package| !package.programs.is_empty());
    // Apart, because cargo gives crates that are built together the features that any of them asks for, and
    // the payloads have no heap.
    let hypervisor: Vec<_> = images().filter(|image| image.name == HYPERVISOR).collect();
    let both: Vec<_> = images().filter(|image| image.name == BOTH).collect();
    let guests: Vec<_> = images().filter(|image| image.is_guest()).collect();
    let bare: Vec<_> = guests.iter().copied().filter(|guest| guest.has_feature(BARE)).collect();
    let [program, feature] = POWER8;
    let copy = |packages: &[&Package], suffix: &str| {
        for program in packages.iter().flat_map(|image| &image.programs) {
            builder.copy(program, &workspace.images().join(format!("{program}{suffix}")))?;
        }
        Ok(())
    };
    builder.build(&hypervisor, &[])?;
    builder.build(&hypervisor, &["--features", feature, "--bin", program])?;
    builder.build(&both, &[])?;
    builder.build(&guests, &[])?;
    fs::create_dir_all(workspace.images())?;
    copy(&hypervisor, "")?;
    copy(&both, "")?;
    copy(&guests, "")?;
    builder.build(&bare, &["--features", BARE])?;
    copy(&bare, BARE_SUFFIX)
}

/// Builds programs for bare metal.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    workspace: &'a Workspace,
    toolchain: Toolchain,
    /// Where cargo builds.
    built: PathBuf,
}

impl<'a> Builder<'a> {
    /// One that builds in `folder`.
    pub(crate) fn new(workspace: &'a Workspace, folder: &Path) -> Result<Self> {
        let toolchain = Toolchain::find()
            .context("no Rust compiler with the sources of core; run `cargo xtask setup`")?;
        Ok(Self { workspace, toolchain, built: folder.join("bare") })
    }

    /// The folder with the programs.
    fn programs(&self) -> PathBuf {
        self.built.join(TARGET).join("release")
    }

    fn cargo(&self, task: &str, packages: &[&Package], others: &[&str]) -> Command {
        let root = &self.workspace.root;
        let target = root.join("hypervisor/image").join(TARGET).with_extension("json");
        let mut command = self.toolchain.cargo();
        command
            .args([task, "--quiet", "--release", "-Zbuild-std=core,alloc"])
            .arg("-Zbuild-std-features=compiler-builtins-mem")
            .args(self.toolchain.target_file_flag())
            .arg("--target")
            .arg(target)
            .arg("--target-dir")
            .arg(&self.built)
            .args(packages.iter().flat_map(|package| ["--package", &package.name]))
            .args(others)
            .env(PARTS, self.programs())
            .current_dir(root);
        if packages.iter().any(|package| package.name == HYPERVISOR) {
            // Its crates' functions are inlined into each other: of a switch of partitions that is up to a twentieth.
            command.env("CARGO_PROFILE_RELEASE_LTO", "fat");
        }
        command
    }

    fn build(&self, packages: &[&Package], others: &[&str]) -> Result<()> {
        run(&mut self.cargo("build", packages, others)).context("building the images")
    }

    /// Copies a program that was built.
    fn copy(&self, program: &str, to: &Path) -> Result<()> {
        let from = self.programs().join(program);
        renew(&from, to).with_context(|| format!("copying {}", from.display()))
    }

    /// Builds the hypervisor and the images that are `named` into `images`, with their functions in another order for
    /// each `layout` from 1 on.
    pub(crate) fn shuffled(&self, images: &Path, named: &[String], layout: u32) -> Result<()> {
        let shuffle = format!("-Clink-arg=--shuffle-sections=.text.*={layout}");
        let shuffled = |package: &Package, program: &str, feature: Option<&str>| {
            let mut command = self.cargo("rustc", &[package], &["--bin", program]);
            command.args(feature.iter().flat_map(|feature| ["--features", feature]));
            run(command.args(["--", &shuffle])).context("building shuffled images")
        };
        let package = |name: &str| {
            let found = self.workspace.packages.iter().find(|package| package.name == name);
            found.with_context(|| format!("no package is called {name}"))
        };
        let hypervisor = package(HYPERVISOR)?;
        let [power8, feature] = POWER8;
        for program in &hypervisor.programs {
            shuffled(hypervisor, program, (program == power8).then_some(feature))?;
            // Cargo may bring back one that it built before, which is older than the file with all programs.
            let built = fs::File::options().append(true).open(self.programs().join(program))?;
            built.set_modified(SystemTime::now())?;
            self.copy(program, &images.join(program))?;
        }
        let both = package(BOTH)?;
        self.build(&[both], &[])?;
        for program in &both.programs {
            self.copy(program, &images.join(program))?;
            for part in &hypervisor.programs {
                let [whole, part] = [program, part].map(|program| images.join(program));
                ensure!(
                    has_code(&fs::read(&whole)?, &fs::read(&part)?),
                    "{} has another layout than {}",
                    whole.display(),
                    part.display()
                );
            }
        }
        for name in named {
            let payload = payload(self.workspace, name);
            let (package, program, feature) =
                payload.with_context(|| format!("no payload of ours is called {name}"))?;
            shuffled(package, program, feature)?;
            self.copy(program, &images.join(name))?;
        }
        Ok(())
    }
}

/// What the payload of this name is built from, if it is ours: its package, program and feature.
pub(crate) fn payload<'a>(
    workspace: &'a Workspace,
    name: &'a str,
) -> Option<(&'a Package, &'a str, Option<&'static str>)> {
    let (program, feature) = match name.strip_suffix(BARE_SUFFIX) {
        Some(program) => (program, Some(BARE)),
        None => (name, None),
    };
    let has_program = |package: &&Package| package.programs.iter().any(|own| own == program);
    let mut guests = workspace.packages.iter().filter(|package| package.is_guest());
    Some((guests.find(has_program)?, program, feature))
}

/// Whether the file with all of the hypervisor's programs has the code of this one. An image begins where its file
/// does, and image.ld has nothing but code from here to there.
fn has_code(all: &[u8], program: &[u8]) -> bool {
    let code = program.get(0x8000..0x18000);
    code.is_some_and(|code| all.windows(code.len()).any(|part| part == code))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_the_code_of_another_layout_is_found() {
        let program: Vec<u8> = (0..0x2_0000_u32).map(|index| (index / 4 % 251) as u8).collect();
        let all = [&[7; 100], &*program].concat();
        assert!(has_code(&all, &program));
        let mut other = program.clone();
        other.swap(0x9000, 0x9004);
        assert!(!has_code(&all, &other));
        assert!(!has_code(&all, &program[..0x9000]));
    }
}
