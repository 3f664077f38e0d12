//! A partition starts in under 50,000 instructions of the hypervisor, not counting what zeroes and copies its
//! memory. The hypervisor marks both; `powervisor run experiments/partition-start.toml` prints them.

use arch::marker::Region;
use lab::system::System;
use simulator::{RegionCounts, RunState};
use system_tests::{run_watched, system_of, systems};

const BOUND: u64 = 50_000;
/// What another vCPU may add: its node in the device tree, and its registers.
const BOUND_OF_VCPU: u64 = 10_000;

/// Instructions of the hypervisor for the start of all partitions, and for their fill.
fn counts(system: &System) -> [u64; 2] {
    let mut counts = RegionCounts::new();
    assert!(matches!(run_watched(system, &mut counts), RunState::PoweredOff));
    [Region::PARTITION_START, Region::PARTITION_FILL].map(|region| {
        let found = counts.regions().find(|(number, _)| *number == region.number());
        let counts = found.expect("the hypervisor marks it").1;
        assert_eq!((counts.guest_instructions, counts.exits_real), (0, 0));
        counts.hypervisor_instructions
    })
}

#[test]
fn a_partition_starts_within_its_bound() {
    let [work, fill] = counts(&systems("examples/hello.toml").remove(0).1);
    assert!((1000..BOUND).contains(&work), "{work}");
    // Payload and tree lie in 64 KiB each, at least: 512 blocks.
    assert!(fill > 1024, "{fill}");
}

#[test]
fn many_partitions_and_many_vcpus_start_within_it_too() {
    let partition = |name: String, vcpus| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"hello\"\nmemory = \"8 MiB\"\n\
             vcpus = {vcpus}\n"
        )
    };
    let many: String = (0..40).map(|number| partition(format!("p{number}"), 1)).collect();
    let [work, _] = counts(&system_of(&many));
    assert!(work < 40 * BOUND, "{work}");
    let [work, _] = counts(&system_of(&partition("p".to_owned(), 64)));
    assert!(work < BOUND + 63 * BOUND_OF_VCPU, "{work}");
}
