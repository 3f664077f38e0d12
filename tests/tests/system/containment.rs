//! Whatever a partition does, it is stopped or goes on without effect, the others' output is what it is
//! without it, and the hypervisor runs to its end. On both machines, on one hardware thread and on four.

use std::time::Duration;

use lab::comparison::Transcript;
use lab::interruption::Interruption;
use lab::on_qemu;
use lab::system::System;
use system_tests::containment::{self, MODES, harmless, misbehaving, on_threads, victims};
use system_tests::{is_nightly, number_from, system_of};

const TIMEOUT: Duration = Duration::from_secs(300);

fn watched(system: &System) -> Transcript {
    let (transcript, findings) = containment::watched(system);
    assert_eq!(findings, [""; 0], "{}", String::from_utf8_lossy(&transcript.console));
    transcript
}

fn on_qemu(system: &System) -> Transcript {
    on_qemu::transcript(system, TIMEOUT, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{failure}"))
}

fn check(
    modes: &[(&str, &str)],
    topology: [u32; 3],
    time_limit_us: u64,
    run: impl Fn(&System) -> Transcript,
) {
    let alone = victims(&run(&on_threads(harmless(), topology)));
    let expected = [
        "[registers] registers: 200 rounds, 0 wrong",
        "[smp] smp: 3 vCPUs, sum 3000, 30 interrupts passed, 0 spurious",
    ];
    assert_eq!(alone, expected, "{topology:?}: without it");
    let calls = number_from("POWERVISOR_RANDOM_CALLS", 1500);
    for (mode, end) in modes {
        let system = on_threads(misbehaving(mode, calls, time_limit_us), topology);
        let transcript = run(&system);
        let wrong = containment::check(&transcript, &alone);
        wrong.unwrap_or_else(|wrong| panic!("{mode} {topology:?}: {wrong}"));
        let ends_so = transcript.lines().iter().any(|line| line.contains(*end));
        let text = String::from_utf8_lossy(&transcript.console);
        assert!(ends_so, "{mode} {topology:?}: not \"{end}\"\n{text}");
    }
}

/// The modes that QEMU runs.
fn of_qemu() -> Vec<(&'static str, &'static str)> {
    MODES.into_iter().filter(|(mode, _)| containment::runs_on_qemu(mode)).collect()
}

/// All modes in the nightly run, else every other one from the first or the second on.
fn some_of(
    modes: &[(&'static str, &'static str)],
    first: usize,
) -> Vec<(&'static str, &'static str)> {
    if is_nightly() {
        modes.to_vec()
    } else {
        modes.iter().skip(first).step_by(2).copied().collect()
    }
}

#[test]
fn nobody_harms_the_others_on_our_machine() {
    check(&MODES, [1, 1, 1], 4_000, watched);
}

/// Before each push every other mode on each topology.
#[test]
fn nobody_harms_the_others_on_four_threads_of_our_machine() {
    for (first, topology) in [[1, 2, 2], [1, 1, 4]].into_iter().enumerate() {
        check(&some_of(&MODES, first), topology, 4_000, watched);
    }
}

/// Before each push every other mode.
#[test]
fn nobody_harms_the_others_on_qemu() {
    // QEMU runs fewer instructions in the same time.
    check(&some_of(&of_qemu(), 0), [1, 1, 1], 500_000, on_qemu);
}

/// The nightly run has all modes.
#[test]
fn nobody_harms_the_others_on_four_cores_of_qemu() {
    let is_one_of_few = |mode: &&(&str, _)| ["wild-store", "requests", "restart"].contains(&mode.0);
    let few: Vec<(&str, &str)> = MODES.iter().filter(is_one_of_few).copied().collect();
    let all = of_qemu();
    check(if is_nightly() { &all } else { &few }, [1, 4, 1], 500_000, on_qemu);
}

/// On our machine alone: QEMU's powernv counts by its own clock. `registers` checks its own counters with the rest.
#[test]
fn counters_harm_nobody() {
    let text = include_str!("../../../examples/misbehave.toml")
        .replace("mode=tables", "mode=count")
        .replace("memory =", "performance_monitor = true\nmemory =");
    for topology in [[1, 1, 1], [1, 1, 4]] {
        let transcript = watched(&on_threads(system_of(&text), topology));
        let alone = victims(&watched(&on_threads(harmless(), topology)));
        let wrong = containment::check(&transcript, &alone);
        wrong.unwrap_or_else(|wrong| panic!("{topology:?}: {wrong}"));
        let lines = transcript.lines();
        let alerts =
            lines.iter().find(|line| line.ends_with(" alerts")).expect("the end of `count`");
        assert!(!alerts.contains(" 0 alerts"), "{topology:?}: no counter became negative");
    }
}
