//! Time limits of several partitions that end at about the same time, of which those of one partition beside others are
//! in `fairness.rs`; and the limit of the hypervisor's heap.

use lab::on_simulator;
use system_tests::containment::on_threads;
use system_tests::fairness::run_until;
use system_tests::{ALL, finish, record, system_of};

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

/// What a machine prints whose partitions have 128 vCPUs that use all that a vCPU may use, beside devices' windows: so
/// many of 256 MiB, besides 112, and one of so many KiB. The more, the less is left of the hypervisor's heap.
fn boot_with_full_heap(windows: u32, last_window_kib: u32) -> String {
    const DISK: &str = "{ size = \"512\", adapter = ";
    let storm = |tag: u32| {
        format!(
            "[[partition]]\nname = \"storm-{tag}\"\npayload = \"storm\"\nmemory = \"16 MiB\"\nvcpus = 32\n\
             arguments = \"tag={tag} rounds=2\"\n"
        )
    };
    let hello = |name: String, window_kib: u32, disks: u32| {
        let disks: Vec<_> = (0..disks).map(|number| format!("{DISK}{number} }}")).collect();
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"hello\"\nmemory = \"1 MiB\"\nvcpus = 1\n\
             dma_window = \"{window_kib} KiB\"\ndisks = [{}]\n",
            disks.join(", ")
        )
    };
    let storms = (1..=4).map(storm);
    let many = (0..7).map(|number| hello(format!("many-{number}"), 256 << 10, 16));
    let one = (0..windows).map(|number| hello(format!("one-{number}"), 256 << 10, 1));
    let last = hello("last".to_owned(), last_window_kib, 1);
    let partitions: String = storms.chain(many).chain(one).chain([last]).collect();
    let mut machine = on_simulator::start(&system_of(&format!("slice_us = 50\n{partitions}")))
        .expect("it can be started");
    String::from_utf8(finish(&mut machine, ALL)).unwrap()
}

/// Once all partitions are there, no guest can have so much of the hypervisor's heap that another one has nothing: a
/// facility that a vCPU uses for the first time is no call that could be refused.
#[test]
fn what_guests_need_of_the_heap_is_there_or_the_boot_is_refused() {
    let (mut ran, mut refused) = (0, 0);
    for (windows, last_window_kib) in [
        (10, 4),
        (10, 80_000),
        (10, 120_000),
        (10, 140_000),
        (10, 180_000),
        (11, 4),
        (11, 76_000),
        (11, 80_000),
        (11, 84_000),
    ] {
        let console = boot_with_full_heap(windows, last_window_kib);
        let context = format!("{windows} windows, {last_window_kib} KiB: {console}");
        assert!(!console.contains("panic"), "{context}");
        let done = console.matches("storm: 32 vCPUs, 2 rounds each, 0 wrong").count();
        let stopped = console.lines().filter(|line| line.contains("partition storm-"));
        let stopped =
            stopped.filter(|line| line.ends_with("memory is left for translation tables"));
        if console.contains("heap has no room left for what guests need while they run") {
            refused += 1;
            assert_eq!(done, 0, "{context}");
        } else {
            ran += 1;
            assert_eq!(done + stopped.count(), 4, "{context}");
        }
    }
    assert!(ran > 0 && refused > 0, "{ran} ran, {refused} were refused");
}
