//! A partition that is suspended at any moment goes on on another machine as if nothing had happened.

use std::fs;

use lab::machine_file::MachineFile;
use lab::on_simulator;
use lab::partition_file::PartitionFile;
use lab::suspended::{self, Suspended};
use lab::system::System;
use lab::user_file::Files;
use simulator::{NoObserver, RunState};
use system_tests::containment::{on_power8, on_threads};
use system_tests::{SEED, is_nightly, number_from, on_each, record, root};

/// A partition of an example whose console says so when all went well.
struct Case {
    file: &'static str,
    name: &'static str,
    says: &'static str,
    /// Nanoseconds that it runs at least, on any of the topologies, about.
    runs: u64,
}

const CASES: [Case; 9] = [
    Case {
        file: "examples/registers.toml",
        name: "second",
        says: "registers: 200 rounds, 0 wrong",
        runs: 450_000,
    },
    Case {
        file: "examples/timer.toml",
        name: "timer",
        says: "timer: 40 of 40 expired, 0 early in H_CEDE, 0 early in a loop",
        runs: 600_000,
    },
    Case {
        file: "examples/smp.toml",
        name: "smp",
        says: "smp: 4 vCPUs, sum 4000, 40 interrupts passed, 0 spurious",
        runs: 70_000,
    },
    Case {
        file: "examples/idle.toml",
        name: "stops",
        says: "idle: ipi, 20 samples, 0 spurious interrupts",
        runs: 500_000,
    },
    Case {
        file: "examples/idle.toml",
        name: "emulated",
        says: "idle: timer, 20 samples, 0 spurious interrupts",
        runs: 100_000,
    },
    Case {
        file: "examples/hash.toml",
        name: "smp",
        says: "smp: 4 vCPUs, sum 4000, 40 interrupts passed, 0 spurious",
        runs: 60_000,
    },
    Case {
        file: "examples/hash.toml",
        name: "timer",
        says: "timer: 40 of 40 expired, 0 early in H_CEDE, 0 early in a loop",
        runs: 600_000,
    },
    Case {
        file: "examples/hash.toml",
        name: "smp",
        says: "smp: 4 vCPUs, sum 4000, 40 interrupts passed, 0 spurious",
        runs: 500_000,
    },
    Case {
        file: "examples/hash.toml",
        name: "timer",
        says: "timer: 40 of 40 expired, 0 early in H_CEDE, 0 early in a loop",
        runs: 800_000,
    },
];

const TOPOLOGIES: [[u32; 3]; 4] = [[1, 1, 1], [1, 1, 4], [1, 2, 2], [2, 1, 2]];

/// The system of a file whose partition `name` is suspended then, or goes on with an image.
fn system(file: &str, name: &str, at: Option<u64>, image: Option<&[u8]>) -> System {
    split_system(file, name, at, image, None)
}

/// The same where each core is split into so many parts.
fn split_system(
    file: &str,
    name: &str,
    at: Option<u64>,
    image: Option<&[u8]>,
    subcores: Option<u32>,
) -> System {
    let path = root().join(file);
    let file = PartitionFile::read(&path, &Files::default());
    let mut file = file.unwrap_or_else(|failure| panic!("{failure}"));
    file.sharing.subcores = subcores;
    let partition = file.partitions.iter_mut().find(|partition| partition.name == name);
    let partition = partition.expect("the file has it");
    partition.suspend_at = at;
    partition.image = image.map(<[u8]>::to_vec);
    if let Some(image) = image {
        assert_eq!(Suspended::of(image).unwrap().check_is(partition), Ok(()));
    }
    System::with_partitions(&file.partitions, &file.sharing, file.machine, SEED)
        .unwrap_or_else(|failure| panic!("{failure}"))
}

/// The console of a system that runs to its end, and the image of the partition, if it was suspended.
fn run(system: &System, name: &str) -> (String, Option<Vec<u8>>) {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    let console = machine.take_console_output();
    let text = String::from_utf8_lossy(&console).into_owned();
    assert!(matches!(state, RunState::PoweredOff), "{state:?}\n{text}");
    let record = record(&console);
    for partition in &record.partitions {
        assert!(partition.is_well(), "{}: {}\n{text}", partition.name, partition.outcome);
    }
    let image = suspended::image(&machine, &record, name);
    (text, image)
}

/// What a partition said, without what the console puts before it.
fn said(text: &str, name: &str) -> Vec<String> {
    let own = |line: &str| {
        let line = line.strip_prefix(&format!("[{name}] ")).unwrap_or(line);
        line.to_owned()
    };
    text.lines().map(own).collect()
}

/// Numbers that look as if they were random, the same in each run.
fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some(seed >> 33)
    })
}

