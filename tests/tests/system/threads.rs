//! The hypervisor on machines with several hardware threads: the same systems end as well as on one, what a
//! vCPU is made of stays its own, and the work is done by more than one thread.

use lab::system::System;
use simulator::{Boot, Description, Machine, NoObserver, Oracle, RunState};
use system_tests::{every_other_system, is_nightly, on_each, record, system_of, systems};

/// Chips, cores of each, threads of each core.
const TOPOLOGIES: [[u32; 3]; 3] = [[1, 4, 1], [1, 2, 2], [2, 4, 4]];

fn machine([chips, cores, threads]: [u32; 3], memory_bytes: &str) -> Machine {
    let text = include_str!("../../../machines/power9.toml")
        .replace("chips = 1", &format!("chips = {chips}"))
        .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"))
        .replace("threads_per_core = 1", &format!("threads_per_core = {threads}"))
        .replace("bytes = 0x8000_0000", &format!("bytes = {memory_bytes}"));
    Machine::new(Description::from_toml(&text).expect("the machine can be"), 1)
}

fn boot(machine: &mut Machine, system: System) {
    let System { kernel, initrd, arguments, .. } = system;
    machine.boot(&Boot { kernel, initrd, arguments }).expect("the images can be booted");
}

#[test]
fn what_is_a_vcpus_own_stays_its_own_on_several_threads() {
    for (index, topology) in TOPOLOGIES.into_iter().enumerate() {
        on_each(every_other_system(index % 2), |(name, system)| {
            let mut machine = machine(topology, "0x8000_0000");
            boot(&mut machine, system);
            let mut oracle = Oracle::new(machine.state().shared.processor);
            let end = machine.run(1 << 31, &mut oracle);
            let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
            assert!(matches!(end, RunState::PoweredOff), "{name} {topology:?}: {end:?}\n{console}");
            assert!(!console.contains("stopped"), "{name} {topology:?}:\n{console}");
            let findings: Vec<String> = oracle.findings().iter().map(ToString::to_string).collect();
            assert!(findings.is_empty(), "{name} {topology:?}:\n{}", findings.join("\n"));
        });
    }
}

#[test]
fn several_threads_do_the_work_of_several_vcpus() {
    let system = systems("examples/storm.toml").remove(0).1;
    let mut machine = machine([1, 2, 2], "0x8000_0000");
    boot(&mut machine, system);
    let end = machine.run(1 << 31, &mut NoObserver);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    assert!(matches!(end, RunState::PoweredOff), "{end:?}\n{console}");
    assert_eq!(console.matches("0 wrong").count(), 3, "{console}");
    for thread in &machine.state().threads {
        assert!(thread.completed > 1_000_000, "{}\n{console}", thread.completed);
    }
}

/// Many more partitions than threads.
const PARTITIONS: usize = 512;

/// Runs so many partitions on 32 threads until all have switched themselves off; each prints a line with `expected`.
#[track_caller]
fn run_many(partitions: usize, payload: &str, vcpus: u32, arguments: &str, expected: &str) {
    let partition = |number| {
        format!(
            "[[partition]]\nname = \"p{number}\"\npayload = \"{payload}\"\nmemory = \"8 MiB\"\n\
             vcpus = {vcpus}\narguments = \"{arguments}\"\n"
        )
    };
    let texts: String = (0..partitions).map(partition).collect();
    let system = system_of(&format!("slice_us = 50\n{texts}[machine]\nmemory = \"8 GiB\"\n"));
    let mut machine = machine([2, 4, 4], "0x2_0000_0000");
    boot(&mut machine, system);
    let end = machine.run(1 << 32, &mut NoObserver);
    let console = machine.take_console_output();
    let text = String::from_utf8_lossy(&console);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}\n{text}");
    let ended = record(&console).partitions;
    assert_eq!(ended.iter().filter(|partition| partition.is_well()).count(), partitions);
    assert_eq!(text.matches(expected).count(), partitions);
}

#[test]
fn five_hundred_and_twelve_partitions_end_on_thirty_two_threads() {
    let expected = "] preempt: 60000 steps, value 0xbe8225d3,";
    run_many(PARTITIONS, "preempt", 1, "steps=60000", expected);
}

#[test]
fn every_vcpu_of_many_partitions_shares_its_areas() {
    let partitions = if is_nightly() { PARTITIONS } else { PARTITIONS / 4 };
    run_many(partitions, "confer", 2, "rounds=0", "] confer: 2 areas, logs and shadows");
}
