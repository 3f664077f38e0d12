//! Partitions with a hashed page table: each keeps its registers and its segments beside others of both kinds, and none
//! gets at what is not its own, whatever it does to its table.

use std::collections::BTreeSet;
use std::fs;

use arch::bundle::HashCallPolicy;
use lab::on_simulator;
use lab::partition_file::PartitionFile;
use lab::system::System;
use lab::user_file::Files;
use simulator::NoObserver;
use system_tests::containment::{self, on_power8, on_threads};
use system_tests::{SEED, number_from, root, system_of, usual_files};

/// Each of an example's partitions with this payload has a hashed page table.
fn hashed(file: &str, payload: &str, changes: &[(&str, &str)]) -> System {
    let text = fs::read_to_string(root().join(file)).expect("a file of the project");
    let line = format!("payload = \"{payload}\"");
    assert!(text.contains(&line), "{file} has no {line}");
    let mut text = text.replace(&line, &format!("{line}\ntranslation = \"hash\""));
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no \"{from}\"");
        text = text.replace(from, to);
    }
    system_of(&text)
}

/// What the console says of the system on our machine; the oracle has nothing to say.
fn console(system: System, topology: [u32; 3]) -> String {
    let (transcript, findings) = containment::watched(&on_threads(system, topology));
    let console = transcript.lines().join("\n");
    assert_eq!(findings, [""; 0], "{topology:?}: {console}");
    assert!(console.contains("powervisor: all partitions have ended"), "{topology:?}: {console}");
    console
}

const TOPOLOGIES: [[u32; 3]; 3] = [[1, 1, 1], [1, 2, 2], [1, 1, 4]];

#[test]
fn registers_and_segments_stay_with_their_vcpu() {
    for topology in TOPOLOGIES {
        let first = hashed("examples/registers.toml", "registers", &[]);
        let console = console(first, topology);
        for name in ["first", "second", "third"] {
            let line = format!("[{name}] registers: 200 rounds, 0 wrong");
            assert!(console.contains(&line), "{topology:?}: {console}");
        }
    }
}

/// Translated kernels that take every interrupt, lend memory to problem state, and are moved between threads.
#[test]
fn a_storm_of_exits_changes_nothing() {
    let kinds =
        TOPOLOGIES.iter().flat_map(|topology| ["firmware", "off"].map(|kind| (*topology, kind)));
    for (topology, mitigations) in kinds {
        let policy = format!("slice_us = 20\npolicy = {{ mitigations = \"{mitigations}\" }}");
        let changes = [("rounds=300", "rounds=100"), ("slice_us = 20", &*policy)];
        let console = console(hashed("examples/storm.toml", "storm", &changes), topology);
        for (name, vcpus) in [("first", 3), ("second", 2), ("third", 1)] {
            let line = format!("[{name}] storm: {vcpus} vCPUs, 100 rounds each, 0 wrong");
            assert!(console.contains(&line), "{topology:?} {mitigations}: {console}");
        }
    }
}

/// Nothing that a partition of an example says depends on who translates for it.
#[test]
fn every_example_says_the_same_with_either_translation() {
    /// It names a file beside it.
    const APART: &str = "examples/initrd.toml";
    for file in usual_files().into_iter().filter(|file| file.starts_with("examples/")) {
        let text = fs::read_to_string(root().join(&file)).expect("an example");
        if file == APART || text.contains("\ntranslation = ") {
            continue;
        }
        let said = ["radix", "hash"].map(|translation| {
            let partition = format!("[[partition]]\ntranslation = \"{translation}\"");
            let console = console(system_of(&text.replace("[[partition]]", &partition)), [1, 2, 2]);
            // Which of two partitions is the first to say something depends on how long each takes.
            let lines = console.lines().filter(|line| !line.starts_with("powervisor:"));
            lines.map(str::to_owned).collect::<BTreeSet<_>>()
        });
        let [radix, hash] = said;
        assert_eq!(hash, radix, "{file}");
    }
}

