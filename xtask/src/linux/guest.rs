//! A kernel as a guest of the hypervisor, with its root file system on a virtual SCSI disk, and another disk behind
//! another adapter: its own driver judges the adapters, and the host's tools judge what it wrote.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::initramfs::Root;
use super::packages::DISK_MODULES;
use super::{POWER8, POWER9, Packages, boot};
use crate::workspace::{Workspace, output, run};

/// Loads the disk's driver and file system, and goes on in that.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs devtmpfs /dev
for module in MODULES; do insmod /modules/$module.ko; done
until root=$(findfs LABEL=root); do sleep 0.1; done
mount -t ext4 $root /mnt
exec switch_root -c /dev/console /mnt /init
";
/// What goes on there: a shell, and a clean end behind it.
const ROOT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs devtmpfs /dev
until more=$(findfs LABEL=more); do sleep 0.1; done
mount -t ext4 $more /more
sh
umount /more
mount -o remount,ro /
poweroff -f
";
/// Disks, each behind an adapter of its own, which the guest may find in any order: the label of its file system, and
/// its bytes.
const DISKS: [(&str, &str); 2] = [("root", "16M"), ("more", "8M")];
/// log2 of the bytes of a hashed page table: twice as large as PAPR's hint for the guest's memory, and an eighth of it.
const TABLES: [&str; 2] = ["24", "20"];
/// Where Linux shows and takes it.
const TABLE: &str = "/sys/kernel/debug/powerpc/hpt_order";
/// Lines of the file that the guest writes.
const LINES: &str = "20000";

/// A kind of guest.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The processor that it is on.
    pub(super) processor: &'static str,
    /// How it is translated, and how Linux calls that.
    pub(super) translation: &'static str,
    pub(super) mmu: &'static str,
    /// Where it has several vCPUs: four hardware threads that run them.
    pub(super) topology: &'static str,
}

const RADIX: Kind =
    Kind { processor: POWER9, translation: "radix", mmu: "Radix", topology: "1x1x4" };
const HASH: Kind = Kind { processor: POWER9, translation: "hash", mmu: "Hash", topology: "1x1x4" };
const POWER8_HASH: Kind = Kind { processor: POWER8, topology: "1x4x1", ..HASH };
pub(super) const ALL_KINDS: [Kind; 3] = [RADIX, HASH, POWER8_HASH];
pub(super) const QEMU: &str = "qemu";
pub(super) const OURS: &str = "simulator";

