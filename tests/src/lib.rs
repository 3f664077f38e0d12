//! What the tests of the whole share: the systems that the project's own files ask for.
//!
//! They need the images; `cargo xtask images` builds them, and every test says so if it has not been done.

pub mod containment;
pub mod fairness;
pub mod storm;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, fs, thread};

use lab::console::Said;
use lab::record::Record;
use lab::system::System;
use lab::user_file::Files;
use lab::{on_simulator, workload};
use simulator::{Machine, NoObserver, Observer, RunState};

/// Every seed is as good as another; the tests that need two say so.
pub const SEED: u64 = 1;

/// The folder with examples and experiments.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What the hypervisor counted, from the console of a run that is over.
///
/// # Panics
/// If it told nothing, or nothing that can be read.
#[must_use]
pub fn record(console: &[u8]) -> Record {
    let told = Said::by(console).record.expect("the hypervisor tells what it counted");
    told.unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The systems that one of the project's files asks for, with their names.
///
/// # Panics
/// If the file is wrong or there are no images.
#[must_use]
pub fn systems(file: &str) -> Vec<(String, System)> {
    workload::systems(&root().join(file), SEED, &Files::default())
        .unwrap_or_else(|failure| panic!("{failure}"))
}

/// The system that one of the project's files asks for, once each of these texts in it is replaced by the
/// other.
///
/// # Panics
/// If a text is not in the file, the file is wrong then, or there are no images.
#[must_use]
pub fn changed_system(file: &str, changes: &[(&str, &str)]) -> System {
    let mut text = fs::read_to_string(root().join(file)).expect("a file of the project");
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no \"{from}\"");
        text = text.replace(from, to);
    }
    system_of(&text)
}

/// The system that a file with this text asks for.
///
/// # Panics
/// If the text is wrong, or there are no images.
#[must_use]
pub fn system_of(text: &str) -> System {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("changed.toml");
    fs::write(&path, text).expect("a temporary file");
    let systems = workload::systems(&path, SEED, &Files::default())
        .unwrap_or_else(|failure| panic!("{failure}"));
    systems.into_iter().next().expect("a file asks for a system").1
}

/// The number in an environment variable, with which a nightly run asks for more, or the usual one.
///
/// # Panics
/// If the variable holds no number.
#[must_use]
pub fn number_from(variable: &str, usual: u64) -> u64 {
    let text = env::var(variable).ok();
    text.map_or(usual, |text| text.parse().expect("the variable holds a number"))
}

/// Examples that no test runs from start to end with the others, and why.
const APART: [(&str, &str); 7] = [
    ("console", "it wants input"),
    ("gibibyte", "it touches a gibibyte; a test of its own runs it"),
    ("idle", "QEMU refuses every `stop` of a guest; `guest_stop.rs` runs it on our machine"),
    ("linux-guest", "its kernel has to be fetched; `cargo xtask linux --guest` runs it"),
    ("linux-host", "its kernel has to be fetched; `cargo xtask linux --boot` boots the same"),
    ("misbehave", "its partitions do not end well, which is what it is for"),
    ("null-hypercall", "the experiment of this name does the same and more"),
];

/// Examples that run long. The nightly run has them wherever it has the others; `two_machines.rs` runs them each time,
/// and `superpages.rs` and `disks.rs` their payloads.
const LONG: [&str; 6] = [
    "examples/churn.toml",
    "examples/database.toml",
    "examples/disk-adapters.toml",
    "examples/disk.toml",
    "examples/pressure.toml",
    "examples/random-access.toml",
];

/// The experiment with hypercalls. Before each push the tests run every fifth of its variants.
const HYPERCALLS: &str = "experiments/null-hypercall.toml";
const HYPERCALLS_STEP: usize = 5;