/// What it does to its table, and how it ends.
const MODES: [(&str, &str); 7] = [
    ("hash-enter", "[misbehave] misbehave: 0 of 1032 wrong entries taken"),
    ("hash-two-sizes", "stopped: unhandled Machine Check interrupt (0x200)"),
    ("hash-full", "stopped: its hashed page table is full where a page belongs"),
    ("hash-race", "stopped: it used up its time limit"),
    ("hash-resize", "[misbehave] misbehave: 12 changes of size, 0 entries lost, [0, 0, -16, 2]"),
    ("restart-storm", "stopped: it used up its time limit"),
    ("hypercalls", "[misbehave] misbehave: hypercalls: still here"),
];

#[test]
fn nobody_harms_the_others_by_a_table() {
    let calls = number_from("POWERVISOR_RANDOM_CALLS", 1500);
    for topology in TOPOLOGIES {
        let alone = containment::watched(&on_threads(containment::harmless(), topology)).0;
        let alone = containment::victims(&alone);
        for (mode, end) in MODES {
            let arguments = format!("mode={mode} calls={calls}");
            let is_endless = end.contains("time limit");
            let limit = if is_endless { 4_000 } else { 400_000 + 30 * calls };
            let limit = format!("time_limit_us = {limit}\nresizable_table = true");
            let changes = [("mode=tables", &*arguments), ("time_limit_us = 20000", &*limit)];
            let system = hashed("examples/misbehave.toml", "misbehave", &changes);
            let (transcript, findings) = containment::watched(&on_threads(system, topology));
            let console = transcript.lines().join("\n");
            assert_eq!(findings, [""; 0], "{mode} {topology:?}: {console}");
            let wrong = containment::check(&transcript, &alone);
            wrong.unwrap_or_else(|wrong| panic!("{mode} {topology:?}: {wrong}"));
            assert!(console.contains(end), "{mode} {topology:?}: not \"{end}\"\n{console}");
        }
    }
}

/// A partition with radix translation has no such table, and none of its calls.
#[test]
fn a_partition_without_a_table_is_refused_the_calls() {
    let text = "[[partition]]\nname = \"misbehave\"\npayload = \"misbehave\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         arguments = \"mode=hash-full\"\n";
    let console = console(system_of(text), [1, 1, 1]);
    assert!(console.contains("misbehave: hash-full: still here"), "{console}");
}

/// A system whose calls of hashed page tables are answered elsewhere, which no file but an experiment can ask for.
fn answered(calls: HashCallPolicy, text: &str) -> System {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("hash.toml");
    fs::write(&path, text).expect("a temporary file");
    let file = PartitionFile::read(&path, &Files::default());
    let mut file = file.unwrap_or_else(|failure| panic!("{failure}"));
    file.sharing.hash_calls = calls;
    System::with_partitions(&file.partitions, &file.sharing, file.machine, SEED)
        .unwrap_or_else(|failure| panic!("{failure}"))
}

/// Kernels that fork and exit, with and without superpages of the hypervisor's, beside one that calls at random.
fn forks(mitigations: &str) -> String {
    let churn = |name: &str, more: &str| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"churn\"\nmemory = \"128 MiB\"\nvcpus = 1\n\
             translation = \"hash\"\narguments = \"superpages=off processes=1 passes=1 spins=100 calls=64 naps={}\"\n\
             {more}\n",
            if more.is_empty() { 0 } else { 12 }
        )
    };
    let random = "[[partition]]\nname = \"random\"\npayload = \"misbehave\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         translation = \"hash\"\narguments = \"mode=hypercalls calls=1000\"\n";
    format!(
        "slice_us = 500\npolicy = {{ mitigations = \"{mitigations}\" }}\n{}{}{random}",
        churn("plain", ""),
        churn("large", "superpages = true")
    )
}

const FORKED: [&str; 3] = [
    "[plain] churn: off, 1 processes, 8 copies, 0 wrong",
    "[large] churn: off, 1 processes, 8 copies, 0 wrong",
    "[random] misbehave: hypercalls: still here",
];

