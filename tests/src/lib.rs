//! What the tests of the whole share: the systems that the project's own files ask for.
//!
//! They need the images; `make images` builds them, and every test says so if it has not been done.

pub mod containment;
pub mod fairness;

use std::path::{Path, PathBuf};
use std::{env, fs};

use lab::system::System;
use lab::user_file::Files;
use lab::{on_simulator, workload};
use simulator::{Observer, RunState};

/// Every seed is as good as another; the tests that need two say so.
pub const SEED: u64 = 1;

/// The folder with examples and experiments.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
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

/// The project's files whose partitions all end well.
const SYSTEMS: [&str; 12] = [
    "examples/compute.toml",
    "examples/confer.toml",
    "examples/hello.toml",
    "examples/initrd.toml",
    "examples/memory-walk.toml",
    "examples/preempt.toml",
    "examples/registers.toml",
    "examples/shared.toml",
    "examples/smp.toml",
    "examples/storm.toml",
    "examples/timer.toml",
    "experiments/null-hypercall.toml",
];

/// All systems that the tests run.
#[must_use]
pub fn all_systems() -> Vec<(String, System)> {
    SYSTEMS.iter().flat_map(|file| systems(file)).collect()
}

/// Runs a system on our machine from start to end, with an observer.
///
/// # Panics
/// If the system cannot be started.
pub fn run_watched<O: Observer>(system: &System, observer: &mut O) -> RunState {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    machine.run(u64::MAX, observer)
}
