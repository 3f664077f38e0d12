//! Mutation testing: are the tests able to fail?
//!
//! `cargo mutants` changes one thing at a time in `arch` and in the simulator, and the tests must notice.
//! `.cargo/mutants.toml` says what is changed, by which tests it is judged, and which changes are excused, with
//! reasons. All mutants take days, so a run takes one sample.

use std::fs;
use std::str::FromStr;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::workspace::{Workspace, is_in_path, run};

/// Samples that together are all mutants; one is about 20, which take less than half an hour.
const SHARDS: u64 = 480;
/// How `cargo mutants` ends when it worked: every mutant was noticed; some were not; some made a test
/// run for ever, which is noticed, and does not say whether others were.
const WORKED: [i32; 3] = [0, 2, 3];
/// The packages of `test_package` in `.cargo/mutants.toml`.
const JUDGES: [&str; 8] = [
    "-p",
    "powervisor-arch",
    "-p",
    "powervisor-simulator",
    "-p",
    "conformance",
    "-p",
    "differential",
];

/// Which mutants.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// Try this sample, K/N: every N-th mutant from the K-th. Without it, another sample each day.
    #[arg(long)]
    shard: Option<Shard>,
    /// Try this many mutants at a time; each builds in its own copy.
    #[arg(long, default_value_t = 1)]
    jobs: u32,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { shard: None, jobs: 1 }
    }
}

/// Sample `index` of `count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The samples take turns by the day, so that nightly runs see every mutant in [`SHARDS`] days.
    fn of_today() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let days = now.map_or(0, |since| since.as_secs() / (24 * 60 * 60));
        Self { index: days % SHARDS, count: SHARDS }
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |(index, count): (&str, &str)| Some((index.parse().ok()?, count.parse().ok()?));
        match text.split_once('/').and_then(parse) {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            _ => Err("a sample is K/N with K below N, as 0/16"),
        }
    }
}

/// Tries the mutants of one sample; fails if one survives. The answer is which sample.
pub(crate) fn mutants(workspace: &Workspace, arguments: Arguments) -> Result<String> {
    if !is_in_path("cargo-mutants") {
        eprintln!("Installing cargo-mutants ...");
        run(&mut workspace.cargo(&["install", "--quiet", "--locked", "cargo-mutants"]))
            .context("cargo-mutants is needed; `cargo install cargo-mutants --locked` brings it")?;
    }
    // Judges that fail without any mutant would notice every one; `cargo mutants` does not ask them all.
    run(workspace.cargo(&["test", "--quiet", "--profile", "dev"]).args(JUDGES))?;
    let Shard { index, count } = arguments.shard.unwrap_or_else(Shard::of_today);
    println!("mutants: sample {index}/{count}");
    let mut command = workspace.cargo(&["mutants", "--sharding", "round-robin"]);
    command.args(["--shard", &format!("{index}/{count}")]);
    command.args(["--jobs", &arguments.jobs.to_string()]);
    command.arg("--output").arg(&workspace.target);
    let status = command.status().context("cargo cannot be started")?;
    if !status.code().is_some_and(|code| WORKED.contains(&code)) {
        bail!("cargo mutants failed with {status}");
    }
    let list = workspace.target.join("mutants.out/missed.txt");
    let survivors =
        fs::read_to_string(&list).with_context(|| format!("{} cannot be read", list.display()))?;
    if !survivors.is_empty() {
        bail!("no test noticed these changes (docs/mutants.md says what to do):\n{survivors}");
    }
    Ok(format!("sample {index}/{count}"))
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn a_sample_is_one_of_its_count() {
        assert_eq!("3/16".parse(), Ok(Shard { index: 3, count: 16 }));
        for wrong in ["16/16", "3", "3/", "/3", "-1/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
