//! Timing mode under the hypervisor: every cycle is charged once, and how a run is cut, saved or observed
//! does not change it.

use std::collections::BTreeMap;
use std::process::Command;

use arch::processor::Processor;
use lab::console::Said;
use lab::images::Images;
use lab::ledger::names::Program;
use lab::on_simulator;
use lab::system::System;
use simulator::ledger::{Cause, Owner};
use simulator::pipeline::Settings;
use simulator::quantity::Bound;
use simulator::{Machine, NoObserver, RegionCounts};
use system_tests::{ALL, every_other_system, finish, on_each, systems, usual_systems};

fn start(system: &System, settings: Settings) -> Machine {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    machine.start_timing(settings);
    machine
}

/// The console without the hypervisor's lines that tell times.
fn without_times(console: &[u8]) -> Vec<String> {
    let lines = Said::by(console).lines.into_iter();
    lines.filter(|line| !line.contains(" us")).collect()
}

fn null_hypercall() -> System {
    systems("experiments/null-hypercall.toml").remove(0).1
}

#[test]
fn payloads_compute_the_same_with_time_and_every_cycle_is_charged() {
    for file in
        ["examples/hello.toml", "examples/memory-walk.toml", "experiments/null-hypercall.toml"]
    {
        for (name, system) in usual_systems(file) {
            let mut functional = on_simulator::start(&system).unwrap();
            let mut timed = start(&system, Settings::default());
            let consoles = [finish(&mut functional, ALL), finish(&mut timed, 100_003)];
            assert_eq!(without_times(&consoles[0]), without_times(&consoles[1]), "{name}");
            for thread in &timed.state().threads {
                let elapsed = timed.timing().unwrap().elapsed(thread);
                let lines = timed.charges().unwrap().lines();
                let lines = lines.filter(|line| line.thread == thread.index);
                assert_eq!(lines.map(|line| line.cycles).sum::<u64>(), elapsed, "{name}");
                assert!(elapsed > 100_000, "{name}");
            }
        }
    }
}

#[test]
fn every_system_ends_in_timing_mode() {
    on_each(every_other_system(0), |(name, system)| {
        let console = finish(&mut start(&system, Settings::default()), ALL);
        assert!(!console.is_empty(), "{name}");
    });
}

#[test]
fn slices_observers_and_snapshots_do_not_change_a_timed_run() {
    let system = null_hypercall();
    let mut whole = start(&system, Settings::default());
    let console = finish(&mut whole, ALL);

    let mut sliced = start(&system, Settings::default());
    assert_eq!(finish(&mut sliced, 9973), console);
    assert!(sliced == whole, "in slices the machine differs");

    let [mut plain, mut observed] = [(); 2].map(|()| start(&system, Settings::default()));
    plain.run(ALL, &mut NoObserver);
    observed.run(ALL, &mut RegionCounts::new());
    assert!(observed == plain, "observed, the machine differs");

    let total = whole.instructions();
    for before in [1, total / 3, total - 1000] {
        let mut original = start(&system, Settings::default());
        original.run(before, &mut NoObserver);
        let saved = original.snapshot();
        let mut restored = Machine::restore(&saved).unwrap();
        assert!(restored == original, "restored after {before}, the machine differs");
        finish(&mut restored, ALL);
        assert!(restored == whole, "restored after {before}, the end differs");
        assert!(restored.snapshot() == whole.snapshot(), "restored after {before}");
    }
}

#[test]
fn a_hypercall_is_the_partitions_and_the_hypervisors() {
    let mut machine = start(&null_hypercall(), Settings::default());
    finish(&mut machine, ALL);
    let mut by_owner: BTreeMap<Owner, u64> = BTreeMap::new();
    for line in machine.charges().unwrap().lines() {
        *by_owner.entry(line.owner).or_default() += line.cycles;
    }
    let calls = 12_000;
    let serving = by_owner[&Owner::Serving { lpid: 1, vector: 0xC00 }] / calls;
    let partition = by_owner[&Owner::Partition { lpid: 1 }] / calls;
    // The interrupt, the return and a scoreboard stall at least; less than the 509 of the real-mode
    // handlers that did more.
    assert!((100..509).contains(&serving), "{serving}");
    assert!((2..60).contains(&partition), "{partition}");
    assert!(by_owner.contains_key(&Owner::Firmware));
}

#[test]
fn guesses_at_their_ends_enclose_their_values() {
    let cycles = [Bound::Low, Bound::Value, Bound::High].map(|bound| {
        let mut machine = start(&null_hypercall(), Settings { bound, ..Settings::default() });
        finish(&mut machine, ALL);
        let lines = machine.charges().unwrap().lines();
        let flushes =
            lines.filter(|line| matches!(line.cause, Cause::FlushInterrupt | Cause::FlushReturn));
        (flushes.map(|line| line.cycles).sum::<u64>(), machine.charges().unwrap().total(0))
    });
    assert!(cycles[0].0 < cycles[1].0 && cycles[1].0 < cycles[2].0, "{cycles:?}");
    assert!(cycles[0].1 < cycles[1].1 && cycles[1].1 < cycles[2].1, "{cycles:?}");
}

/// Which functions are inlined at an address of the hypervisor, by binutils.
#[test]
fn what_is_inlined_into_a_function_is_what_addr2line_says() {
    let images = Images::find().unwrap();
    let program = Program::of_elf(&images.hypervisor_of(Processor::Power9).unwrap());
    let name = program.functions().find(|name| name.ends_with("::run_thread")).unwrap().to_owned();
    let start = program.addresses_of(&name)[0];
    let high = 0xC << 60;
    let addresses: Vec<u64> = (start..).step_by(52).take(400).collect();
    let mut command = Command::new("powerpc64le-linux-gnu-addr2line");
    command.args(["--inlines", "--functions", "--addresses", "--exe"]);
    command.arg(images.path_of(Processor::Power9));
    command.args(addresses.iter().map(|address| format!("{:#x}", high | address)));
    let output = command.output().expect("binutils-powerpc64le-linux-gnu is installed");
    let text = String::from_utf8(output.stdout).unwrap();
    // An address, and of each function a line with its name and one with its place, the innermost first.
    let said = text.split("\n0x").map(|part| part.lines().skip(1).step_by(2).collect::<Vec<_>>());
    let said: Vec<Vec<&str>> = said.collect();
    assert_eq!(said.len(), addresses.len(), "{text}");
    let mut deepest = 0;
    for (address, said) in addresses.iter().zip(said) {
        let place = program.place(*address);
        let is_of_it = place.function == name;
        let functions: Vec<String> =
            said.iter().rev().map(|raw| format!("{:#}", rustc_demangle::demangle(raw))).collect();
        if is_of_it {
            // Of the innermost it says the symbol.
            let depth = place.inlined.len();
            assert_eq!(
                depth,
                functions.len() - 1,
                "{address:#x}: {:?} {functions:?}",
                place.inlined
            );
            let around = depth.saturating_sub(1);
            assert_eq!(place.inlined[..around], functions[1..=around], "{address:#x}");
            deepest = deepest.max(depth);
        }
    }
    assert!(deepest >= 5, "{deepest}");
}
