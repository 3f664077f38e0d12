//! A guest that starts another kernel: Debian's kexec-tools load it, and the one that runs hands its partition over.
//!
//! What the first kernel leaves of its partition the second one has to live with: vCPUs that stopped themselves, areas
//! that the hypervisor knows, a hashed page table that has to be empty, and a device tree that the first one copied.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::guest::{ALL_KINDS, Kind, OURS, QEMU};
use super::initramfs::Root;
use super::packages::Client;
use super::{Packages, USER_SUITE, boot, recipe};
use crate::workspace::Workspace;

/// The program, and the library that it needs.
const PACKAGES: [&str; 2] = ["kexec-tools", "libc6"];
/// Who starts another kernel, in the first root, and what that kernel and its root are called there.
const COMMANDS: [&str; 3] = [
    "/sbin/kexec -l /bin/kernel --initrd=/bin/root --append='console=hvc0 quiet second'; echo \"=$?\"",
    "/sbin/kexec -e",
    "echo \"=$(cat /proc/cmdline)\"; echo \"=$(nproc)\"; echo \"=$(sed -n 's/^MMU.*: //p' /proc/cpuinfo)\"; poweroff -f",
];
const SECOND: &str = "console=hvc0 quiet second ";
const VCPUS: u32 = 4;
/// With which Linux empties a hashed page table before it starts another kernel.
const CLEAR: &str = "H_CLEAR_HPT";
/// What Linux calls a hashed page table.
const HASH: &str = "Hash";

/// Starts a kernel from a kernel in each kind of guest, on both machines. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/kexec");
    fs::create_dir_all(&folder)?;
    let shell = packages.shell()?;
    let second = folder.join("second");
    Root::with_shell(&packages.user, &folder)?
        .write(&shell, &second)
        .context("making the second initramfs")?;
    let client = Client::new(&workspace.target.join("linux"), USER_SUITE)?;
    let mut root =
        Root::with_shell(&packages.user, &folder)?.with_programs(client.fetch("kexec", &PACKAGES)?);
    root.programs.push(("kernel", fs::read(&packages.image)?));
    root.programs.push(("root", fs::read(&second)?));
    root.write(&shell, &folder.join("first")).context("making the first initramfs")?;

    let mut took = Vec::new();
    for Kind { processor, translation, mmu, topology } in ALL_KINDS {
        for machine in [QEMU, OURS] {
            let file = folder.join("guest.toml");
            let image = &packages.image;
            fs::write(
                &file,
                format!(
                    "[[partition]]\nname = \"linux\"\npayload = {image:?}\ninitrd = \"first\"\nmemory = \"1 GiB\"\n\
                     vcpus = {VCPUS}\ntranslation = {translation:?}\nperformance_monitor = true\n\
                     arguments = \"console=hvc0 quiet\"\n",
                ),
            )?;
            let mut command =
                workspace.powervisor(&["boot", "--on", machine, "--console", "linux"]);
            command.args(["--machine", processor, "--topology", topology]);
            let trace = folder.join("exits");
            if machine == OURS {
                command.args(["--trace", "exits", "--trace-file"]).arg(&trace);
            }
            command.arg(&file);
            let place = format!("{translation}, {processor}, {machine}");
            let said = boot::converse(command, &COMMANDS).with_context(|| place.clone())?;
            let expected = ["0", SECOND, &VCPUS.to_string(), mmu];
            ensure!(
                said.answers == expected,
                "{place}: the kernels answer {:?}, not {expected:?}",
                said.answers
            );
            let mut line = format!("{place} {:.1} s", said.took.as_secs_f64());
            if machine == OURS && mmu == HASH {
                let exits = fs::read_to_string(&trace).context("reading the exits")?;
                let cleared = recipe::reasons(&exits).get(CLEAR).copied().unwrap_or_default();
                ensure!(cleared > 1, "{place}: Linux made {cleared} calls of {CLEAR}");
                line += &format!(", {cleared} calls of {CLEAR}");
            }
            took.push(line);
        }
    }
    Ok(format!("guests of {VCPUS} vCPUs that start another kernel by kexec: {}", took.join("; ")))
}