/// A guest: of so many vCPUs, what kind, and on which machine.
pub(super) type Guest = (u32, Kind, &'static str);

/// Before each push, each translation and each machine once. Linux without a hypervisor is on our machine besides, by
/// radix.
pub(super) const FEW: [Guest; 2] = [(1, RADIX, QEMU), (1, HASH, OURS)];

/// All guests, of one and of four vCPUs.
pub(super) fn all() -> Vec<Guest> {
    let kinds =
        [1, 4].into_iter().flat_map(|vcpus| ALL_KINDS.into_iter().map(move |kind| (vcpus, kind)));
    kinds.flat_map(|(vcpus, kind)| [QEMU, OURS].map(|machine| (vcpus, kind, machine))).collect()
}

/// Boots guests from a disk, lets each read a file of the host's and write one to each disk, and looks at the disks
/// that it leaves. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages, guests: &[Guest]) -> Result<String> {
    let folder = workspace.target.join("linux/guest");
    let content = folder.join("content");
    if content.exists() {
        fs::remove_dir_all(&content)?;
    }
    for name in ["bin", "dev", "more", "proc", "sys"] {
        fs::create_dir_all(content.join(name))?;
    }
    let left = DISKS.map(|(label, _)| folder.join(format!("{label}-left")));
    // Its bytes are as good as random ones, too.
    let shell = packages.shell()?;
    fs::copy(&shell, content.join("bin/busybox"))?;
    fs::write(content.join("init"), ROOT)?;
    for program in ["bin/busybox", "init"] {
        fs::set_permissions(content.join(program), Permissions::from_mode(0o755))?;
    }
    for ((label, bytes), left) in DISKS.into_iter().zip(&left) {
        let disk = folder.join(label);
        for old in [&disk, left] {
            if old.exists() {
                fs::remove_file(old)?;
            }
        }
        let mut make = tool("mkfs.ext4");
        make.args(["-q", "-F", "-L", label]);
        if label == "root" {
            make.arg("-d").arg(&content);
        }
        run(make.arg(&disk).arg(bytes))?;
    }
    let disks = DISKS.iter().enumerate().map(|(adapter, (label, _))| {
        format!(
            "{{ image = \"{label}\", adapter = {adapter}, writable = true, write_back = \"{label}-left\" }}"
        )
    });
    let disks = disks.collect::<Vec<_>>().join(", ");

    let modules = packages.modules()?;
    let initramfs = folder.join("initramfs");
    let root = Root {
        init: &INIT.replace("MODULES", &DISK_MODULES.join(" ")),
        programs: Vec::new(),
        modules: DISK_MODULES.map(|name| modules.join(format!("{name}.ko"))).into(),
        packages: None,
    };
    root.write(&shell, &initramfs).context("making the initramfs")?;

    let expected = [sum_of(&shell)?, sum(&format!("seq {LINES} | sha256sum"))?];
    let mut took = Vec::new();
    for (vcpus, kind, machine) in guests {
        let Kind { processor, translation, mmu, topology } = kind;
        let is_hashed = *translation == "hash";
        let file = folder.join("guest.toml");
        let image = &packages.image;
        fs::write(
            &file,
            format!(
                "[[partition]]\nname = \"linux\"\npayload = {image:?}\ninitrd = \"initramfs\"\nmemory = \"1 GiB\"\n\
                 vcpus = {vcpus}\ntranslation = {translation:?}\nperformance_monitor = true\narguments = \"console=hvc0 quiet\"\n\
                 disks = [{disks}]\n{}",
                if is_hashed { "resizable_table = true\n" } else { "" }
            ),
        )?;
        let [large, small] = TABLES.map(|table| resized(table, is_hashed));
        let commands = [
            "echo \"=$(sha256sum < /bin/busybox)\"",
            &large,
            &format!(
                "seq {LINES} | tee /more/written > /written; sync; echo 3 > /proc/sys/vm/drop_caches"
            ),
            &small,
            "echo \"=$(sha256sum < /written)\"",
            "echo \"=$(sha256sum < /more/written)\"",
            "echo \"=$(nproc)\"",
            "echo \"=$(sed -n 's/^MMU.*: //p' /proc/cpuinfo)\"",
            "exit",
        ];
        let mut command = workspace.powervisor(&["boot", "--on", machine, "--console", "linux"]);
        command.args(["--machine", processor]);
        if *vcpus > 1 {
            command.args(["--topology", topology]);
        }
        command.arg(&file);
        let said = boot::converse(command, &commands)?;
        let [program, written] = &expected;
        let [large, small] = TABLES.map(|table| if is_hashed { table } else { "" });
        let expected = [program, large, small, written, written, &vcpus.to_string(), mmu];
        ensure!(
            said.answers.iter().eq(expected),
            "the guest of {vcpus} vCPUs, {translation}, {processor}, answers {:?} on {machine}, not {expected:?}",
            said.answers
        );
        let seconds = said.took.as_secs_f64();
        took.push(format!("vCPUs {vcpus}, {translation}, {processor}, {machine} {seconds:.1} s"));
        for left in &left {
            run(tool("e2fsck").arg("-fn").arg(left)).context("the disk that the guest leaves")?;
            let text =
                format!("debugfs -R 'cat /written' {:?} 2>/dev/null | sha256sum", left.display());
            let read = sum(&text)?;
            ensure!(read == *written, "the host reads {read} on {}, not {written}", left.display());
            fs::remove_file(left)?;
        }
    }
    Ok(format!(
        "guests from two disks, which are as the host's tools see them: {}",
        took.join("; ")
    ))
}

/// What has the guest's table changed to this size, and asked for it, if it has one.
fn resized(table: &str, is_hashed: bool) -> String {
    if is_hashed {
        format!("echo {table} > {TABLE}; echo \"=$(cat {TABLE})\"")
    } else {
        "echo \"=\"".to_owned()
    }
}

/// One of the tools of Debian's e2fsprogs, which may be where only root looks.
fn tool(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("PATH", path());
    command
}

fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

fn sum_of(file: &Path) -> Result<String> {
    sum(&format!("sha256sum < {:?}", file.display()))
}

/// What a shell's line prints, without blanks at its end.
fn sum(line: &str) -> Result<String> {
    let printed = output(Command::new("sh").args(["-c", line]).env("PATH", path()))?;
    Ok(printed.trim_end().to_owned())
}
