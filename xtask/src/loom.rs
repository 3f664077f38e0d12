//! Loom: the hypervisor's hand-overs between hardware threads, in all interleavings, by the models of
//! `hypervisor/core/src/models/mod.rs`.

use anyhow::Result;
use clap::Args;

use crate::workspace::{Workspace, run};

/// The crate with the models, and what their names begin with.
const MODELS: [&str; 5] = ["--package", "hypervisor-core", "--lib", "--", "models::"];

/// Switches that are tried before each push.
const SWITCHES: u32 = 2;

/// How much is tried.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// In models of whole partitions, try at most this many involuntary switches between threads in one interleaving.
    #[arg(long, default_value_t = SWITCHES)]
    pub(crate) switches: u32,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { switches: SWITCHES }
    }
}

/// Runs all models; fails if there is an order in which one does not hold.
pub(crate) fn loom(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let mut command = workspace.cargo(&["test", "--quiet"]);
    if arguments.switches > SWITCHES {
        // What takes longer to run than to build.
        command.arg("--release");
    }
    command.arg("--target-dir").arg(workspace.target.join("loom")).args(MODELS);
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", "--cfg loom");
    run(command.env("POWERVISOR_SWITCHES", arguments.switches.to_string()))
}
