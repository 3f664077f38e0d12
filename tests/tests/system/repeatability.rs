//! A description and a seed decide everything: a run done again, done in other slices, or saved and
//! restored on the way, is the same run.

use std::path::Path;

use lab::on_simulator;
use lab::system::System;
use powervisor::trace::Trace;
use simulator::{Machine, NoObserver, Oracle, RegionCounts};
use system_tests::{ALL, all_systems, every_other_system, finish, is_nightly, on_each, systems};

fn start(system: &System) -> Machine {
    on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_run_done_again_is_the_same_run() {
    on_each(every_other_system(0), |(name, system)| {
        let (mut first, mut second) = (start(&system), start(&system));
        let consoles = [finish(&mut first, ALL), finish(&mut second, ALL)];
        assert!(!consoles[0].is_empty(), "{name}");
        assert_eq!(consoles[0], consoles[1], "{name}");
        assert_eq!(first.instructions(), second.instructions(), "{name}");
        assert!(first == second, "{name}: the machines differ");
        assert!(first.snapshot() == second.snapshot(), "{name}: the snapshots differ");
    });
}

#[test]
fn two_different_runs_are_told_apart() {
    let ends: Vec<Machine> = all_systems()
        .iter()
        .take(2)
        .map(|(_, system)| {
            let mut machine = start(system);
            finish(&mut machine, ALL);
            machine
        })
        .collect();
    assert!(ends[0] != ends[1]);
    assert!(ends[0].snapshot() != ends[1].snapshot());
}

#[test]
fn slices_do_not_change_a_run() {
    let (_, system) = systems("examples/hello.toml").remove(0);
    let mut whole = start(&system);
    let console = finish(&mut whole, ALL);
    for slice in [997, 100_003] {
        let mut sliced = start(&system);
        assert_eq!(finish(&mut sliced, slice), console, "slices of {slice}");
        assert_eq!(sliced.instructions(), whole.instructions(), "slices of {slice}");
        assert!(sliced == whole, "slices of {slice}: the machines differ");
    }
}

/// Steps of both machines, the second without shortcuts, so many at a time.
fn step_both(quick: &mut Machine, slow: &mut Machine, times: u64, steps: u64) {
    for _ in 0..times {
        slow.forget_shortcuts();
        quick.run(steps, &mut NoObserver);
        slow.run(steps, &mut NoObserver);
    }
}

#[test]
fn shortcuts_do_not_change_a_run() {
    on_each(every_other_system(1), |(name, system)| {
        let (mut quick, mut slow) = (start(&system), start(&system));
        for part in 0..100 {
            // Every step for a while, then less often, then without a look.
            step_both(&mut quick, &mut slow, 50, 1);
            step_both(&mut quick, &mut slow, 20, 97);
            slow.forget_shortcuts();
            quick.run(10_000, &mut NoObserver);
            slow.run(10_000, &mut NoObserver);
            assert!(quick == slow, "{name}: the machines differ in part {part}");
        }
        assert_eq!(finish(&mut quick, ALL), finish(&mut slow, 100_003), "{name}");
        assert!(quick == slow, "{name}: the machines differ");
    });
}

#[test]
fn observing_does_not_change_a_run() {
    on_each(every_other_system(1), |(name, system)| {
        let (mut plain, mut observed) = (start(&system), start(&system));
        plain.run(ALL, &mut NoObserver);
        observed.run(ALL, &mut RegionCounts::new());
        assert!(plain == observed, "{name}: the machines differ");
        let mut watched = start(&system);
        watched.run(ALL, &mut Oracle::new(watched.state().shared.processor));
        assert!(plain == watched, "{name}: the machines differ");
        let mut traced = start(&system);
        let (nowhere, clock) = (Path::new("/dev/null"), traced.state().shared.clock);
        let mut trace = Trace::<false>::new(Some(nowhere), clock, &[]).unwrap();
        traced.run(ALL, &mut trace);
        trace.flush().unwrap();
        assert!(plain.snapshot() == traced.snapshot(), "{name}: the traced machine differs");
    });
}

#[test]
fn run_is_run_save_restore_run() {
    on_each(every_other_system(0), |(name, system)| {
        let mut whole = start(&system);
        let expected = finish(&mut whole, ALL);
        let total = whole.instructions();
        let others = [0, 1000, total / 3, total - total / 1000];
        let others = others.into_iter().filter(|_| is_nightly());
        for before in [1, total / 2, total - 1].into_iter().chain(others) {
            let mut original = start(&system);
            if before > 0 {
                original.run(before, &mut NoObserver);
            }
            let mut console = original.take_console_output();
            let saved = original.snapshot();
            let mut restored =
                Machine::restore(&saved).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(
                restored == original,
                "{name}: restored after {before} instructions, the machine differs"
            );
            assert!(
                restored.snapshot() == saved,
                "{name}: saved again after {before} instructions, the snapshot differs"
            );
            console.extend(finish(&mut restored, ALL));
            assert_eq!(console, expected, "{name}: restored after {before} instructions");
            assert_eq!(
                restored.instructions(),
                total,
                "{name}: restored after {before} instructions"
            );
            assert!(
                restored == whole,
                "{name}: restored after {before} instructions, the end differs"
            );
        }
    });
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let (_, system) = systems("examples/hello.toml").remove(0);
    let saved = start(&system).snapshot();
    assert!(Machine::restore(&[]).is_err());
    assert!(Machine::restore(&saved[..saved.len() / 2]).is_err());
    assert!(Machine::restore(b"not a snapshot at all").is_err());
}
