//! The same image and the same bundle on our machine and on QEMU: consoles and exits must agree. QEMU
//! and skiboot are readings of the architecture and of firmware that share nothing with ours.

use std::time::Duration;

use lab::comparison::{Transcript, difference};
use lab::interruption::Interruption;
use lab::system::{Exit, System};
use lab::{on_qemu, on_simulator};
use system_tests::containment::on_threads;
use system_tests::{every_system, number_from, systems};

/// Generous: a run takes about a second, on several cores a few.
const TIMEOUT: Duration = Duration::from_secs(300);
/// What runs on several cores before each push. What it prints does not depend on who runs when.
const ON_CORES: [&str; 3] = ["examples/registers.toml", "examples/smp.toml", "examples/timer.toml"];
/// What tells who waited for whom: with a core for everybody that is another story on each machine.
const OF_ONE_THREAD: [&str; 2] = ["examples/preempt.toml", "examples/confer.toml"];

/// Runs the system on both machines and returns what ours showed.
#[track_caller]
fn assert_agreement(name: &str, system: &System) -> Transcript {
    let qemu = on_qemu::transcript(system, TIMEOUT, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{name}: {failure}"));
    let ours = on_simulator::transcript(system, TIMEOUT, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{name}: {failure}"));
    if let Some(difference) = difference(&ours, &qemu) {
        panic!(
            "{name}: {difference}\n--- ours\n{}\n--- QEMU\n{}",
            String::from_utf8_lossy(&ours.console),
            String::from_utf8_lossy(&qemu.console)
        );
    }
    ours
}

#[test]
fn every_partition_does_the_same_on_both_machines() {
    for (name, system) in every_system() {
        let ours = assert_agreement(&name, &system);
        assert_eq!(ours.exit, Exit::PoweredOff, "{name}");
        assert_eq!(ours.said().check_partitions(), Ok(()), "{name}");
    }
}

/// The nightly run has more cores, and all systems for which cores make no difference.
#[test]
fn every_partition_does_the_same_on_several_cores_of_both_machines() {
    const CORES: u64 = 4;
    let cores = number_from("POWERVISOR_CORES", CORES);
    let of_one_thread = |name: &str| OF_ONE_THREAD.iter().any(|file| name.ends_with(file));
    let systems: Vec<_> = if cores == CORES {
        ON_CORES.iter().flat_map(|file| systems(file)).collect()
    } else {
        every_system().into_iter().filter(|(name, _)| !of_one_thread(name)).collect()
    };
    for (name, system) in systems {
        let name = format!("{name} on {cores} cores");
        let ours = assert_agreement(&name, &on_threads(system, [1, cores as u32, 1]));
        assert_eq!(ours.exit, Exit::PoweredOff, "{name}");
        assert_eq!(ours.said().check_partitions(), Ok(()), "{name}");
        let threads = format!("powervisor: hardware threads: {cores}");
        assert!(ours.lines().contains(&threads), "{name}");
    }
}

/// QEMU withholds no facility of a guest, so the hypervisor gives there from the start what it gives on demand
/// elsewhere: two partitions that share a hardware thread find their own in every register.
#[test]
fn vectors_and_branches_stay_with_their_partition_on_both_machines() {
    let switches = systems("experiments/world-switch.toml");
    for variant in ["full-vectors", "full-branches"] {
        let is_meant = |(name, _): &&(String, System)| name.ends_with(variant);
        let (name, system) = switches.iter().find(is_meant).expect("a variant");
        let ours = assert_agreement(name, system);
        assert_eq!(ours.said().check_partitions(), Ok(()), "{name}");
        let lines = ours.lines().join("\n");
        assert_eq!(lines.matches("world-switch: 500 switches, 0 wrong").count(), 2, "{lines}");
    }
}

#[test]
fn without_a_bundle_both_machines_show_the_same_complaint() {
    let (_, mut system) = systems("examples/hello.toml").remove(0);
    system.initrd = None;
    let ours = assert_agreement("no bundle", &system);
    assert!(ours.said().check_partitions().unwrap_err().contains("error: "));
}

#[test]
fn a_bundle_cut_in_half_is_refused_by_the_hypervisor_on_both_machines() {
    let (_, mut system) = systems("examples/hello.toml").remove(0);
    let bundle = system.initrd.as_mut().unwrap();
    bundle.truncate(bundle.len() / 2);
    let ours = assert_agreement("half a bundle", &system);
    assert!(ours.said().check_partitions().unwrap_err().contains("error: bundle"));
}

#[test]
fn a_gibibyte_that_is_full_is_one_page_on_both_machines() {
    let (name, system) = systems("examples/gibibyte.toml").remove(0);
    let ours = assert_agreement(&name, &system);
    assert_eq!(ours.said().check_partitions(), Ok(()));
    let summary = ours.lines().into_iter().find(|line| line.contains("summary: partition large"));
    assert!(summary.is_some_and(|line| line.contains("; pages: 1G 1, 2M 0, 64K 0;")));
}
