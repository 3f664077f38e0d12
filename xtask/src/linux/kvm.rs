//! KVM HV as the rival: Debian's kernel with its modules, and a user-space virtual machine monitor whose guest makes
//! hypercalls. `powervisor run kvm-null-hypercall` measures it on our machine, and QEMU judges that it works there.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::Packages;
use super::initramfs::{Root, compile};
use crate::workspace::{Workspace, output};

/// Loads KVM, does what the words behind `--` of the kernel's command line ask for, and powers off.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs devtmpfs /dev
for module in kvm kvm-hv; do /bin/busybox insmod /modules/$module.ko; done
case $1 in
symbols) /bin/busybox cat /proc/kallsyms ;;
*) /bin/vmm \"$@\" ;;
esac
/bin/busybox poweroff -f
";
const MONITOR: &str = "vmm.c";
/// What the guest is asked for on both machines.
const GUESTS: [&str; 5] = ["", "relocation=off", "vpa=idle", "vpa=monitor", "branches=on"];
/// What lines of the monitor begin with.
const SAYS: &str = "vmm: ";
/// The images' folder among all images, and their names: kernel, first root, and the symbols of the kernel as it runs.
pub(super) const RIVALS: &str = "rivals";
pub(super) const KERNEL: &str = "kvm-linux";
const INITRAMFS: &str = "kvm-initramfs";
const SYMBOLS: &str = "kvm-symbols";

/// Makes the images, and runs the guests on both machines. What they said.
pub(super) fn make(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let images = workspace.images().join(RIVALS);
    let folder = workspace.target.join("linux/kvm");
    for folder in [&images, &folder] {
        fs::create_dir_all(folder)?;
    }
    let root = Root {
        init: INIT,
        programs: vec![("vmm", compile(&packages.user, MONITOR, &folder.join("vmm"))?)],
        modules: packages.kvm()?,
        packages: None,
    };
    root.write(&packages.shell()?, &images.join(INITRAMFS)).context("making the initramfs")?;
    fs::copy(&packages.image, images.join(KERNEL))?;

    let symbols = boot(workspace, &images, "simulator", "quiet", "symbols")?;
    let symbols: Vec<_> = symbols.into_iter().filter(|line| is_symbol(line)).collect();
    ensure!(symbols.iter().any(|line| line.ends_with("[kvm_hv]")), "KVM HV was not loaded");
    fs::write(images.join(SYMBOLS), symbols.join("\n") + "\n")?;

    let mut said = Vec::new();
    for guest in GUESTS {
        let [ours, theirs] = ["simulator", "qemu"].map(|machine| {
            let lines = boot(workspace, &images, machine, "quiet", guest)?;
            let of_monitor = lines.into_iter().filter(|line| line.starts_with(SAYS));
            anyhow::Ok(of_monitor.collect::<Vec<_>>())
        });
        let (ours, theirs) = (ours?, theirs?);
        ensure!(ours == theirs, "guest `{guest}` of KVM: {ours:?}, on QEMU {theirs:?}");
        ensure!(ours.len() == 1, "guest `{guest}` of KVM says {ours:?}");
        said.extend(ours);
    }
    Ok(format!("{} guests of KVM as on QEMU: {}", said.len(), said[0]))
}

/// Whether the images are there.
pub(super) fn is_made(workspace: &Workspace) -> bool {
    workspace.images().join(RIVALS).join(SYMBOLS).exists()
}

/// Boots the images with these words for the kernel and for what it starts; the lines of the console.
fn boot(
    workspace: &Workspace,
    images: &Path,
    machine: &str,
    kernel: &str,
    words: &str,
) -> Result<Vec<String>> {
    let mut command = workspace.powervisor(&["boot", "--on", machine]);
    command.arg("--append").arg(format!("{kernel} -- {words}"));
    command.arg("--kernel").arg(images.join(KERNEL)).arg("--initrd").arg(images.join(INITRAMFS));
    let console = output(&mut command)?;
    Ok(console.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect())
}

/// Whether a line is one of `/proc/kallsyms`: an address, a type, a name, and perhaps a module.
fn is_symbol(line: &str) -> bool {
    let words: Vec<_> = line.split_whitespace().collect();
    let [address, kind, ..] = words[..] else { return false };
    let is_address = address.len() == 16 && u64::from_str_radix(address, 16).is_ok();
    is_address && kind.len() == 1 && (3..=4).contains(&words.len())
}
