//! There is no map of a partition's memory: when a vCPU is entered, the hypervisor's own translations reach
//! none of it. The oracle watches the systems of the tests, by each policy for maps, and finds what a policy
//! leaves behind.

use arch::bundle::MapPolicy;
use lab::system::System;
use simulator::RunState;
use simulator::oracle::maps::Maps;
use system_tests::containment::{misbehaving, on_threads};
use system_tests::{is_nightly, root, run_watched, system_of, systems};

/// Runs the system to its end and looks at one of so many entries.
fn watch(name: &str, system: &System, sparse: u64) -> Maps {
    let mut maps = Maps::new(sparse);
    let state = run_watched(system, &mut maps);
    assert!(matches!(state, RunState::PoweredOff), "{name}: {state:?}");
    assert!(maps.looked() > 0, "{name}");
    maps
}

fn assert_unreachable(name: &str, maps: &Maps) {
    let findings: Vec<String> = maps.findings().iter().map(ToString::to_string).collect();
    assert_eq!(maps.all_findings(), 0, "{name}:\n{}", findings.join("\n"));
}

/// An example with a policy for maps.
fn with_policy(file: &str, policy: MapPolicy) -> System {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let policy = format!("policy = {{ map = \"{}\" }}\n\n[[partition]]", policy.name());
    system_of(&text.replacen("[[partition]]", &policy, 1))
}

/// Examples that map much: pages, RTAS buffers, disks; and with a hashed page table, whose exits change LPIDR.
const EXAMPLES: [&str; 5] = ["page-init", "smp", "shared", "disk", "hash"];

#[test]
fn nothing_of_a_partition_is_reachable_when_one_is_entered() {
    for name in EXAMPLES {
        for (number, topology) in [[1, 1, 1], [1, 2, 2]].into_iter().enumerate() {
            let policies = [MapPolicy::Ours, MapPolicy::OursStrict];
            // Before each push one policy on each topology.
            let policies = if is_nightly() { &policies[..] } else { &policies[number..=number] };
            for policy in policies.iter().copied() {
                let file = format!("examples/{name}.toml");
                let system = on_threads(with_policy(&file, policy), topology);
                assert_unreachable(
                    &format!("{name} {topology:?} {policy:?}"),
                    &watch(name, &system, 7),
                );
            }
        }
    }
}

/// An area stays mapped for as long as it is registered, and no longer.
#[test]
fn only_registered_areas_stay_mapped() {
    let system = misbehaving("areas", 0, 2000);
    assert_unreachable("areas", &watch("areas", &system, 7));
}

/// Slots of a hardware thread.
const SLOTS: usize = 32;
/// Places that each of them has with a lazy policy, one after another.
const PLACES: usize = 8;

#[test]
fn a_lazy_policy_leaves_no_more_than_the_places_of_its_slots() {
    // More frames than there are places.
    let system = system_of(
        "policy = { map = \"ours-lazy\" }\n\n[[partition]]\nname = \"lazy\"\npayload = \"page-init\"\n\
         memory = \"64 MiB\"\nvcpus = 1\narguments = \"calls=1000 frames=500 flags=zero\"\n",
    );
    let maps = watch("lazy", &system, 1);
    // With one place for each slot there would be no more than slots.
    let bound = SLOTS + 1..=SLOTS * PLACES;
    assert!(bound.contains(&maps.most_at_once()), "{}", maps.most_at_once());
}

/// Xen's cache of a vCPU, as it was posted, keeps frames reachable that no call works on.
#[test]
fn what_xens_cache_leaves_is_found() {
    let maps = of_experiment("xen-v2-miss");
    assert!((1..=SLOTS).contains(&maps.most_at_once()), "{}", maps.most_at_once());
}

/// What is reached with relocation off alone is mapped nowhere.
#[test]
fn copies_with_relocation_off_map_nothing() {
    assert_unreachable("real-mode", &of_experiment("real-mode"));
}

/// The oracle sees what it is for.
#[test]
fn a_direct_map_is_found() {
    assert!(of_experiment("direct").all_findings() > 0);
}

/// A variant of the experiment, every 100th entry.
fn of_experiment(variant: &str) -> Maps {
    let all = systems("experiments/map-single.toml");
    let (name, system) = all.into_iter().find(|(name, _)| name.ends_with(variant)).unwrap();
    watch(&name, &system, 100)
}