/// The project's files whose partitions all end well: every example but those of [`APART`], in alphabetical order,
/// and the experiment with hypercalls.
///
/// # Panics
/// If the folder with the examples cannot be read, or an example of [`APART`] is not in it.
#[must_use]
pub fn all_files() -> Vec<String> {
    let entries = fs::read_dir(root().join("examples")).expect("the project has examples");
    let path = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry of a folder").path();
    let stem =
        |path: PathBuf| path.file_stem().expect("a file's name").to_string_lossy().into_owned();
    let is_system = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut names: BTreeSet<String> = entries.map(path).filter(is_system).map(stem).collect();
    for (name, _) in APART {
        assert!(names.remove(name), "there is no example {name}");
    }
    let examples = names.into_iter().map(|name| format!("examples/{name}.toml"));
    examples.chain([HYPERCALLS.to_owned()]).collect()
}

/// All files, without those that run [long](LONG) before each push.
#[must_use]
pub fn usual_files() -> Vec<String> {
    let is_usual = |file: &String| is_nightly() || !LONG.contains(&file.as_str());
    all_files().into_iter().filter(is_usual).collect()
}

/// All systems that the tests run, without those that run [long](LONG) before each push.
#[must_use]
pub fn all_systems() -> Vec<(String, System)> {
    usual_files().iter().flat_map(|file| usual_systems(file)).collect()
}

/// Half of [all systems](all_systems) before each push, and all of them in the nightly run: every other one from the
/// first or the second on. Tests that run each system several times share them out so.
#[must_use]
pub fn every_other_system(first: usize) -> Vec<(String, System)> {
    let (first, step) = if is_nightly() { (0, 1) } else { (first, 2) };
    all_systems().into_iter().skip(first).step_by(step).collect()
}

/// All systems, the long ones too.
#[must_use]
pub fn every_system() -> Vec<(String, System)> {
    all_files().iter().flat_map(|file| usual_systems(file)).collect()
}

/// Whether this is the nightly run.
///
/// # Panics
/// If the variable that says so holds no number.
#[must_use]
pub fn is_nightly() -> bool {
    number_from("POWERVISOR_LONG", 0) != 0
}

/// The systems that one of the project's files asks for, as many of them as the run has time for, with their names.
#[must_use]
pub fn usual_systems(file: &str) -> Vec<(String, System)> {
    let step = if file == HYPERCALLS && !is_nightly() { HYPERCALLS_STEP } else { 1 };
    systems(file).into_iter().step_by(step).collect()
}

/// Does that with each of these, as many at a time as the host has processors.
///
/// # Panics
/// If it panics with one of them.
pub fn on_each<T: Send>(things: Vec<T>, does: impl Fn(T) + Sync) {
    let things = Mutex::new(things.into_iter());
    let next = || things.lock().expect("nobody panics while it holds this").next();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some(thing) = next() {
                    does(thing);
                }
            });
        }
    });
}

/// Runs a system on our machine from start to end, with an observer.
///
/// # Panics
/// If the system cannot be started.
pub fn run_watched<O: Observer>(system: &System, observer: &mut O) -> RunState {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    machine.run(u64::MAX, observer)
}

/// More instructions than a run has that ends.
pub const ALL: u64 = 1 << 30;

/// Runs to the end in slices of about so many instructions, and returns the console.
///
/// # Panics
/// If the run does not end within [`ALL`], or ends otherwise than by power-off.
pub fn finish(machine: &mut Machine, slice: u64) -> Vec<u8> {
    let mut console = Vec::new();
    loop {
        assert!(machine.instructions() < ALL, "the run does not end");
        let state = machine.run(slice, &mut NoObserver);
        console.extend(machine.take_console_output());
        match state {
            RunState::Running
            | RunState::AtMark { .. }
            | RunState::AtPlace { .. }
            | RunState::Asleep { .. } => (),
            RunState::PoweredOff => return console,
            RunState::Rebooted => panic!("rebooted"),
            RunState::Stopped(report) => panic!("{report}"),
        }
    }
}
