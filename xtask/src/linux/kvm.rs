//! KVM HV as the rival: a kernel with its modules, and a user-space virtual machine monitor whose guest makes
//! hypercalls. `powervisor run kvm-null-hypercall` and `kvm-hash-hypercalls` measure Debian's on our machine, and QEMU
//! judges that it works there; `powervisor run kvm-facilities` one that is compiled from Debian's source, configured as
//! the published one was.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::Packages;
use super::initramfs::{POWER9, Root, compile};
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
/// What one with a hashed page table is asked for, on both processors.
const GUESTS_WITH_TABLES: [&str; 5] = [
    "table=enter rounds=100",
    "table=remove rounds=100",
    "table=bulk-remove rounds=100",
    "table=protect rounds=100",
    "table=read rounds=100",
];
/// What it is asked for on ours alone: QEMU's POWER9 is one on which Linux has no transactions for guests.
const GUESTS_WITH_TRANSACTIONS: [&str; 2] =
    ["transactions=on", "branches=on transactions=on rounds=200"];
/// What lines of the monitor begin with.
const SAYS: &str = "vmm: ";
/// The images' folder among all images.
pub(super) const RIVALS: &str = "rivals";
/// Debian's kernel, among the images.
pub(super) const KERNEL: &str = "kvm-linux";

/// The names of images: a kernel, its first root, and its symbols as it runs on POWER9, and on POWER8 if it is to.
struct Names {
    kernel: &'static str,
    initramfs: &'static str,
    symbols: &'static str,
    symbols_power8: Option<&'static str>,
}

/// The other processor, as [`POWER9`].
const POWER8: &str = "power8";

/// Debian's kernel.
const DEBIAN: Names = Names {
    kernel: KERNEL,
    initramfs: "kvm-initramfs",
    symbols: "kvm-symbols",
    symbols_power8: Some("kvm-symbols-power8"),
};
/// The compiled one.
const POWERNV: Names = Names {
    kernel: "kvm-powernv-linux",
    initramfs: "kvm-powernv-initramfs",
    symbols: "kvm-powernv-symbols",
    symbols_power8: None,
};

/// Makes the images of Debian's kernel, and runs the guests on both machines. What they said.
pub(super) fn make(workspace: &Workspace, packages: &Packages) -> Result<String> {
    images(workspace, packages, &DEBIAN, &packages.image, packages.kvm()?)?;
    let on_power9 = GUESTS.iter().chain(&GUESTS_WITH_TABLES).map(|guest| (POWER9, guest));
    let guests = on_power9.chain(GUESTS_WITH_TABLES.iter().map(|guest| (POWER8, guest)));
    let said = guests.map(|(processor, guest)| as_on_qemu(workspace, &DEBIAN, processor, guest));
    let said = said.collect::<Result<Vec<_>>>()?;
    Ok(format!("{} guests of KVM as on QEMU: {}", said.len(), said[0]))
}

/// Makes the images of the compiled kernel, and runs the guests on both machines. What they said.
pub(super) fn make_compiled(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let Compiled { image, modules } = super::source::compile(workspace)?;
    images(workspace, packages, &POWERNV, &image, modules)?;
    let judged = GUESTS.iter().map(|guest| as_on_qemu(workspace, &POWERNV, POWER9, guest));
    let alone = GUESTS_WITH_TRANSACTIONS.iter();
    let alone = alone.map(|guest| on(workspace, &POWERNV, ["simulator", POWER9], guest));
    let said = judged.chain(alone).collect::<Result<Vec<_>>>()?;
    Ok(format!("{} guests of a compiled KVM, {} as on QEMU: {}", said.len(), GUESTS.len(), said[0]))
}

/// Whether the images of Debian's kernel are there.
pub(super) fn is_made(workspace: &Workspace) -> bool {
    let mut symbols = [Some(DEBIAN.symbols), DEBIAN.symbols_power8].into_iter().flatten();
    symbols.all(|file| workspace.images().join(RIVALS).join(file).exists())
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
        programs: vec![("vmm", compile(&packages.user, MONITOR, POWER8, &folder.join("vmm"))?)],
        modules,
        packages: None,
    };
    root.write(&packages.shell()?, &images.join(names.initramfs))
        .context("making the initramfs")?;
    fs::copy(kernel, images.join(names.kernel))?;

    let of_power8 = names.symbols_power8.map(|file| (POWER8, file));
    for (processor, file) in [Some((POWER9, names.symbols)), of_power8].into_iter().flatten() {
        let symbols = boot(workspace, names, ["simulator", processor], "symbols")?;
        let symbols: Vec<_> = symbols.into_iter().filter(|line| is_symbol(line)).collect();
        let is_loaded = symbols.iter().any(|line| line.ends_with("[kvm_hv]"));
        ensure!(is_loaded, "KVM HV was not loaded on {processor}");
        fs::write(images.join(file), symbols.join("\n") + "\n")?;
    }
    Ok(())
}

/// What a guest on this processor says on our machine, which is what it says on QEMU.
fn as_on_qemu(
    workspace: &Workspace,
    names: &Names,
    processor: &str,
    guest: &str,
) -> Result<String> {
    let ours = on(workspace, names, ["simulator", processor], guest)?;
    let theirs = on(workspace, names, ["qemu", processor], guest)?;
    ensure!(ours == theirs, "guest `{guest}` of KVM on {processor}: {ours}, on QEMU {theirs}");
    Ok(ours)
}

/// What a guest says on one of the two machines, with this processor: one line of the monitor's.
fn on(workspace: &Workspace, names: &Names, machine: [&str; 2], guest: &str) -> Result<String> {
    let mut lines = boot(workspace, names, machine, guest)?;
    lines.retain(|line| line.starts_with(SAYS));
    ensure!(lines.len() == 1, "guest `{guest}` of KVM says {lines:?} on {machine:?}");
    ensure!(lines[0].contains(" calls "), "guest `{guest}` of KVM on {machine:?}: {}", lines[0]);
    Ok(lines.remove(0))
}

/// Boots the images there with these words for what the kernel starts; the lines of the console.
fn boot(
    workspace: &Workspace,
    names: &Names,
    [machine, processor]: [&str; 2],
    words: &str,
) -> Result<Vec<String>> {
    let images = workspace.images().join(RIVALS);
    let mut command = workspace.powervisor(&["boot", "--on", machine, "--machine", processor]);
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
