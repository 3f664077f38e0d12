//! What the tests of the whole share: the systems that the project's own files ask for.
//!
//! They need the images; `make images` builds them, and every test says so if it has not been done.

use std::path::{Path, PathBuf};

use powervisor::system::System;
use powervisor::workload;

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
    workload::systems(&root().join(file), SEED).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The project's files whose partitions all end well.
const SYSTEMS: [&str; 10] = [
    "examples/compute.toml",
    "examples/hello.toml",
    "examples/initrd.toml",
    "examples/memory-walk.toml",
    "examples/preempt.toml",
    "examples/registers.toml",
    "examples/shared.toml",
    "examples/smp.toml",
    "examples/timer.toml",
    "experiments/null-hypercall.toml",
];

/// All systems that the tests run.
#[must_use]
pub fn all_systems() -> Vec<(String, System)> {
    SYSTEMS.iter().flat_map(|file| systems(file)).collect()
}
