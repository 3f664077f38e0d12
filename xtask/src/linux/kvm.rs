//! KVM HV as the rival: a kernel with its modules, and a user-space virtual machine monitor whose guest makes
//! hypercalls. `powervisor run kvm-null-hypercall` measures Debian's on our machine, and QEMU judges that it works
//! there; `powervisor run kvm-facilities` one that is compiled from Debian's source, configured as the published one
//! was.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::Packages;
use super::initramfs::{Root, compile};
use super::source::Compiled;
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
const GUESTS: [&str; 6] =
    ["", "relocation=off", "vpa=idle", "vpa=monitor", "branches=on", "vpa=idle nesting=on"];
/// What it is asked for on ours alone: QEMU's POWER9 is one on which Linux has no transactions for guests.
const GUESTS_WITH_TRANSACTIONS: [&str; 2] =
    ["transactions=on", "branches=on transactions=on rounds=200"];
/// What lines of the monitor begin with.
const SAYS: &str = "vmm: ";
/// The images' folder among all images.
pub(super) const RIVALS: &str = "rivals";
/// Debian's kernel, among the images.
pub(super) const KERNEL: &str = "kvm-linux";

/// The names of images: a kernel, its first root, and its symbols as it runs.
struct Names {
    kernel: &'static str,
    initramfs: &'static str,
    symbols: &'static str,
}

/// Debian's kernel.
const DEBIAN: Names = Names { kernel: KERNEL, initramfs: "kvm-initramfs", symbols: "kvm-symbols" };
/// The compiled one.
const POWERNV: Names = Names {
    kernel: "kvm-powernv-linux",
    initramfs: "kvm-powernv-initramfs",
    symbols: "kvm-powernv-symbols",
};

/// Makes the images of Debian's kernel, and runs the guests on both machines. What they said.
pub(super) fn make(workspace: &Workspace, packages: &Packages) -> Result<String> {
    images(workspace, packages, &DEBIAN, &packages.image, packages.kvm()?)?;
    let said = GUESTS.iter().map(|guest| as_on_qemu(workspace, &DEBIAN, guest));
    let said = said.collect::<Result<Vec<_>>>()?;
    Ok(format!("{} guests of KVM as on QEMU: {}", said.len(), said[0]))
}

/// Makes the images of the compiled kernel, and runs the guests on both machines. What they said.
pub(super) fn make_compiled(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let Compiled { image, modules } = super::source::compile(workspace)?;
    images(workspace, packages, &POWERNV, &image, modules)?;
    let judged = GUESTS.iter().map(|guest| as_on_qemu(workspace, &POWERNV, guest));
    let alone = GUESTS_WITH_TRANSACTIONS.iter();
    let alone = alone.map(|guest| on(workspace, &POWERNV, "simulator", guest));
    let said = judged.chain(alone).collect::<Result<Vec<_>>>()?;
    Ok(format!("{} guests of a compiled KVM, {} as on QEMU: {}", said.len(), GUESTS.len(), said[0]))
}

/// Whether the images of Debian's kernel are there.
pub(super) fn is_made(workspace: &Workspace) -> bool {
    workspace.images().join(RIVALS).join(DEBIAN.symbols).exists()
}

/// Whether those of the compiled kernel are there.
pub(super) fn is_compiled(workspace: &Workspace) -> bool {
    workspace.images().join(RIVALS).join(POWERNV.symbols).exists()
}

/// Puts a kernel and a first root with the monitor and these modules among the images, and the kernel's symbols.
fn images(
    workspace: &Workspace,
    packages: &Packages,
    names: &Names,
    kernel: &Path,
    modules: Vec<PathBuf>,
) -> Result<()> {
    let images = workspace.images().join(RIVALS);
    let folder = workspace.target.join("linux/kvm");
    for folder in [&images, &folder] {
        fs::create_dir_all(folder)?;
    }
    let root = Root {
        init: INIT,
        programs: vec![("vmm", compile(&packages.user, MONITOR, &folder.join("vmm"))?)],
        modules,
        packages: None,
    };
    root.write(&packages.shell()?, &images.join(names.initramfs))
        .context("making the initramfs")?;
    fs::copy(kernel, images.join(names.kernel))?;

    let symbols = boot(workspace, names, "simulator", "symbols")?;
    let symbols: Vec<_> = symbols.into_iter().filter(|line| is_symbol(line)).collect();
    ensure!(symbols.iter().any(|line| line.ends_with("[kvm_hv]")), "KVM HV was not loaded");
    fs::write(images.join(names.symbols), symbols.join("\n") + "\n")?;
    Ok(())
}

/// What a guest says on our machine, which is what it says on QEMU.
fn as_on_qemu(workspace: &Workspace, names: &Names, guest: &str) -> Result<String> {
    let ours = on(workspace, names, "simulator", guest)?;
    let theirs = on(workspace, names, "qemu", guest)?;
    ensure!(ours == theirs, "guest `{guest}` of KVM: {ours}, on QEMU {theirs}");
    Ok(ours)
}

/// What a guest says on a machine: one line of the monitor's.
fn on(workspace: &Workspace, names: &Names, machine: &str, guest: &str) -> Result<String> {
    let mut lines = boot(workspace, names, machine, guest)?;
    lines.retain(|line| line.starts_with(SAYS));
    ensure!(lines.len() == 1, "guest `{guest}` of KVM says {lines:?} on {machine}");
    ensure!(lines[0].contains(" calls "), "guest `{guest}` of KVM on {machine}: {}", lines[0]);
    Ok(lines.remove(0))
}

/// Boots the images with these words for what the kernel starts; the lines of the console.
fn boot(workspace: &Workspace, names: &Names, machine: &str, words: &str) -> Result<Vec<String>> {
    let images = workspace.images().join(RIVALS);
    let mut command = workspace.powervisor(&["boot", "--on", machine]);
    command.arg("--append").arg(format!("quiet -- {words}"));
    command.arg("--kernel").arg(images.join(names.kernel));
    command.arg("--initrd").arg(images.join(names.initramfs));
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
