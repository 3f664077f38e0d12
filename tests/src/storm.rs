//! The storm of random exits in any state that a partition can be in: vectors, event-based branches and the
//! performance monitor used at random, hypercalls and loops with any MSR that it can make, hypercalls of
//! problem state among them.

use lab::system::System;

use crate::changed_system;
use crate::containment::on_threads;

/// Partitions' names, and their vCPUs where each hardware thread has several to choose from.
pub const PARTITIONS: [(&str, u64); 3] = [("first", 9), ("second", 6), ("third", 1)];

/// `rounds` of each vCPU on a machine of this topology. The first partition and the third have the performance
/// monitor. `more` is further lines of the file.
///
/// # Panics
/// If there are no images.
#[must_use]
pub fn in_all_states(rounds: u64, topology: [u32; 3], more: &str) -> System {
    let arguments = |tag: u64| format!("arguments = \"tag={tag} rounds=300");
    let changed =
        |tag: u64, more: &str| format!("arguments = \"tag={tag} rounds={rounds} states=all{more}");
    let monitor = " monitor=on\"\nperformance_monitor = true";
    let [_, second, _] = [1, 2, 3].map(arguments);
    let [first, third] = [1, 3].map(|tag| format!("{}\"", arguments(tag)));
    let changes = [
        ("slice_us = 20", &*format!("slice_us = 20\n{more}")),
        ("vcpus = 3", "vcpus = 9"),
        ("vcpus = 2", "vcpus = 6"),
        (&*first, &*changed(1, monitor)),
        (&*second, &*changed(2, "")),
        (&*third, &*changed(3, monitor)),
    ];
    on_threads(changed_system("examples/storm.toml", &changes), topology)
}
