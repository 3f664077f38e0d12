//! Debian's kexec-tools: a guest starts another kernel, and a kernel that runs bare starts the hypervisor.
//!
//! What the first kernel leaves of a partition the second one has to live with: vCPUs that stopped themselves, areas
//! that the hypervisor knows, a hashed page table that has to be empty, a device tree that the first one copied. What
//! Linux leaves of a machine the hypervisor has to live with: an owner of one would start it so.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::guest::{ALL_KINDS, Kind, OURS, QEMU};
use super::initramfs::Root;
use super::packages::Client;
use super::{POWER8, POWER9, Packages, USER_SUITE, boot, recipe};
use crate::workspace::{Workspace, run};

/// The program, and the library that it needs.
const PACKAGES: [&str; 2] = ["kexec-tools", "libc6"];
/// What is typed in a guest.
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
/// What is typed where the hypervisor is to come.
const TO_HYPERVISOR: [&str; 2] =
    ["/sbin/kexec -c -l /bin/hypervisor --initrd=/bin/bundle; echo \"=$?\"", "/sbin/kexec -e"];
/// The partition that it starts there, from the root, and what that says.
const PARTITION: &str = "examples/hello.toml";
const GREETING: &str = "hello: 64 words of untouched memory probed, 64 were zero and kept a value";
/// The file that they start, whatever the processor.
const HYPERVISOR: &str = "hypervisor";
/// Processors, and topologies with so many threads.
const MACHINES: [(&str, &str, u32); 4] =
    [(POWER9, "1x1x1", 1), (POWER9, "1x2x4", 8), (POWER8, "1x1x1", 1), (POWER8, "1x2x8", 16)];
/// Where the hypervisor says how many threads it has, if these are several.
const THREADS: &str = "powervisor: hardware threads: ";
/// QEMU's machine has no more.
const THREADS_OF_QEMU: u32 = 8;
/// Slots of the table of a guest of 1 GiB, and those that a call of [`CLEAR`] goes through.
const SLOTS: u64 = (1 << 30) / 128 / 16;
const SLOTS_OF_CALL: u64 = 64;

/// Both. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    Ok(format!("{}; {}", guests(workspace, packages)?, hypervisor(workspace, packages)?))
}

/// kexec-tools, and files beside it.
fn root<'a>(
    workspace: &Workspace,
    packages: &Packages,
    files: [(&'a str, &Path); 2],
) -> Result<Root<'a>> {
    let folder = workspace.target.join("linux");
    let client = Client::new(&folder, USER_SUITE)?;
    let mut root =
        Root::with_shell(&packages.user, &folder)?.with_programs(client.fetch("kexec", &PACKAGES)?);
    for (name, file) in files {
        let content = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        root.programs.push((name, content));
    }
    Ok(root)
}

/// Starts the hypervisor from Linux, on both machines, as every processor. What that took.
fn hypervisor(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/kexec");
    let [bundle, initramfs] = ["bundle", "bare"].map(|name| folder.join(name));
    run(workspace.powervisor(&["bundle", PARTITION, "--output"]).arg(&bundle))?;
    let image = workspace.images().join(HYPERVISOR);
    root(workspace, packages, [(HYPERVISOR, &image), ("bundle", &bundle)])?
        .write(&packages.shell()?, &initramfs)
        .context("making the initramfs")?;
    let mut took = Vec::new();
    for (processor, topology, threads) in MACHINES {
        for machine in [QEMU, OURS] {
            let place = format!("{processor}, {topology}, {machine}");
            let mut command = workspace.powervisor(&["boot", "--on", machine]);
            command.args(["--machine", processor, "--topology", topology]);
            command.arg("--kernel").arg(&packages.image).arg("--initrd").arg(&initramfs);
            command.args(["--append", "console=hvc0 quiet"]);
            let said = boot::converse(command, &TO_HYPERVISOR).with_context(|| place.clone())?;
            let threads = if machine == QEMU { threads.min(THREADS_OF_QEMU) } else { threads };
            let line = format!("{THREADS}{threads}");
            let has_all = threads == 1 || said.console.lines().any(|said| said.trim_end() == line);
            let is_there = said.answers == ["0"] && said.console.contains(GREETING) && has_all;
            ensure!(is_there, "{place}: the hypervisor did not start so:\n{}", said.console);
            took.push(format!("{place} {:.1} s", said.took.as_secs_f64()));
        }
    }
    Ok(format!("the hypervisor, started by kexec from Linux: {}", took.join("; ")))
}

/// Starts a kernel from a kernel in each kind of guest, on both machines. What that took.
fn guests(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/kexec");
    fs::create_dir_all(&folder)?;
    let shell = packages.shell()?;
    let second = folder.join("second");
    Root::with_shell(&packages.user, &folder)?
        .write(&shell, &second)
        .context("making the second initramfs")?;
    root(workspace, packages, [("kernel", &packages.image), ("root", &second)])?
        .write(&shell, &folder.join("first"))
        .context("making the first initramfs")?;

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
                // Behind a failure Linux goes through the table by itself.
                ensure!(
                    cleared == SLOTS / SLOTS_OF_CALL,
                    "{place}: Linux made {cleared} calls of {CLEAR}"
                );
                line += &format!(", {cleared} calls of {CLEAR}");
            }
            took.push(line);
        }
    }
    Ok(format!("guests of {VCPUS} vCPUs that start another kernel by kexec: {}", took.join("; ")))
}
