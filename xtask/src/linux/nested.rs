//! Debian's QEMU under its KVM HV: a monitor that none of us wrote boots Linux as a guest of KVM's.
//!
//! It asks more of the machine than the monitor of [`super::kvm`]: a guest whose time base is another, which uses
//! the performance monitor, and whose interrupt controller the monitor emulates by its accesses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::guest::{OURS, QEMU};
use super::initramfs::Root;
use super::packages::Client;
use super::{Packages, USER_SUITE, boot};
use crate::workspace::{Workspace, output};

const PACKAGE: &str = "qemu-system-ppc";
/// The monitor, the program that loads its libraries, and its firmware, where the packages have them.
const MONITOR: &str = "usr/bin/qemu-system-ppc64";
pub(super) const LOADER: &str = "ld64.so.2";
const FIRMWARE: &str = "usr/share/qemu/vof.bin";
const READELF: &str = "powerpc64le-linux-gnu-readelf";
/// How many vCPUs a guest has, on which topology, and on which machines: with four QEMU's stood still in one run of
/// three, beside other work.
const GUESTS: [(u32, &str, &[&str]); 2] = [(1, "1x1x1", &[QEMU, OURS]), (4, "1x1x4", &[OURS])];

/// The machine that the monitor makes. KVM HV of this kernel cannot serve a guest's XICS where the host has no XIVE, so
/// the monitor emulates XIVE; the capabilities are those that QEMU's own powernv9 does not have.
pub(super) const MACHINE: &str = "pseries,x-vof=on,ic-mode=xive,kernel-irqchip=off,cap-cfpc=broken,\
    cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off";

/// What is typed: for the first kernel, for its guest, and for the first one again.
fn commands(vcpus: u32) -> [String; 3] {
    let start = format!(
        "for module in kvm kvm-hv; do insmod /modules/$module.ko; done; (cd /bin; ./{LOADER} --library-path /bin \
         ./qemu -L /bin -accel kvm -cpu host -smp {vcpus} -m 512 -nodefaults -display none -serial stdio -machine \
         {MACHINE} -kernel kernel -initrd root -append 'console=hvc0 quiet')"
    );
    let ask = "echo \"=$(nproc) $(sed -n 's/^platform.*: //p; s/^MMU.*: //p' /proc/cpuinfo | tr '\\n' ' ')\"; poweroff -f";
    [start, ask.to_owned(), "echo \"=$?\"; poweroff -f".to_owned()]
}

/// Boots a guest of KVM's from Linux on both machines. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/nested");
    fs::create_dir_all(&folder)?;
    let shell = packages.shell()?;
    let [guest, host] = ["guest", "host"].map(|name| folder.join(name));
    Root::with_shell(&packages.user, &folder)?
        .write(&shell, &guest)
        .context("making the guest's initramfs")?;
    let programs = programs(workspace, packages, &guest)?;
    let mut root = Root::with_shell(&packages.user, &folder)?;
    root.add(&programs)?;
    root.modules = packages.kvm()?;
    root.write(&shell, &host).context("making the host's initramfs")?;

    let mut took = Vec::new();
    for (vcpus, topology, machines) in GUESTS {
        for &machine in machines {
            let mut command = workspace.powervisor(&["boot", "--on", machine]);
            command.args(["--topology", topology]);
            command.arg("--kernel").arg(&packages.image).arg("--initrd").arg(&host);
            command.args(["--append", "console=hvc0 quiet"]);
            let place = format!("{vcpus} vCPUs, {machine}");
            let said = boot::converse(command, &commands(vcpus).each_ref().map(String::as_str))
                .with_context(|| place.clone())?;
            let expected = [format!("{vcpus} pSeries Radix "), "0".to_owned()];
            ensure!(
                said.answers == expected,
                "{place}: the kernels answer {:?}, not {expected:?}:\n{}",
                said.answers,
                said.console
            );
            took.push(format!("{place} {:.1} s", said.took.as_secs_f64()));
        }
    }
    Ok(format!("Linux under Debian's QEMU and KVM HV: {}", took.join("; ")))
}

/// The monitor with what it needs, the kernel, and the guest's first root, by the names that they have in the host's.
pub(super) fn programs(
    workspace: &Workspace,
    packages: &Packages,
    guest: &Path,
) -> Result<BTreeMap<String, PathBuf>> {
    let monitor = Client::new(&workspace.target.join("linux"), USER_SUITE)?
        .fetch_with_all_it_needs("nested", PACKAGE)?;
    let mut programs = libraries(&monitor)?;
    programs.insert("qemu".into(), monitor.join(MONITOR));
    programs.insert("vof.bin".into(), monitor.join(FIRMWARE));
    programs.insert("kernel".into(), packages.image.clone());
    programs.insert("root".into(), guest.to_owned());
    Ok(programs)
}

/// The libraries that the monitor needs, and what loads them, by name.
fn libraries(monitor: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    find(monitor, &mut files)?;
    let mut found = BTreeMap::new();
    let mut open = needed(&monitor.join(MONITOR))?;
    open.push(LOADER.to_owned());
    while let Some(name) = open.pop() {
        let file = files.get(&name).with_context(|| format!("no package has {name}"))?;
        if found.insert(name, file.clone()).is_none() {
            open.extend(needed(file)?);
        }
    }
    Ok(found)
}

/// All files in `folder`, by name.
fn find(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // A library's name may be a link to it.
        if path.is_dir() && !path.is_symlink() {
            find(&path, files)?;
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && path.is_file()
        {
            files.insert(name.to_owned(), path);
        }
    }
    Ok(())
}

/// The libraries that a program names.
fn needed(program: &Path) -> Result<Vec<String>> {
    let text = output(Command::new(READELF).arg("-dW").arg(program))?;
    let name =
        |line: &str| Some(line.split_once("(NEEDED)")?.1.split(['[', ']']).nth(1)?.to_owned());
    Ok(text.lines().filter_map(name).collect())
}
