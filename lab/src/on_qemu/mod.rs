//! Runs a system on QEMU's `powernv9` or `powernv8` machine under real skiboot firmware.
//!
//! This file says what QEMU is given and when a run is over; `process` keeps the running program, `memory` what is left
//! of its memory.

mod memory;
mod process;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use arch::bundle::PrefetchPolicy;
use arch::processor::Processor;

use crate::bundle;
use crate::comparison::Transcript;
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::system::{Exit, System};
pub use memory::Memory;
use process::{Process, host_failure};

/// Starts QEMU such that it ends with us, also where somebody kills us.
const KEEPER: &str = "setpriv";
const PROGRAM: &str = "qemu-system-ppc64";
/// Debian's package with [`PROGRAM`].
const PACKAGE: &str = "qemu-system-ppc";
/// QEMU's cores have one thread each, so it gets as many as the machine has threads, up to this number,
/// more of which nobody has tried.
const CORES_MAX: u32 = 8;
/// How long to wait for output before looking at everything else.
const PATIENCE: Duration = Duration::from_millis(20);

/// What may limit a run or feed its console.
#[derive(Debug)]
pub struct Options<'a> {
    /// The run is stopped after this much host time.
    pub timeout: Option<Duration>,
    /// What is typed on the console.
    pub input: Option<Receiver<Vec<u8>>>,
    /// What the machine has as its memory, to be read when it has ended; else nothing is left of that.
    pub memory: Option<&'a Memory>,
    /// The run is ended by this.
    pub interruption: Interruption,
}

/// Runs a system from start to end; `console` gets the console's bytes, firmware's log included, and whatever it fails
/// with ends the run.
pub fn run<E: From<Failure>>(
    system: &System,
    options: &Options<'_>,
    mut console: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Exit, E> {
    let asked = bundle::prefetch(system.initrd.as_deref().unwrap_or_default());
    if asked != PrefetchPolicy::Off {
        let text =
            format!("it has no prefetch engine; leave `prefetch = \"{}\"` out there", asked.name());
        return Err(Failure::input("QEMU", text).into());
    }
    if let Some(subcores) = bundle::subcores(system.initrd.as_deref().unwrap_or_default()) {
        let text = format!("its cores cannot be split; leave `subcores = {subcores}` out there");
        return Err(Failure::input("QEMU", text).into());
    }
    let files = tempfile::tempdir().map_err(host_failure)?;
    let mut process = Process::start(
        command(system, files.path(), options.memory)?,
        files.path(),
        options.interruption,
    )?;
    let started = Instant::now();
    loop {
        options.interruption.check()?;
        if let Some(timeout) = options.timeout
            && started.elapsed() > timeout
        {
            return Ok(Exit::Stopped(format!("QEMU did not end within {} s", timeout.as_secs())));
        }
        if let Some(input) = &options.input {
            input.try_iter().for_each(|bytes| process.type_in(&bytes));
        }
        match process.output().recv_timeout(PATIENCE) {
            Ok(bytes) => console(&bytes)?,
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return Ok(process.finish()?),
        }
    }
}

/// Runs a system from start to end and keeps what it showed.
pub fn transcript(
    system: &System,
    timeout: Duration,
    interruption: Interruption,
) -> Result<Transcript, Failure> {
    let mut console = Vec::new();
    let options = Options { timeout: Some(timeout), input: None, memory: None, interruption };
    let exit = run(system, &options, |bytes| {
        console.extend(bytes);
        Ok::<(), Failure>(())
    })?;
    Ok(Transcript { console, exit })
}

/// QEMU's machine with `processor`.
fn machine(processor: Processor) -> &'static str {
    match processor {
        Processor::Power8 => "powernv8",
        Processor::Power9 => "powernv9",
    }
}

/// QEMU with the system's files, which are put into `folder`, and with memory that outlasts it or not.
///
/// `-nodefaults` leaves out the PCI host bridges, which cost skiboot six seconds, and with them the
/// BMC model, without which there is no power-off (`docs/facts/opal-and-powernv.md#power-off`).
fn command(system: &System, folder: &Path, memory: Option<&Memory>) -> Result<Command, Failure> {
    let description = system.machine.describe()?;
    let memory_bytes = description.memory_bytes();
    let (chips, cores, threads) = description.topology();
    let cores = (chips * cores * threads).min(CORES_MAX);
    let kernel = folder.join("kernel");
    fs::write(&kernel, &system.kernel).map_err(host_failure)?;
    let mut command = Command::new(KEEPER);
    command
        .args(["--pdeathsig", "KILL", PROGRAM])
        .args([
            "-M",
            machine(description.processor()),
            "-nodefaults",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(["-device", "ipmi-bmc-sim,id=bmc0", "-device", "isa-ipmi-bt,bmc=bmc0,irq=10"])
        .args(["-smp", &cores.to_string()])
        .args(["-serial", "stdio", "-m", &format!("size={memory_bytes}B")])
        .arg("-kernel")
        .arg(kernel);
    if let Some(memory) = memory {
        command.args(memory.arguments(memory_bytes));
    }
    if let Some(initrd) = &system.initrd {
        let path = folder.join("initrd");
        fs::write(&path, initrd).map_err(host_failure)?;
        command.arg("-initrd").arg(path);
    }
    if !system.arguments.is_empty() {
        command.args(["-append", &system.arguments]);
    }
    Ok(command)
}
