//! Runs a rule's program on QEMU, with skiboot.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Verdict;
use crate::rule::{Processor, Rule};

const PROGRAM: &str = "qemu-system-ppc64";
/// Host time after which a program counts as hung. Booting takes a second; the host may be busy.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

/// What QEMU with `processor` makes of `image`; `folder` takes its files.
///
/// # Panics
/// If QEMU cannot be started.
#[must_use]
pub fn run(rule: &Rule, processor: Processor, image: &[u8], folder: &Path) -> Verdict {
    let kernel = folder.join("kernel");
    let console = folder.join("console");
    fs::write(&kernel, image).expect("the folder takes files");
    let output = File::create(&console).expect("the folder takes files");
    let cores = rule.file.cores.unwrap_or(1);
    // No PCI host bridges, which cost skiboot six seconds; with a BMC, for the power-off.
    let mut child = Command::new(PROGRAM)
        .args(["-M", processor.qemu_machine(), "-m", "2G"])
        .args(["-nodefaults", "-display", "none", "-no-reboot"])
        .args(["-smp", &format!("{cores},cores={cores},threads=1,sockets=1")])
        .args(["-device", "ipmi-bmc-sim,id=bmc0", "-device", "isa-ipmi-bt,bmc=bmc0,irq=10"])
        .args(["-serial", "stdio", "-kernel"])
        .arg(&kernel)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|fault| panic!("{PROGRAM}: {fault}"));
    let started = Instant::now();
    let report = loop {
        match child.try_wait().expect("a child can be asked") {
            Some(status) if status.success() => break None,
            Some(status) => break Some(format!("QEMU ended with {status}")),
            None if started.elapsed() > PATIENCE => {
                child.kill().expect("a child can be ended");
                child.wait().expect("a child ends");
                break Some(format!("QEMU did not end within {} s", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(PAUSE),
        }
    };
    let bytes = fs::read(&console).expect("the console's file is there");
    let console = String::from_utf8_lossy(&bytes).replace('\r', "");
    // Behind the firmware's log.
    let console = console.split("INIT: Starting kernel").last().unwrap_or_default().to_owned();
    Verdict { console, report, two_sizes: None }
}
