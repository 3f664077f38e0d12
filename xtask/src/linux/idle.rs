//! The idle states of a guest of KVM HV: Linux under Debian's QEMU and KVM HV with benchmarks of idleness, for
//! `powervisor run kvm-wakeup-timer` and its kin.
//!
//! Kernel, KVM and monitor are Debian's. Ours are what the publication had and Debian has not: `stop` as a state of the
//! guest's cpuidle, the test of wake-ups, and the work of two benchmarks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::initramfs::{POWER9, Root, compile};
use super::kvm::{KERNEL, RIVALS};
use super::nested::{LOADER, MACHINE, programs};
use super::packages::Client;
use super::{Packages, USER_SUITE};
use crate::workspace::{Workspace, run};

const HOST: &str = include_str!("idle/host.sh");
const GUEST: &str = include_str!("idle/guest.sh");
const BUSY: &str = "idle/busy.c";
/// The kernel modules of ours, and their sources: the guest's, and the host's.
const GUEST_MODULES: [(&str, &str); 2] = [
    ("stop_state", include_str!("idle/stop_state.c")),
    ("wakeups", include_str!("idle/wakeups.c")),
];
const HOST_MODULES: [(&str, &str); 1] = [("kvm_stop", include_str!("idle/kvm_stop.c"))];
/// What the name of a kernel's file begins with, and of the package with headers.
const IMAGE: &str = "vmlinux-";
const HEADERS: &str = "linux-headers-";
const CROSS: &str = "CROSS_COMPILE=powerpc64le-linux-gnu-";
const STRIP: &str = "powerpc64le-linux-gnu-strip";
/// The first root of the host, among the images.
const INITRAMFS: &str = "kvm-idle-initramfs";

/// Makes the image, beside the kernel that [`super::kvm::make`] puts there.
pub(super) fn make(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/idle");
    fs::create_dir_all(&folder)?;
    let shell = packages.shell()?;
    let compiled = modules(workspace, packages, &folder)?;
    let file = |(name, _): (&str, &str)| compiled.join(name).with_extension("ko");
    let guest = Root {
        init: GUEST,
        programs: vec![("busy", compile(&packages.user, BUSY, POWER9, &folder.join("busy"))?)],
        modules: GUEST_MODULES.map(file).into(),
        packages: None,
    };
    let archive = folder.join("guest");
    guest.write(&shell, &archive).context("making the guest's initramfs")?;
    let files = programs(workspace, packages, &archive)?;
    let init = HOST.replace("LOADER", LOADER).replace("MACHINE", MACHINE);
    let mut host = Root { init: &init, programs: Vec::new(), modules: Vec::new(), packages: None };
    host.add(&files)?;
    host.modules = packages.kvm()?.into_iter().chain(HOST_MODULES.map(file)).collect();
    let images = workspace.images().join(RIVALS);
    host.write(&shell, &images.join(INITRAMFS)).context("making the host's initramfs")?;
    Ok(format!("{KERNEL} and {INITRAMFS} in {}", images.display()))
}

/// Whether the image is there.
pub(super) fn is_made(workspace: &Workspace) -> bool {
    workspace.images().join(RIVALS).join(INITRAMFS).exists()
}

/// Compiles the modules for the kernel, with its own headers and build files; the folder that they are in.
fn modules(workspace: &Workspace, packages: &Packages, folder: &Path) -> Result<PathBuf> {
    let name = packages.image.file_name().and_then(|name| name.to_str());
    let version = name.and_then(|name| name.strip_prefix(IMAGE)).context("a kernel's name")?;
    // 6.1.0-50-powerpc64le has headers of its own, those of 6.1.0-50 that all flavours share, and build files of 6.1.
    let (release, _) = version.rsplit_once('-').context("a kernel's flavour")?;
    let series = release.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let (own, common) = (format!("{HEADERS}{version}"), format!("{HEADERS}{release}-common"));
    let build_files = format!("linux-kbuild-{series}");
    let place = workspace.target.join("linux");
    let headers = Client::new(&place, USER_SUITE)?.fetch("headers", &[&own, &common])?;
    let tools = Client::for_this_machine(&place, USER_SUITE)?.fetch("kbuild", &[&build_files])?;
    // The headers' packages expect them beside themselves.
    let library = headers.join("usr/lib");
    fs::create_dir_all(&library)?;
    symlink(tools.join("usr/lib").join(&build_files), library.join(&build_files))
        .context("linking the kernel's build files")?;

    let sources = folder.join("modules");
    fs::create_dir_all(&sources)?;
    let modules = || GUEST_MODULES.iter().chain(&HOST_MODULES);
    let objects: Vec<_> = modules().map(|(name, _)| format!("{name}.o")).collect();
    fs::write(sources.join("Kbuild"), format!("obj-m := {}\n", objects.join(" ")))?;
    for (name, text) in modules() {
        fs::write(sources.join(name).with_extension("c"), text)?;
    }
    let headers = headers.join("usr/src");
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(headers.join(own));
    make.arg("-f").arg(headers.join(common).join("Makefile"));
    make.args(["ARCH=powerpc", CROSS]).arg(format!("M={}", sources.display())).arg("modules");
    run(&mut make).context("compiling modules for the kernel")?;
    // Their debugging information names this folder: the image would be as long as its name.
    let mut strip = Command::new(STRIP);
    strip.arg("--strip-debug").args(modules().map(|(name, _)| format!("{name}.ko")));
    run(strip.current_dir(&sources))?;
    Ok(sources)
}
