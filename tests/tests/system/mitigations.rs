//! What a partition finds in the L1 data cache when it is entered: with the mitigations that firmware asks for
//! nothing that its hardware thread brought in before. A flush that is left out is caught.

use std::collections::BTreeSet;
use std::fs;

use arch::instruction::{Mnemonic, Word, decode, encode};
use arch::processor::Processor;
use arch::registers::msr;
use lab::images::Images;
use lab::on_simulator;
use lab::system::System;
use simulator::exec::Mode;
use simulator::oracle::residue::Residue;
use simulator::pipeline::Settings;
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Observer, RunState};
use system_tests::containment::on_threads;
use system_tests::{changed_system, root, system_of};

/// Where the hypervisor's file begins when it runs.
const IMAGE: u64 = 0xC000_0000_0000_0000;

/// A short storm: three partitions, one of them with a hashed page table, and all kinds of exits.
fn storm(mitigations: &str) -> System {
    storm_with(&format!("mitigations = \"{mitigations}\""))
}

/// The same with these policies.
fn storm_with(policy: &str) -> System {
    let policy = format!("policy = {{ {policy} }}\n\n[[partition]]\nname = \"first\"");
    changed_system(
        "examples/storm.toml",
        &[
            ("rounds=300", "rounds=30"),
            ("[[partition]]\nname = \"first\"", &policy),
            ("tag=3 rounds=30\"", "tag=3 rounds=30\"\ntranslation = \"hash\""),
        ],
    )
}

/// The addresses of the instructions by which partitions were entered.
#[derive(Default)]
struct Ways(BTreeSet<u64>);

impl Observer for Ways {
    const SEES_INSTRUCTIONS: bool = false;

    fn returned(&mut self, thread: &Thread, _: &Shared, mode: Mode) {
        if mode.is_hypervisor() && thread.msr() & msr::HV == 0 {
            self.0.insert(thread.cia);
        }
    }
}

fn watched(system: &System) -> (Residue, Ways) {
    watched_by(system, Residue::default())
}

fn watched_by(system: &System, residue: Residue) -> (Residue, Ways) {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    machine.start_timing(Settings::default());
    let mut observers = (residue, Ways::default());
    let end = machine.run(u64::MAX, &mut observers);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    observers
}

/// Where in the hypervisor's file TRIG2 is written directly before a return.
fn flushes_at_entry(kernel: &[u8]) -> Vec<usize> {
    const TRIG2: i64 = 882;
    let flush = encode(Mnemonic::Mtspr, &[TRIG2, 0], false, false).expect("an instruction");
    let word =
        |at: usize| kernel.get(at..)?.first_chunk().map(|bytes| Word(u32::from_le_bytes(*bytes)));
    let returns = |at: usize| {
        let next = word(at + 4).and_then(decode).map(|row| row.mnemonic);
        matches!(next, Some(Mnemonic::Rfid | Mnemonic::Hrfid))
    };
    (0..kernel.len()).step_by(4).filter(|&at| word(at) == Some(flush) && returns(at)).collect()
}

#[test]
fn a_partition_finds_nothing_in_the_data_cache() {
    let (residue, _) = watched(&storm("firmware"));
    assert!(residue.entries > 300, "{}", residue.entries);
    assert_eq!(residue.found, []);
}

/// With one partition on a core at a time it finds nothing of another hardware thread of its core either. Where two
/// partitions share a core, it does.
#[test]
fn with_one_partition_on_a_core_the_data_cache_has_nothing_of_its_other_threads() {
    let system = on_threads(storm("firmware"), [1, 2, 2]);
    let (residue, _) = watched_by(&system, Residue::of_core());
    assert!(residue.found.iter().any(|found| found.bringer.is_partition));
    let text = "mitigations = \"firmware\", one_partition_per_core = true";
    let system = on_threads(storm_with(text), [1, 2, 2]);
    let (residue, _) = watched_by(&system, Residue::of_core());
    assert!(residue.entries > 300, "{}", residue.entries);
    assert_eq!(residue.found, []);
}

#[test]
fn a_partition_finds_what_another_left_where_mitigations_are_off() {
    let (residue, _) = watched(&storm("off"));
    let of_others = residue.found.iter().filter(|found| found.bringer.is_partition);
    assert!(of_others.count() > 0);
}

/// Each way into a partition has a flush of its own.
#[test]
fn each_flush_that_is_left_out_is_noticed() {
    let mut system = storm("firmware");
    let part = Images::find().and_then(|images| images.hypervisor_of(Processor::Power9));
    system.kernel = part.expect("an image");
    let (_, Ways(ways)) = watched(&system);
    let places = flushes_at_entry(&system.kernel);
    // Two ways into a vCPU that is under way, and one into another, of either translation; with radix translation one
    // more, behind a hypercall.
    assert_eq!(places.len(), 7);
    // One is behind interrupts of the machine, which the storm does not raise.
    let taken = places.into_iter().filter(|place| ways.contains(&(IMAGE + *place as u64 + 4)));
    let taken: Vec<usize> = taken.collect();
    assert_eq!(taken.len(), ways.len());
    assert_eq!(taken.len(), 6);
    for place in taken {
        let nop = encode(Mnemonic::Ori, &[0, 0, 0], false, false).expect("an instruction");
        let mut broken = system.clone();
        broken.kernel[place..place + 4].copy_from_slice(&nop.0.to_le_bytes());
        let (residue, _) = watched(&broken);
        assert!(!residue.found.is_empty(), "the flush at {place:#x} of the file");
    }
}

/// Without an instruction for it the data cache is emptied by reading the hypervisor's code, before the guest's
/// own registers are loaded: nothing of another partition is left.
#[test]
fn without_a_trigger_nothing_of_another_partition_is_left() {
    let machine =
        fs::read_to_string(root().join("machines/power9.toml")).expect("a file of the project");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("machine.toml");
    fs::write(&path, machine.replace("    \"inst-l1d-flush-trig2\",\n", ""))
        .expect("a temporary file");
    let policy = "policy = { mitigations = \"firmware\" }\n";
    let machine = format!("{policy}machine = {{ description = \"{}\" }}\n", path.display());
    let text =
        fs::read_to_string(root().join("examples/storm.toml")).expect("a file of the project");
    let (residue, _) =
        watched(&system_of(&format!("{machine}{}", text.replace("rounds=300", "rounds=30"))));
    assert!(residue.entries > 300, "{}", residue.entries);
    let of_partitions: Vec<_> =
        residue.found.iter().filter(|found| found.bringer.is_partition).collect();
    assert!(of_partitions.is_empty(), "{of_partitions:?}");
}
