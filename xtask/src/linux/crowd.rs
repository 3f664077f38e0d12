//! Kernels as guests side by side: one is rebooted by hand while the others compute and power off.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::initramfs::Root;
use super::{Packages, boot};
use crate::workspace::Workspace;

/// A shell, or sums that are made twice and compared; a kernel whose first program fails panics.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
case $1 in
load)
    round=0
    while [ $round -lt 10 ]; do
        [ \"$(seq 20000 | md5sum)\" = \"$(seq 20000 | md5sum)\" ] || exit 1
        round=$((round + 1))
    done ;;
*) sh ;;
esac
poweroff -f
";
/// How many guests boot, on which machine, with how many hardware threads.
const CROWDS: [(u32, &str, &str); 2] = [(8, "simulator", "1x2x2"), (2, "qemu", "1x1x1")];

/// Boots each crowd, and reboots its first guest; fails unless all come to their end. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/crowd");
    fs::create_dir_all(&folder)?;
    let root = Root { init: INIT, programs: Vec::new(), modules: Vec::new() };
    let initramfs = folder.join("initramfs");
    root.write(&packages.shell()?, &initramfs).context("making the initramfs")?;
    let mut took = Vec::new();
    for (guests, machine, topology) in CROWDS {
        let partition = |index| {
            let does = if index == 0 { "shell" } else { "load" };
            format!(
                "[[partition]]\nname = \"linux{index}\"\npayload = {:?}\ninitrd = \"initramfs\"\nmemory = \"192 MiB\"\n\
                 vcpus = 1\nperformance_monitor = true\narguments = \"console=hvc0 quiet -- {does}\"\n",
                packages.image
            )
        };
        let file = folder.join("crowd.toml");
        fs::write(&file, (0..guests).map(partition).collect::<String>())?;
        let mut command = workspace.powervisor(&["boot", "--on", machine, "--console", "linux0"]);
        command.args(["--topology", topology]).arg(file);
        let commands = ["reboot -f", "echo \"=again\"", "poweroff -f"];
        let said = boot::converse(command, &commands)
            .with_context(|| format!("{guests} guests on {machine}"))?;
        ensure!(said.answers == ["again"], "the first of {guests} answers {:?}", said.answers);
        took.push(format!("{guests} on {machine} in {:.1} s", said.took.as_secs_f64()));
    }
    Ok(format!("guests side by side, one of them rebooted: {}", took.join("; ")))
}
