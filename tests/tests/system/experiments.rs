//! The experiments that come with the project are experiments.

use std::fs;

use lab::experiment::Experiment;
use lab::user_file::Files;
use system_tests::root;

/// What is said where another command makes the kernel that an experiment has beside the hypervisor.
const MADE_APART: &str = "cargo xtask linux --kvm";

/// Most of them take too long for a test that runs them, and a word that begins to mean something can break any.
#[test]
fn every_experiment_can_be_read() {
    let files = fs::read_dir(root().join("experiments")).expect("the folder is there");
    let paths: Vec<_> = files.map(|entry| entry.expect("it can be read").path()).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for path in paths {
        if let Err(failure) = Experiment::read(&path, &Files::default()) {
            let failure = failure.to_string();
            assert!(failure.contains(MADE_APART), "{failure}");
        }
    }
}
