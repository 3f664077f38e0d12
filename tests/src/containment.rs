//! A partition that misbehaves beside two that do no harm: what the tests of containment share.

use lab::comparison::Transcript;
use lab::machine_file::MachineFile;
use lab::on_simulator;
use lab::system::{Exit, System};
use simulator::Oracle;

use crate::{changed_system, system_of};

/// What the misbehaving partition does, and how it must end: with a word of the hypervisor's line about
/// it, or well.
pub const MODES: [(&str, &str); 33] = [
    ("wild-load", "[misbehave] unexpected interrupt: Machine Check (0x200)"),
    ("wild-store", "[misbehave] unexpected interrupt: Machine Check (0x200)"),
    ("wild-fetch", "[misbehave] unexpected interrupt: Machine Check (0x200)"),
    ("instructions", "[misbehave] misbehave: 21 of 21 instructions refused, MSR kept: true"),
    ("stop", "[misbehave] misbehave: stop: still here"),
    ("states", "[misbehave] misbehave: MSR kept: true"),
    ("wild-states", "[misbehave] misbehave: wild-states: still here"),
    ("hypercalls", "[misbehave] misbehave: hypercalls: still here"),
    ("loop", "stopped: it used up its time limit"),
    ("sleep", "stopped: its vCPUs sleep and nothing will wake them"),
    ("storm", "stopped: it used up its time limit"),
    ("requests", "stopped: it used up its time limit"),
    ("tables", "stopped: access to guest real address"),
    ("tree", "[misbehave] misbehave: tree: still here"),
    ("restart", "stopped: it used up its time limit"),
    ("registers", "[misbehave] misbehave: refused"),
    ("restart-storm", "stopped: it used up its time limit"),
    ("touch-storm", "stopped: it used up its time limit"),
    ("areas", "stopped: it used up its time limit"),
    ("clocks", "stopped: it used up its time limit"),
    ("numbers", "[misbehave] misbehave: 0 numbers without a call answered otherwise"),
    ("set-mode", "stopped: it used up its time limit"),
    ("outlive", "powervisor: summary: partition misbehave: powered off"),
    ("outlive-restart", "stopped: it used up its time limit"),
    ("doorbells", "stopped: it used up its time limit"),
    ("confer", "stopped: it used up its time limit"),
    ("confer-any", "stopped: it used up its time limit"),
    ("prod", "stopped: it used up its time limit"),
    ("wake", "stopped: it used up its time limit"),
    ("nap", "stopped: it used up its time limit"),
    ("loop-all", "stopped: it used up its time limit"),
    ("confer-all", "stopped: it used up its time limit"),
    ("prod-all", "stopped: it used up its time limit"),
];

/// Whether QEMU can run a mode: it ends where a doorbell that waits would be taken ("SDOOR exception not implemented").
#[must_use]
pub fn runs_on_qemu(mode: &str) -> bool {
    mode != "doorbells"
}

/// The example with another mode, this many random hypercalls where that makes any, and time that suits the
/// machine. Modes that end otherwise have a hundred times that: on QEMU time is the host's, which others use
/// too.
#[must_use]
pub fn misbehaving(mode: &str, calls: u64, time_limit_us: u64) -> System {
    misbehaving_with(mode, calls, time_limit_us, "")
}

/// The same with further lines in front of the file's partitions.
#[must_use]
pub fn misbehaving_with(mode: &str, calls: u64, time_limit_us: u64, more: &str) -> System {
    // More than a call takes on either machine.
    let time_for_calls_us = if mode == "hypercalls" { 30 * calls } else { 0 };
    let ends_by_limit = |(name, end): &(&str, &str)| *name == mode && end.contains("time limit");
    // That of a hashed page table is not in the list.
    let is_endless = mode == "hash-race" || MODES.iter().any(ends_by_limit);
    let factor = if is_endless { 1 } else { 100 };
    let size = if mode == "hash-resize" { "\nresizable_table = true" } else { "" };
    let limit = format!("time_limit_us = {}{size}", factor * time_limit_us + time_for_calls_us);
    let arguments = format!("mode={mode} calls={calls}");
    let more = format!("slice_us = 20\n{more}");
    let changes = [
        ("mode=tables", &*arguments),
        ("time_limit_us = 20000", &*limit),
        ("slice_us = 20\n", &*more),
    ];
    changed_system("examples/misbehave.toml", &changes)
}

/// The partitions of the example that do no harm, alone.
#[must_use]
pub fn harmless() -> System {
    let text = include_str!("../../examples/misbehave.toml");
    let end = text.rfind("[[partition]]").expect("the last partition is the one that misbehaves");
    system_of(&text[..end])
}

/// The same system on a machine with so many chips, cores of each and threads of each core.
#[must_use]
pub fn on_threads(mut system: System, topology: [u32; 3]) -> System {
    system.machine = system.machine.with_topology(topology, "the test");
    system
}

/// The same system on a POWER8.
///
/// # Panics
/// Never: the machine comes with the command.
#[must_use]
pub fn on_power8(system: System) -> System {
    let machine = MachineFile::built_in("power8").expect("a machine that comes with the command");
    System { machine, ..system }
}

/// The lines of the partitions that do no harm.
#[must_use]
pub fn victims(transcript: &Transcript) -> Vec<String> {
    let mut lines = transcript.lines();
    lines.retain(|line| line.starts_with("[registers]") || line.starts_with("[smp]"));
    lines.sort();
    lines
}

/// Runs the system on our machine. The oracle watches: nobody gets what is another's, and nobody loses what is
/// its own. What it found is the second answer.
///
/// # Panics
/// If the system cannot be started.
#[must_use]
pub fn watched(system: &System) -> (Transcript, Vec<String>) {
    let description = system.machine.describe().unwrap_or_else(|failure| panic!("{failure}"));
    let mut oracle = Oracle::new(description.processor());
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let mut console = Vec::new();
    let exit = on_simulator::run(&mut machine, &mut oracle, |machine| {
        console.extend(machine.take_console_output());
        Ok(())
    });
    let exit = exit.unwrap_or_else(|failure| panic!("{failure}"));
    let (_, _, threads) = description.topology();
    (Transcript { console, exit }, findings(&oracle, threads))
}

/// What the oracle found, on cores of so many threads: VTB is a core's, so what its threads run at the same time
/// disturbs it (see docs/caveats/machine.md#interrupts).
fn findings(oracle: &Oracle, threads_per_core: u32) -> Vec<String> {
    let findings = oracle.findings().iter().map(ToString::to_string);
    findings.filter(|finding| threads_per_core == 1 || !finding.contains(": VTB = ")).collect()
}

/// What is wrong with a run beside a partition that misbehaves, if the others' lines are `expected`.
///
/// # Errors
/// What, and the console.
pub fn check(transcript: &Transcript, expected: &[String]) -> Result<(), String> {
    let lines = transcript.lines();
    let wrong = if transcript.exit != Exit::PoweredOff {
        format!("the machine did not switch off: {}", transcript.exit)
    } else if victims(transcript) != expected {
        format!("the others' output is not what it is without it: {expected:?}")
    } else if lines.last().map(String::as_str) != Some("powervisor: all partitions have ended") {
        "the hypervisor did not run to its end".to_owned()
    } else {
        return Ok(());
    };
    let report = match &transcript.exit {
        Exit::Stopped(report) => report,
        _ => "",
    };
    Err(format!("{wrong}\n{report}\n{}", String::from_utf8_lossy(&transcript.console)))
}
