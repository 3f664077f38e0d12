//! What it costs to look: traces of a boot, and the ledger's details of an experiment, beside the same run
//! without. Looking changes no simulated cycle, and that is checked here too.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::timing::{Arguments, DONE, rates, with, work_arguments};
use super::{WORKS, median, processor_time};
use crate::workspace::Workspace;

/// Rounds of each comparison of experiments.
const ROUNDS: usize = 3;

/// Options of `run`, and what they are; each but the first is compared with that.
const DETAILS: [(&[&str], &str); 3] =
    [(&[], "plain"), (&["--explain"], "--explain"), (&["--out"], "--out")];

pub(super) fn watching(workspace: &Workspace) -> Result<()> {
    println!(
        "\nTiming mode with a trace, in millions of instructions per second of processor time:\n"
    );
    println!("{:<16}{:<16}{:>14}{:>12}{:>10}", "", "--trace", "not watched", "traced", "time");
    let trace = workspace.target.join("bench/trace").display().to_string();
    for work in &WORKS[..2] {
        let plain = work_arguments(workspace, work)?;
        let timed = with(&plain, &["--timing"]);
        for what in ["exits", "instructions"] {
            let traced = with(&timed, &["--trace", what, "--trace-file", &trace]);
            let [alone, traced] = traced_rates(workspace, work.name, [&timed, &traced])?;
            let time = alone / traced;
            println!("{:<16}{what:<16}{alone:>14.1}{traced:>12.1}{time:>9.2}x", work.name);
        }
    }
    std::fs::remove_file(&trace).with_context(|| format!("removing {trace}"))?;

    println!("\nExperiments with details, in seconds of processor time:\n");
    println!("{:<16}{:>14}{:>24}{:>24}", "", DETAILS[0].1, DETAILS[1].1, DETAILS[2].1);
    for experiment in ["null-hypercall", "compute"] {
        let [plain, explained, out] = details(workspace, experiment)?;
        let of_plain = |seconds: f64| format!("{seconds:.2} ({:.2}x)", seconds / plain);
        println!("{experiment:<16}{plain:>14.2}{:>24}{:>24}", of_plain(explained), of_plain(out));
    }
    println!("\nWith each of these, cycles are those without, to the cycle.");
    Ok(())
}

/// How fast the same is without and with a trace; the cycles must be the same.
fn traced_rates(workspace: &Workspace, name: &str, runs: [&Arguments; 2]) -> Result<[f64; 2]> {
    let [alone, traced] = rates(workspace, runs, DONE)?;
    ensure!(
        alone.cycles.is_some() && alone.cycles == traced.cycles,
        "{name}: a trace changed cycles, {:?} to {:?}",
        alone.cycles,
        traced.cycles
    );
    Ok([alone.mips, traced.mips])
}

/// Medians of an experiment's processor time with each of [`DETAILS`], which alternate. What is printed for
/// programs must be the same.
fn details(workspace: &Workspace, experiment: &str) -> Result<[f64; 3]> {
    let file = workspace.root.join("experiments").join(experiment).with_extension("toml");
    let folder = workspace.target.join("bench/out");
    let mut seconds = [const { Vec::new() }; DETAILS.len()];
    let mut reports = Vec::new();
    for _ in 0..ROUNDS {
        for ((options, _), seconds) in DETAILS.iter().zip(&mut seconds) {
            let mut command = workspace.powervisor(&["run"]);
            command.arg(&file).args(["--format", "json"]).args(*options);
            if options.contains(&"--out") {
                command.arg(&folder);
            }
            let before = processor_time()?;
            let output =
                command.stdin(Stdio::null()).output().context("powervisor cannot be started")?;
            let took: Duration = processor_time()?.saturating_sub(before);
            if !output.status.success() {
                bail!("{experiment}: {}", String::from_utf8_lossy(&output.stderr));
            }
            seconds.push(took.as_secs_f64());
            reports.push(output.stdout);
        }
    }
    ensure!(reports.iter().all(|report| *report == reports[0]), "{experiment}: a figure changed");
    Ok(seconds.map(median))
}
