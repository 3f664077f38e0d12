//! Time limits of several partitions that end at about the same time. Those of one partition beside others are in
//! `fairness.rs`.

use lab::on_simulator;
use system_tests::containment::on_threads;
use system_tests::fairness::run_until;
use system_tests::{record, system_of};

const LIMIT_US: u64 = 500;

/// So many partitions of so many vCPUs that always run, in slices of `slice_us`: how many microseconds each was
/// charged.
fn run(topology: [u32; 3], partitions: usize, vcpus: u64, slice_us: u64) -> Vec<u64> {
    let partition = |number| {
        format!(
            "[[partition]]\nname = \"p{number}\"\npayload = \"misbehave\"\nmemory = \"8 MiB\"\nvcpus = {vcpus}\n\
             time_limit_us = {LIMIT_US}\narguments = \"mode=loop-all\"\n"
        )
    };
    let partitions: String = (0..partitions).map(partition).collect();
    let system = system_of(&format!("slice_us = {slice_us}\n{partitions}"));
    let mut machine =
        on_simulator::start(&on_threads(system, topology)).expect("it can be started");
    let (console, is_off) = run_until(&mut machine, 1 << 24, |_| false);
    assert!(is_off, "{console}");
    let partitions = record(console.as_bytes()).partitions;
    partitions.iter().map(|partition| partition.counts["time_ran_us"]).collect()
}

/// While the hypervisor writes the lines about one end, partitions that come to theirs do not pay for the wait.
#[test]
fn limits_that_end_together_are_kept() {
    let systems = [([1, 1, 1], 3, 2), ([1, 1, 4], 8, 4), ([2, 2, 4], 2, 16), ([2, 2, 4], 4, 16)];
    let mut passed = Vec::new();
    for (topology, partitions, vcpus) in systems {
        for slice_us in [20, 100] {
            let ran = run(topology, partitions, vcpus, slice_us);
            println!("{topology:?}, {vcpus} vCPUs each, slices of {slice_us} us: {ran:?} us");
            if !ran.iter().all(|ran| (LIMIT_US..LIMIT_US + slice_us).contains(ran)) {
                passed.push((topology, slice_us, ran));
            }
        }
    }
    assert!(passed.is_empty(), "{passed:?}");
}
