//! Linux as its own `powernv_defconfig` has it, compiled from Debian's source: KVM HV was published so configured.
//!
//! Debian's own kernel leaves out what that has: transactions, and the option that saves the performance monitor of
//! guests that may have guests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};

use super::USER_SUITE;
use super::packages::{Client, KVM_MODULES};
use crate::setup::setup_for_kernel;
use crate::workspace::{Workspace, run};

/// The package, and the folder in its archive.
const SOURCE: &str = "linux-source-6.1";
const CONFIGURATION: &str = "powernv_defconfig";
/// What the figures are about; without it they would be of another kernel.
const EXPECTED: [&str; 2] =
    ["CONFIG_PPC_TRANSACTIONAL_MEM=y", "CONFIG_KVM_BOOK3S_HV_NESTED_PMU_WORKAROUND=y"];
const KVM: &str = "arch/powerpc/kvm";
/// The image says when, where and by whom it was made: it is to be the same everywhere.
const SAYS: [&str; 4] = [
    "KBUILD_BUILD_TIMESTAMP=1970-01-01",
    "KBUILD_BUILD_USER=powervisor",
    "KBUILD_BUILD_HOST=powervisor",
    "KBUILD_BUILD_VERSION=1",
];
const STRIP: &str = "powerpc64le-linux-gnu-strip";

/// A kernel, and its KVM HV.
pub(super) struct Compiled {
    pub(super) image: PathBuf,
    pub(super) modules: Vec<PathBuf>,
}

/// Compiles the kernel, or what has changed of it.
pub(super) fn compile(workspace: &Workspace) -> Result<Compiled> {
    setup_for_kernel()?;
    let place = workspace.target.join("linux");
    let package = Client::new(&place, USER_SUITE)?.fetch("source", &[SOURCE])?;
    let archive = package.join("usr/src").join(format!("{SOURCE}.tar.xz"));
    let tree = unpack(&archive, &place.join("compiled"))?;

    run(make(&tree).arg(CONFIGURATION))?;
    let configuration = fs::read_to_string(tree.join(".config"))?;
    for option in EXPECTED {
        ensure!(
            configuration.lines().any(|line| line == option),
            "{CONFIGURATION} of {SOURCE} does not have {option}"
        );
    }
    let modules = KVM_MODULES.map(|name| format!("{KVM}/{name}.ko"));
    // The modules find the kernel's symbols in what is there then.
    run(make(&tree).arg("vmlinux")).context("compiling the kernel")?;
    run(make(&tree).args(&modules)).context("compiling its KVM")?;
    let modules = modules.map(|module| tree.join(module));
    let mut strip = Command::new(STRIP);
    run(strip.arg("--strip-debug").args(&modules))?;
    Ok(Compiled { image: tree.join("vmlinux"), modules: modules.into() })
}

/// `make` for our machine, on all processors of the host.
fn make(tree: &Path) -> Command {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut make = Command::new("make");
    make.arg("-C").arg(tree).arg(format!("-j{jobs}")).arg("ARCH=powerpc").args(SAYS);
    make.arg("CROSS_COMPILE=powerpc64le-linux-gnu-");
    make
}

/// Unpacks the source into `folder`, unless what is there came out of an archive as long as this one; the tree.
fn unpack(archive: &Path, folder: &Path) -> Result<PathBuf> {
    let length = fs::metadata(archive).with_context(|| archive.display().to_string())?.len();
    let (tree, mark) = (folder.join(SOURCE), folder.join("length"));
    if fs::read_to_string(&mark).is_ok_and(|mark| mark == length.to_string()) {
        return Ok(tree);
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder))?;
    fs::write(mark, length.to_string())?;
    Ok(tree)
}
