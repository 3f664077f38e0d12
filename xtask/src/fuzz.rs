//! Fuzzing: libFuzzer drives the targets of `fuzz/`, under AddressSanitizer, with coverage.
//!
//! The folder is laid out for cargo-fuzz, but it is not needed: the few flags that it would pass are
//! passed here, to the compiler that is there.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::sanitize::unstable_cargo;
use crate::toolchain::host;
use crate::workspace::{Workspace, run};

/// The programs of `fuzz/fuzz_targets`.
const TARGETS: [&str; 1] = ["partitions"];
/// What makes the compiler report to libFuzzer which edges were taken and what was compared.
const COVERAGE: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1";

/// For how long.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// Seconds for each target.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { seconds: 300 }
    }
}

/// Runs each target; fails at the first input that breaks something, which is kept. What was found to lead
/// to new code is kept too, below `target/fuzz`, and a run after this one begins with it.
pub(crate) fn fuzz(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let (host, built) = (host()?, workspace.target.join("fuzz"));
    let mut command = unstable_cargo(workspace, COVERAGE);
    command.args(["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    run(command.args(["--target", &host, "--target-dir"]).arg(&built))?;
    for target in TARGETS {
        let (corpus, artifacts) = (built.join("corpus").join(target), built.join("artifacts"));
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let mut command = Command::new(built.join(&host).join("release").join(target));
        command.arg(&corpus).arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.arg(format!("-max_total_time={}", arguments.seconds));
        command.args(["-max_len=2048", "-timeout=10", "-print_final_stats=1", "-verbosity=1"]);
        run(&mut command)
            .with_context(|| format!("what breaks {target} is in {}", artifacts.display()))?;
    }
    Ok(())
}