/// How many of the moments found a partition that was not over yet, and was suspended.
fn suspensions(Case { file, name, says, runs }: Case, moments: impl Iterator<Item = u64>) -> usize {
    let mut suspended = 0;
    for (turn, number) in moments.enumerate() {
        let [before, after] = [turn, turn / 4 + turn + 1].map(|turn| TOPOLOGIES[turn % 4]);
        let at = number % runs;
        let about = format!("{file}: {name} at {at} ns, from {before:?} to {after:?}");
        let (first, image) = run(&on_threads(system(file, name, Some(at), None), before), name);
        let Some(image) = image else {
            // It was over before: threads do not make it longer.
            assert!(said(&first, name).iter().any(|line| line == says), "{about}: {first}");
            continue;
        };
        let (second, _) = run(&on_threads(system(file, name, None, Some(&image)), after), name);
        let lines = [said(&first, name), said(&second, name)].concat();
        let times = lines.iter().filter(|line| *line == says).count();
        assert_eq!(times, 1, "{about}: {first}{second}");
        suspended += 1;
    }
    suspended
}

#[test]
fn what_is_suspended_at_any_moment_goes_on_on_another_machine() {
    let moments = number_from("SUSPENSIONS", if is_nightly() { 32 } else { 6 }) as usize;
    on_each(CASES.into_iter().enumerate().collect(), |(index, case)| {
        let about = format!("{}: {}, case {index}", case.file, case.name);
        let suspended = suspensions(case, numbers(index as u64).take(moments));
        println!("{about}: suspended {suspended} times of {moments}");
        assert!(suspended >= moments / 2, "{about}: {suspended} times of {moments}");
    });
}

/// It goes on and on: one suspension behind the other, each on another machine, until it is over.
#[test]
fn a_partition_moves_from_machine_to_machine() {
    let Case { file, name, says, .. } = CASES[2];
    let (mut image, mut moves) = (None::<Vec<u8>>, 0);
    for topology in TOPOLOGIES.into_iter().cycle() {
        let system = system(file, name, Some(9000), image.as_deref());
        let (text, next) = run(&on_threads(system, topology), name);
        if next.is_none() {
            // It may have been suspended amid its last line.
            let is_end = |line: &str| line.len() > 1 && says.ends_with(line);
            assert!(text.lines().any(is_end), "{text}");
            break;
        }
        (image, moves) = (next, moves + 1);
    }
    assert!(moves >= 5, "{moves}");
}

/// From whole cores to split ones and back, on a later machine each time: a core's time base moves before it is split.
#[test]
fn a_partition_goes_on_on_split_cores() {
    let (file, name) = ("examples/timer.toml", "timer");
    let mut image = None::<Vec<u8>>;
    let moves = [(None, [1, 1, 1]), (Some(2), [1, 2, 1]), (Some(4), [1, 2, 8]), (None, [2, 2, 2])];
    for (subcores, topology) in moves {
        let system = split_system(file, name, Some(100_000), image.as_deref(), subcores);
        let (text, next) = run(&on_threads(on_power8(system), topology), name);
        assert!(next.is_some(), "{subcores:?} {topology:?}: {text}");
        image = next;
    }
    let system = split_system(file, name, None, image.as_deref(), Some(2));
    let (text, _) = run(&on_threads(on_power8(system), [2, 1, 8]), name);
    let says = "[timer] timer: 40 of 40 expired, 0 early in H_CEDE, 0 early in a loop";
    assert!(text.lines().any(|line| line == says), "{text}");
}

/// Nothing but the image says what a partition was: two that go on with it are the same.
#[test]
fn two_that_go_on_with_one_image_do_the_same() {
    let Case { file, name, says, .. } = CASES[2];
    let (_, image) = run(&system(file, name, Some(60_000), None), name);
    let image = image.expect("it was suspended");
    let [first, second] = [0; 2].map(|_| run(&system(file, name, None, Some(&image)), name).0);
    assert!(first.contains(says), "{first}");
    assert_eq!(first, second);
}

/// A POWER9 whose firmware tells of no `stop` that loses nothing.
fn without_lite() -> MachineFile {
    let text = fs::read_to_string(root().join("machines/power9.toml")).expect("a file of ours");
    let state = text.find("[[stop_state]]").expect("it has states");
    let next = state + 1 + text[state + 1..].find("[[stop_state]]").expect("it has several");
    assert!(text[state..next].contains("stop0_lite"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("deep.toml");
    fs::write(&path, [&text[..state], &text[next..]].concat()).expect("a temporary file");
    MachineFile::named(&path, &Files::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_partition_that_stops_goes_on_where_stop_is_emulated() {
    let Case { file, name, says, .. } = CASES[3];
    for at in [20_000, 300_000, 600_000] {
        let (_, image) = run(&system(file, name, Some(at), None), name);
        let image = image.expect("it was suspended");
        let withheld = System { machine: without_lite(), ..system(file, name, None, Some(&image)) };
        let (text, _) = run(&withheld, name);
        assert!(
            text.contains("partition stops: its stop is emulated: guest-stop needs a stop"),
            "{text}"
        );
        assert!(text.contains(says), "at {at}: {text}");
    }
}
