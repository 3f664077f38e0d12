//! Whatever a partition does, it is stopped or goes on without effect, the others' output is what it is
//! without it, and the hypervisor runs to its end. On both machines.

use std::time::Duration;

use powervisor::comparison::Transcript;
use powervisor::system::{Exit, System};
use powervisor::{on_qemu, on_simulator};
use simulator::Oracle;
use system_tests::{changed_system, number_from};

const TIMEOUT: Duration = Duration::from_secs(300);

/// What the misbehaving partition does, and how it must end: with a word of the hypervisor's line about
/// it, or well.
const MODES: [(&str, &str); 16] = [
    ("wild-load", "stopped: access to guest real address"),
    ("wild-store", "stopped: access to guest real address"),
    ("wild-fetch", "stopped: access to guest real address"),
    ("instructions", "[misbehave] misbehave: 21 of 21 instructions refused, MSR kept: true"),
    ("stop", "[misbehave] misbehave: 4 of 4 stops refused"),
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
];

/// The example with another mode, and time that suits the machine.
fn system(mode: &str, time_limit_us: u64) -> System {
    let calls = number_from("POWERVISOR_RANDOM_CALLS", 1500);
    // More than a call takes on either machine.
    let time_for_calls_us = if mode == "hypercalls" { 30 * calls } else { 0 };
    let limit = format!("time_limit_us = {}", time_limit_us + time_for_calls_us);
    let arguments = format!("mode={mode} calls={calls}");
    let changes = [("mode=wild-store", &*arguments), ("time_limit_us = 20000", &*limit)];
    changed_system("examples/misbehave.toml", &changes)
}

/// The lines of the partitions that do no harm.
fn victims(transcript: &Transcript) -> Vec<String> {
    let mut lines = transcript.lines();
    lines.retain(|line| line.starts_with("[registers]") || line.starts_with("[smp]"));
    lines.sort();
    lines
}

/// Runs the system on our machine. The oracle watches: nobody gets what is another's either.
fn watched(system: &System) -> Transcript {
    let mut oracle = Oracle::default();
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let mut console = Vec::new();
    let exit = on_simulator::run(&mut machine, &mut oracle, |machine| {
        console.extend(machine.take_console_output());
        Ok(())
    });
    assert_eq!(oracle.findings(), [], "{}", String::from_utf8_lossy(&console));
    Transcript { console, exit: exit.unwrap_or_else(|failure| panic!("{failure}")) }
}

fn check(modes: &[(&str, &str)], time_limit_us: u64, run: impl Fn(&System) -> Transcript) {
    let expected = [
        "[registers] registers: 200 rounds, 0 wrong",
        "[smp] smp: 3 vCPUs, sum 3000, 30 interrupts passed, 0 spurious",
    ];
    for &(mode, end) in modes {
        let transcript = run(&system(mode, time_limit_us));
        let text = String::from_utf8_lossy(&transcript.console);
        assert_eq!(transcript.exit, Exit::PoweredOff, "{mode}:\n{text}");
        assert_eq!(victims(&transcript), expected, "{mode}:\n{text}");
        assert!(transcript.lines().iter().any(|line| line.contains(end)), "{mode}:\n{text}");
        let last = transcript.lines().pop().unwrap();
        assert_eq!(last, "powervisor: all partitions have ended", "{mode}:\n{text}");
    }
}

#[test]
fn nobody_harms_the_others_on_our_machine() {
    check(&MODES, 4_000, watched);
}

#[test]
fn nobody_harms_the_others_on_qemu() {
    // QEMU runs fewer instructions in the same time.
    let modes = MODES;
    check(&modes, 500_000, |system| {
        on_qemu::transcript(system, TIMEOUT).unwrap_or_else(|failure| panic!("{failure}"))
    });
}
