//! A partition that starts anew without end pays for it: zeroing and loading is its time, and its time limit ends it.

use lab::on_simulator;
use simulator::{NoObserver, RunState};
use system_tests::containment::{misbehaving, on_threads};
use system_tests::record;

/// Microseconds of a slice in `examples/misbehave.toml`: a limit is kept within one.
const SLICE_US: u64 = 20;

/// Runs the mode to its time limit, and returns how long the machine and the partition ran, in microseconds, and how
/// often it started anew.
fn run(mode: &str, topology: [u32; 3], time_limit_us: u64) -> [u64; 3] {
    let system = on_threads(misbehaving(mode, 0, time_limit_us), topology);
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    assert!(matches!(state, RunState::PoweredOff), "{mode} {topology:?}");
    let console = machine.take_console_output();
    let text = String::from_utf8_lossy(&console);
    let stopped = "partition misbehave: stopped: it used up its time limit";
    assert!(text.contains(stopped), "{mode} {topology:?}: {text}");
    let partitions = record(&console).partitions;
    let misbehaving = partitions.iter().find(|partition| partition.name == "misbehave");
    let counts = &misbehaving.expect("it ran").counts;
    let elapsed = (machine.simulated_seconds() * 1e6) as u64;
    [elapsed, counts["time_ran_us"], counts["time_restarts"]]
}

#[test]
fn restarts_are_limited_by_the_time_that_they_take() {
    for mode in ["restart", "restart-storm", "outlive-restart"] {
        for topology in [[1, 1, 1], [1, 1, 4], [1, 2, 2]] {
            let [_, ran, restarts] = run(mode, topology, 3_000);
            println!("{mode} on {topology:?}: {ran} us");
            let is_kept = (3_000..3_000 + SLICE_US).contains(&ran);
            assert!(is_kept, "{mode} {topology:?}: {ran} us");
            assert!(restarts > 5, "{mode} {topology:?}: {restarts} restarts");
        }
    }
}

/// What the machine takes longer for a longer limit is what the partition was charged more, but for a twentieth.
#[test]
fn restarts_are_charged_for_what_they_take() {
    for mode in ["restart", "restart-storm"] {
        let [short, long] = [2_000, 6_000].map(|limit| run(mode, [1, 1, 1], limit));
        let [elapsed, charged] = [0, 1].map(|index: usize| long[index] - short[index]);
        assert!(charged * 20 >= elapsed * 19, "{mode}: {charged} of {elapsed} us");
    }
}
