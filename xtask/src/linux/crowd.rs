//! Kernels as guests side by side, of either translation: one is rebooted by hand and one panics and reboots until its
//! time is up, while the others compute and power off.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::initramfs::Root;
use super::{Packages, boot};
use crate::workspace::Workspace;

/// A shell, or sums that are made twice and compared, or an end at once; a kernel whose first program fails panics.
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
fail) exit 1 ;;
*) sh ;;
esac
poweroff -f
";
/// How many guests boot beside the one that panics, on which machine, with how many hardware threads, and microseconds
/// of the processor that that one has. On QEMU these are the host's.
const CROWDS: [(u32, &str, &str, u64); 4] = [
    (2, "simulator", "1x1x1", 1_500_000),
    (8, "simulator", "1x2x2", 1_500_000),
    (2, "qemu", "1x1x1", 30_000_000),
    (8, "qemu", "1x1x1", 30_000_000),
];
/// Memory of the machine: more than the largest crowd has.
const MEMORY: &str = "4 GiB";
/// The one that panics.
const PANICS: &str = "panics";

/// Boots each crowd, and reboots its first guest; fails unless all come to their end. What that took.
pub(super) fn boot(workspace: &Workspace, packages: &Packages) -> Result<String> {
    let folder = workspace.target.join("linux/crowd");
    fs::create_dir_all(&folder)?;
    let root = Root { init: INIT, programs: Vec::new(), modules: Vec::new(), packages: None };
    let initramfs = folder.join("initramfs");
    root.write(&packages.shell()?, &initramfs).context("making the initramfs")?;
    let mut took = Vec::new();
    for (guests, machine, topology, limit) in CROWDS {
        let partition = |name: &str, translation: &str, more: &str| {
            format!(
                "[[partition]]\nname = \"{name}\"\npayload = {:?}\ninitrd = \"initramfs\"\nmemory = \"192 MiB\"\n\
                 vcpus = 1\ntranslation = \"{translation}\"\nperformance_monitor = true\n{more}",
                packages.image
            )
        };
        let mut text = format!("[machine]\nmemory = \"{MEMORY}\"\n");
        for index in 0..guests {
            let does = if index == 0 { "shell" } else { "load" };
            let translation = if index % 2 == 0 { "radix" } else { "hash" };
            let more = format!("arguments = \"console=hvc0 quiet -- {does}\"\n");
            text += &partition(&format!("linux{index}"), translation, &more);
        }
        let more = format!(
            "time_limit_us = {limit}\narguments = \"console=hvc0 quiet panic=-1 -- fail\"\n"
        );
        text += &partition(PANICS, "radix", &more);
        let file = folder.join("crowd.toml");
        fs::write(&file, text)?;
        let mut command = workspace.powervisor(&["boot", "--on", machine, "--console", "linux0"]);
        command.args(["--topology", topology]).arg(file);
        let commands = ["reboot -f", "echo \"=again\"", "poweroff -f"];
        let (status, said) = boot::talk_to(command, &commands)
            .with_context(|| format!("{guests} guests on {machine}"))?;
        // The console has the first guest's lines alone.
        let log = &said.log;
        let is_there = |line: &str| log.contains(line);
        ensure!(
            said.answers == ["again"],
            "the first of {guests} on {machine} answers {:?}:\n{log}",
            said.answers
        );
        for index in 0..guests {
            let line = format!("summary: partition linux{index}: powered off;");
            ensure!(is_there(&line), "{guests} on {machine}: no `{line}` in\n{log}");
        }
        let limited = format!("partition {PANICS}: stopped: it used up its time limit");
        ensure!(is_there(&limited), "{guests} on {machine}: no `{limited}` in\n{log}");
        ensure!(
            !status.success(),
            "{guests} on {machine}: a guest was stopped, and it says {status}"
        );
        let restarts = restarts(log).context("no line tells how often it started again")?;
        ensure!(restarts > 0, "{guests} on {machine}: it never rebooted:\n{log}");
        let seconds = said.took.as_secs_f64();
        took.push(format!("{guests} on {machine} in {seconds:.1} s, {restarts} panics"));
    }
    Ok(format!(
        "guests side by side, one rebooted by hand and one by its panics until its time was up: {}",
        took.join("; ")
    ))
}

/// How often the guest that panics started again.
fn restarts(log: &str) -> Option<u64> {
    let begins = format!("time: partition {PANICS}: ");
    let line = log.lines().find(|line| line.contains(&begins))?;
    line.trim_end().rsplit_once("restarts ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::restarts;

    #[test]
    fn restarts_are_those_of_the_guest_that_panics() {
        let log = "powervisor: time: partition linux0: ran 5 us, preempted 1, restarts 1\r\n\
            powervisor: time: partition panics: ran 5 us, preempted 1, restarts 17\r\n";
        assert_eq!(restarts(log), Some(17));
        assert_eq!(restarts(""), None);
    }
}
