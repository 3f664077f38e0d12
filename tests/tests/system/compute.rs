//! The compute payload computes in a partition what its parts compute on the host.

use std::time::Duration;

use guest_compute::{MEMORY_WORDS, Part};
use lab::interruption::Interruption;
use lab::on_simulator;
use system_tests::systems;

#[test]
fn checksums_are_those_of_the_host() {
    let (_, system) = systems("examples/compute.toml").remove(0);
    let ran = on_simulator::transcript(&system, Duration::from_secs(120), Interruption::NEVER);
    let ran = ran.unwrap_or_else(|failure| panic!("{failure}"));
    let console = String::from_utf8_lossy(&ran.console);
    let mut memory = vec![0; MEMORY_WORDS];
    for part in Part::ALL {
        let checksum = part.run(&mut memory, 1);
        let line = format!("compute: {}, rounds 1, checksum {checksum:016x}", part.name());
        assert!(console.contains(&line), "no \"{line}\" in:\n{console}");
    }
}
