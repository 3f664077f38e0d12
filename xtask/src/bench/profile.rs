//! Where the simulator's own time goes: samples of `perf`, by module.
//!
//! What the compiler inlined counts where it was inlined: the ledger, for one, is a part of the pipeline.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::WORKS;
use super::timing::{with, work_arguments};
use crate::workspace::Workspace;

/// What functions are of, by how their names begin; the first that fits.
const PARTS: [(&str, &str); 10] = [
    ("simulator::pipeline::", "core (how long and why)"),
    ("simulator::cache::", "cache"),
    ("simulator::ledger::", "ledger"),
    ("simulator::mmu::", "mmu"),
    ("simulator::state::memory::", "memory"),
    ("simulator::machine::", "machine (runs it)"),
    ("simulator::blocks::", "blocks"),
    // An instruction's handler is called through a pointer; that wrapper has its body.
    ("core::ops::function::FnOnce::call_once", "exec (what an instruction does)"),
    ("simulator::exec::", "exec (what an instruction does)"),
    ("simulator::", "simulator, other"),
];

pub(super) fn profile(workspace: &Workspace) -> Result<()> {
    println!(
        "\nWhere the simulator's own time goes, by `perf` (what was inlined counts where it was):\n"
    );
    let mut columns = Vec::new();
    let mut headers = String::new();
    for work in &WORKS[..2] {
        let functional = vec![work.write(workspace, work.much)?];
        let timed = with(&work_arguments(workspace, work)?, &["--timing"]).1;
        for (mode, arguments) in [("functional", functional), ("timing", timed)] {
            headers.push_str(&format!("{:>28}", format!("{}, {mode}", work.name)));
            columns.push(shares(workspace, &arguments)?);
        }
    }
    let mut parts: Vec<&str> = columns.iter().flat_map(BTreeMap::keys).copied().collect();
    parts.sort_unstable();
    parts.dedup();
    println!("{:<34}{headers}", "");
    for part in parts {
        let share = |column: &BTreeMap<&str, f64>| {
            format!("{:>27.1}%", column.get(part).copied().unwrap_or_default())
        };
        println!("{part:<34}{}", columns.iter().map(share).collect::<String>());
    }
    Ok(())
}

/// Percent of the samples of a boot, by part.
fn shares(workspace: &Workspace, arguments: &[String]) -> Result<BTreeMap<&'static str, f64>> {
    let data = workspace.target.join("bench/perf.data");
    let powervisor = workspace.powervisor(&["boot"]);
    let mut record = Command::new("perf");
    record.args(["record", "--quiet", "--freq", "2000", "--output"]).arg(&data).arg("--");
    record.arg(powervisor.get_program()).args(powervisor.get_args()).args(arguments);
    let missing = "perf cannot be started; install Debian's package linux-perf";
    let output = record.stdin(Stdio::null()).output().context(missing)?;
    if !output.status.success() {
        bail!("perf record: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut report = Command::new("perf");
    report.args(["report", "--stdio", "--no-children", "--sort", "symbol", "--input"]).arg(&data);
    let output = report.stdin(Stdio::null()).output().context(missing)?;
    if !output.status.success() {
        bail!("perf report: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut shares = BTreeMap::new();
    for (percent, part) in String::from_utf8_lossy(&output.stdout).lines().filter_map(line) {
        *shares.entry(part).or_default() += percent;
    }
    if shares.is_empty() {
        bail!("perf took no samples of {}", arguments.join(" "));
    }
    Ok(shares)
}

/// The percent and the part of a line `12.34%  [.] simulator::mmu::resolve`.
fn line(line: &str) -> Option<(f64, &'static str)> {
    let (percent, rest) = line.trim().split_once("%  [")?;
    let percent = percent.parse().ok()?;
    let (space, symbol) = rest.split_once("] ")?;
    if space == "k" {
        return Some((percent, "the host's kernel"));
    }
    // A method of a trait begins with its type: `<simulator::mmu::Tlb as ...>`.
    let symbol = symbol.trim_start_matches('<');
    let part = PARTS.iter().find(|(start, _)| symbol.starts_with(start));
    Some((percent, part.map_or("the rest", |(_, part)| part)))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_sample_is_of_the_part_that_its_symbol_names() {
        for (text, expected) in [
            ("", None),
            ("# Samples: 2K of event", None),
            (
                "    44.18%  [.] simulator::pipeline::stages::Pipeline::complete   -      -   ",
                Some((44.18, "core (how long and why)")),
            ),
            (
                "    10.53%  [.] core::ops::function::FnOnce::call_once",
                Some((10.53, "exec (what an instruction does)")),
            ),
            ("     0.37%  [k] exc_page_fault", Some((0.37, "the host's kernel"))),
            ("     1.00%  [.] <simulator::mmu::Tlb as Clone>::clone", Some((1.0, "mmu"))),
            ("     0.21%  [.] malloc", Some((0.21, "the rest"))),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }
}
