//! Fuzzing: libFuzzer drives the targets of `fuzz/`, under AddressSanitizer, with coverage; then random partitions
//! run on our machine, while its oracle watches (`tests/src/fuzz_machine.rs`).
//!
//! The folder is laid out for cargo-fuzz, but it is not needed: the few flags that it would pass are
//! passed here, to the compiler that is there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::images::images;
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

/// For how long, and on what.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Run each target for this many seconds.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Run only on our machine, with these arguments of `fuzz-machine`: --first, --count.
    #[arg(long, num_args = 0.., allow_hyphen_values = true)]
    machine: Option<Vec<String>>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { seconds: 300, machine: None }
    }
}

/// Runs each target; fails at the first input that breaks something, which is kept. What was found to lead
/// to new code is kept too, below `target/fuzz`, and a run after this one begins with it. The answer says how
/// much was tried.
pub(crate) fn fuzz(workspace: &Workspace, arguments: Arguments) -> Result<String> {
    let Arguments { seconds, machine } = arguments;
    let mut tried = Vec::new();
    if machine.is_none() {
        tried.extend(on_host(workspace, seconds)?);
    }
    tried.push(on_machine(workspace, seconds, &machine.unwrap_or_default())?);
    Ok(tried.join(", "))
}

fn on_host(workspace: &Workspace, seconds: u64) -> Result<Vec<String>> {
    const EXECUTED: &str = "stat::number_of_executed_units:";
    let (host, built) = (host()?, workspace.target.join("fuzz"));
    let mut command = unstable_cargo(workspace, COVERAGE);
    command.args(["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    run(command.args(["--target", &host, "--target-dir"]).arg(&built))?;
    let mut tried = Vec::new();
    for target in TARGETS {
        let (corpus, artifacts) = (built.join("corpus").join(target), built.join("artifacts"));
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let mut command = Command::new(built.join(&host).join("release").join(target));
        command.arg(&corpus).arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.arg(format!("-max_total_time={seconds}"));
        command.args(["-max_len=2048", "-timeout=10", "-print_final_stats=1", "-verbosity=1"]);
        let lines = lines(command.stderr(Stdio::piped()), |line| eprintln!("{line}"))
            .with_context(|| format!("what breaks {target} is in {}", artifacts.display()))?;
        let inputs = lines.iter().find_map(|line| line.strip_prefix(EXECUTED));
        tried.push(format!("{target}: {} inputs", inputs.unwrap_or("?").trim()));
    }
    Ok(tried)
}

fn on_machine(workspace: &Workspace, seconds: u64, arguments: &[String]) -> Result<String> {
    images(workspace)?;
    let mut command =
        workspace.cargo(&["run", "--quiet", "--release", "--package", "system-tests"]);
    command.args(["--bin", "fuzz-machine", "--", "--seconds", &seconds.to_string()]);
    command.args(arguments).env("POWERVISOR_IMAGES", workspace.images());
    let lines = lines(command.stdout(Stdio::piped()), |line| println!("{line}"))?;
    let last = lines.last().map(String::as_str).unwrap_or_default();
    Ok(last.strip_prefix("fuzz-machine: ").unwrap_or(last).to_owned())
}

/// Runs a command to its end, one of whose outputs is piped, and returns that by line, having shown each; fails
/// if it does.
fn lines(command: &mut Command, show: impl Fn(&str)) -> Result<Vec<String>> {
    let mut child = command.spawn().context("a program that was built cannot be started")?;
    let mut lines = Vec::new();
    let mut read = |pipe: Box<dyn std::io::Read>| -> Result<()> {
        for line in BufReader::new(pipe).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            show(&line);
            lines.push(line);
        }
        Ok(())
    };
    if let Some(pipe) = child.stderr.take() {
        read(Box::new(pipe))?;
    }
    if let Some(pipe) = child.stdout.take() {
        read(Box::new(pipe))?;
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("it failed with {status}");
    }
    Ok(lines)
}
