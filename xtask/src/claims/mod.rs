//! The figures of CLAIMS.md and of the README's quoted outputs, printed again by the commands that they name.
//!
//! A claim in `docs/claims/` writes `{EXPERIMENT METRIC VARIANT}` where its figure stands, as in
//! `{null-hypercall cycles full-translated}`; `minus VARIANT` behind it takes another variant's figure off, and `exact`
//! keeps the decimals. `docs/figures.json` has what was measured, and `cargo xtask join` puts it into CLAIMS.md.

mod quotes;

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::figures::{self, Figures};
use crate::images::images;
use crate::join;
use crate::linux::make_rivals;
use crate::outcome::Outcome;
use crate::run::build;
use crate::toolchain::Toolchain;
use crate::workspace::{Workspace, output};

/// Where claims are, from the root.
const CLAIMS: &str = "docs/claims";
/// What quotes outputs, from the root.
const README: &str = "README.md";
/// What the names of experiments begin with that have KVM in them.
const RIVALS: &str = "kvm-";
/// The one whose kernel is compiled from its source.
const COMPILED: &str = "kvm-facilities";
/// What its outputs are called among experiments.
const README_ALONE: &str = "README";

/// What to do with what was measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Measure the figures of these experiments alone, and leave all others as they are; `README` names its outputs.
    #[arg(value_name = "EXPERIMENT")]
    only: Vec<String>,
    /// Write nothing; fail if a figure is not what the project says.
    #[arg(long)]
    check: bool,
}

/// Measures all figures, and writes them or compares them.
pub(crate) fn claims(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    images(workspace)?;
    build(workspace)?;
    let measures = |begin: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| name.starts_with(begin))
    };
    if measures(RIVALS) {
        make_rivals(workspace, measures(COMPILED))?;
    }
    let mut texts = Vec::new();
    for entry in fs::read_dir(workspace.root.join(CLAIMS))? {
        texts.push(fs::read_to_string(entry?.path())?);
    }
    let before = Figures::read(&workspace.root)?;
    let (quoting, only): (Vec<_>, Vec<_>) =
        arguments.only.iter().cloned().partition(|name| name == README_ALONE);
    let is_all = arguments.only.is_empty();
    let (measured, failed) = match is_all || !only.is_empty() {
        true => figures::measure(workspace, &texts, &since()?, &before, &only)?,
        false => (before.clone(), Vec::new()),
    };
    let mut changed = before.differences(&measured);
    let path = workspace.root.join(README);
    let readme = fs::read_to_string(&path).context(README)?;
    let quoted = if failed.is_empty() && (is_all || !quoting.is_empty()) {
        quotes::refresh(workspace, &readme)?
    } else {
        readme.clone()
    };
    let old = readme.lines().zip(quoted.lines()).filter(|(old, new)| old != new);
    changed.extend(old.map(|(old, new)| format!("{README}: {old}\n  is now  {new}")));
    for line in &changed {
        println!("{line}");
    }
    if arguments.check {
        ensure!(failed.is_empty(), "{}", failed.join("\n"));
        ensure!(
            changed.is_empty(),
            "{} figures changed; `cargo xtask claims` writes them",
            changed.len()
        );
        return Ok(());
    }
    if changed.is_empty() && measured.measured() == before.measured() {
        println!("claims: no figure changed");
    } else {
        measured.write(&workspace.root)?;
        fs::write(&path, quoted).context(README)?;
        join::join(workspace)?;
    }
    ensure!(failed.is_empty(), "what could not be measured is as it was: {}", failed.join("\n"));
    Ok(())
}

/// The same as a step of the nightly run. Instructions are those of one compiler.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let (said, here) = (Figures::read(&workspace.root)?, since()?);
    let compiler = |since: &str| since.split_once(", ").map(|(_, compiler)| compiler.to_owned());
    let is_other = |(_, when): &(&String, &String)| compiler(when) != compiler(&here);
    if let Some((name, when)) = said.measured().iter().find(is_other) {
        let why = format!("the figures of {name} are of {when}, and here is {here}");
        return Ok(Outcome::Skipped(why));
    }
    claims(workspace, Arguments { check: true, only: Vec::new() })?;
    Ok(Outcome::Passed("every figure as CLAIMS.md and the README have it".to_owned()))
}

/// When and with which compiler it is measured, as claims say it.
fn since() -> Result<String> {
    let date = output(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let toolchain = Toolchain::find().context("no compiler builds the images")?;
    Ok(format!("{}, rustc {}", date.trim(), toolchain.version()?))
}
