//! A kernel as a guest of the hypervisor, with a file system on a virtual SCSI disk: its own driver judges the
//! adapter, and the host's tools judge what it wrote.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::packages::{DISK_MODULES, MODULES};
use super::{Packages, boot, initramfs};
use crate::workspace::{Workspace, output, run};

/// Bytes of the disk.
const DISK_BYTES: &str = "16M";
/// Lines of the file that the guest writes.
const LINES: &str = "200000";

/// Boots, lets the guest read a file of the host's and write one, and looks at the disk that it leaves. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/guest");
    let content = folder.join("content");
    fs::create_dir_all(&content)?;
    let (disk, left) = (folder.join("disk"), folder.join("left"));
    for old in [&disk, &left] {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    // A program, whose bytes are as good as random ones.
    let program = packages.user.join("bin/busybox");
    let program = if program.is_file() { program } else { packages.user.join("usr/bin/busybox") };
    fs::copy(program, content.join("program"))?;
    let mut make = tool("mkfs.ext4");
    run(make.args(["-q", "-F", "-d"]).arg(&content).arg(&disk).arg(DISK_BYTES))?;

    let modules = packages.image.ancestors().nth(2).context("a kernel's folder")?.join(MODULES);
    let modules: Vec<_> = DISK_MODULES.map(|name| modules.join(format!("{name}.ko"))).into();
    let initramfs = folder.join("initramfs");
    initramfs::write(&packages.user, &modules, &initramfs).context("making the initramfs")?;
    let file = folder.join("guest.toml");
    fs::write(
        &file,
        format!(
            "[[partition]]\nname = \"linux\"\npayload = {:?}\ninitrd = \"initramfs\"\nmemory = \"1 GiB\"\nvcpus = 1\n\
             performance_monitor = true\narguments = \"console=hvc0 quiet\"\n\
             disks = [{{ image = \"disk\", writable = true, write_back = \"left\" }}]\n",
            packages.image
        ),
    )?;
    let load = DISK_MODULES.map(|name| format!("insmod /modules/{name}.ko")).join("; ");
    let mount = "mount -t ext4 /dev/sda /mnt";
    let commands = [
        format!("{load}; sleep 1; {mount}; echo \"=$(sha256sum < /mnt/program)\""),
        format!(
            "seq {LINES} > /mnt/written; umount /mnt; {mount}; echo \"=$(sha256sum < /mnt/written)\""
        ),
        "umount /mnt; poweroff -f".to_owned(),
    ];
    let mut command = workspace.powervisor(&["boot", "--console", "linux"]);
    command.arg(&file);
    let said = boot::converse(command, &commands.each_ref().map(String::as_str))?;

    let expected = [sum_of(&content.join("program"))?, sum(&format!("seq {LINES} | sha256sum"))?];
    ensure!(said.answers == expected, "the guest answers {:?}, not {expected:?}", said.answers);
    run(tool("e2fsck").arg("-fn").arg(&left)).context("the disk that the guest leaves")?;
    let text = format!("debugfs -R 'cat /written' {:?} 2>/dev/null | sha256sum", left.display());
    let written = sum(&text)?;
    ensure!(written == expected[1], "the host reads {written} on the disk, not {}", expected[1]);
    Ok(format!(
        "a guest's file system as the host's tools see it, in {:.1} s",
        said.took.as_secs_f64()
    ))
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