#[test]
fn calls_do_the_same_wherever_they_are_answered() {
    for (calls, mitigations) in [
        (HashCallPolicy::Middle, "off"),
        (HashCallPolicy::Middle, "firmware"),
        (HashCallPolicy::Full, "off"),
        (HashCallPolicy::Full, "firmware"),
    ] {
        let console = console(answered(calls, &forks(mitigations)), [1, 2, 1]);
        for line in FORKED {
            assert!(console.contains(line), "{calls:?} {mitigations}: {console}");
        }
    }
}

/// H_BLOCK_REMOVE, whose last request is in r12, wherever it is answered.
#[test]
fn blocks_are_removed_with_all_nine_arguments() {
    const CALLS: &str = "[[partition]]\nname = \"calls\"\npayload = \"hash-calls\"\nmemory = \"128 MiB\"\n\
         vcpus = 1\ntranslation = \"hash\"\narguments = \"call=block-remove calls=200\"\n";
    for calls in HashCallPolicy::ALL {
        let console = console(answered(calls, CALLS), [1, 1, 1]);
        assert!(console.contains("hash-calls: 200 of block-remove, answer H_SUCCESS"), "{console}");
    }
    let console = console(on_power8(answered(HashCallPolicy::Fast, CALLS)), [1, 1, 2]);
    assert!(console.contains("hash-calls: 200 of block-remove, answer H_SUCCESS"), "{console}");
}

/// H_CLEAR_HPT, wherever it is answered: a table of 1 MiB goes 64 slots at a time, and the partition's kernel goes on
/// with relocation off.
#[test]
fn a_whole_table_is_cleared() {
    const CALLS: &str = "[[partition]]\nname = \"calls\"\npayload = \"hash-calls\"\nmemory = \"128 MiB\"\n\
         vcpus = 1\ntranslation = \"hash\"\narguments = \"call=clear-hpt calls=3000\"\n";
    const LINE: &str = "hash-calls: 3000 entries, 0 are left behind 1024 of clear-hpt";
    for calls in HashCallPolicy::ALL {
        let console = console(answered(calls, CALLS), [1, 1, 1]);
        assert!(console.contains(LINE), "{calls:?}: {console}");
    }
    let console = console(on_power8(answered(HashCallPolicy::Fast, CALLS)), [1, 1, 2]);
    assert!(console.contains(LINE), "{console}");
}

/// Each way takes more instructions than the one before, or it would not be another one.
#[test]
fn calls_take_another_way_if_an_experiment_asks_for_it() {
    const CALLS: &str = "[[partition]]\nname = \"calls\"\npayload = \"hash-calls\"\nmemory = \"16 MiB\"\n\
         vcpus = 1\ntranslation = \"hash\"\narguments = \"call=read calls=2000\"\n";
    let steps = HashCallPolicy::ALL.map(|calls| {
        let mut machine = on_simulator::start(&answered(calls, CALLS)).unwrap();
        on_simulator::run(&mut machine, &mut NoObserver, |_| Ok(())).unwrap();
        machine.state().steps()
    });
    // Of 4500 calls that are made before, in and for the region; `full` goes through the dispatcher.
    let [fast, middle, full] = steps;
    assert!(middle > fast + 4500 * 10, "{steps:?}");
    assert!(full > middle + 4500 * 300, "{steps:?}");
}

/// Where the hypervisor runs with relocation off there is no middle way.
#[test]
fn a_power8_answers_calls_when_the_vcpu_has_left_and_refuses_the_middle_way() {
    let full = on_power8(answered(HashCallPolicy::Full, &forks("firmware")));
    let console = console(full, [1, 2, 2]);
    for line in FORKED {
        assert!(console.contains(line), "{console}");
    }
    let middle = on_power8(answered(HashCallPolicy::Middle, &forks("firmware")));
    let (transcript, _) = containment::watched(&on_threads(middle, [1, 1, 1]));
    let console = transcript.lines().join("\n");
    let refusal = "partition: plain: hash_calls = \"middle\" needs a hypervisor that runs with relocation on: on POWER8 it never does";
    assert!(console.contains(refusal), "{console}");
}
