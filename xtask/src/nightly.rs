//! Everything that takes too long for each push, and a summary that can be pasted into a note.
//!
//! A step that fails does not keep the others from being tried. Ctrl-C ends it at any time: what a step keeps
//! lies in the target folder, and nothing there needs to be whole. A QEMU that a test had started ends by itself, when
//! its guest does.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::check::check;
use crate::images::images;
use crate::outcome::Outcome;
use crate::workspace::{Workspace, output};
use crate::{claims, fuzz, linux, loom, mutants, sanitize, test, wheel};

/// Involuntary switches between threads in loom's models.
const SWITCHES: u32 = 3;

/// What a step is called on the command line and in the summary, and what it does.
type Step = (&'static str, &'static str, fn(&Workspace) -> Result<Outcome>);

const STEPS: [Step; 11] = [
    ("checks", "images and checks", |workspace| {
        images(workspace).and_then(|()| check(workspace)).map(|()| Outcome::Passed(String::new()))
    }),
    ("loom", "hand-overs, by loom", |workspace| {
        loom::loom(workspace, loom::Arguments { switches: SWITCHES })?;
        Ok(Outcome::Passed(format!("{SWITCHES} switches")))
    }),
    ("tests", "all tests", |workspace| test::many(workspace).map(Outcome::Passed)),
    ("differential", "instructions against QEMU", |workspace| {
        let cases = test::NIGHTLY_CASES;
        test::differential(workspace, &["--cases".to_owned(), cases.to_owned()])?;
        Ok(Outcome::Passed(format!("{cases} cases of each")))
    }),
    ("figures", "figures", claims::check),
    ("wheel", "wheel", |workspace| wheel::test(workspace).map(|()| Outcome::Passed(String::new()))),
    ("linux", "Linux to a shell", linux::nightly),
    ("sanitize", "AddressSanitizer", |workspace| sanitize::address(workspace).map(Outcome::Passed)),
    ("miri", "Miri", sanitize::miri),
    ("fuzz", "fuzzing", |workspace| {
        fuzz::fuzz(workspace, fuzz::Arguments::default()).map(Outcome::Passed)
    }),
    ("mutants", "mutants", |workspace| {
        mutants::mutants(workspace, mutants::Arguments::default()).map(Outcome::Passed)
    }),
];

/// Which steps.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Run these steps only, in the order of the whole run.
    #[arg(value_name = "STEP", value_parser = PossibleValuesParser::new(STEPS.map(|(key, ..)| key)))]
    steps: Vec<String>,
}

/// Runs all steps, or those that are named; fails if one did.
pub(crate) fn nightly(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let is_named =
        |key: &str| arguments.steps.is_empty() || arguments.steps.iter().any(|step| step == key);
    let steps: Vec<Step> = STEPS.into_iter().filter(|(key, ..)| is_named(key)).collect();
    let mut summary = vec![heading(workspace)];
    let mut failed = 0;
    for (index, (_, name, step)) in steps.iter().enumerate() {
        println!("\nnightly: {} of {}: {name}", index + 1, steps.len());
        let started = Instant::now();
        let result = step(workspace);
        let line = Line { name, took: started.elapsed(), result: &result };
        println!("nightly: {line}");
        summary.push(format!("  {line}"));
        if let Err(error) = result {
            eprintln!("nightly: {name}: {error:#}");
            failed += 1;
        }
    }
    println!("\n{}", summary.join("\n"));
    if failed > 0 {
        bail!("{failed} of {} steps failed; each says above why", steps.len());
    }
    Ok(())
}

/// A step in the summary.
struct Line<'a> {
    name: &'a str,
    took: Duration,
    result: &'a Result<Outcome>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, about) = match self.result {
            Ok(Outcome::Passed(figures)) => ("passed", figures.as_str()),
            Ok(Outcome::Skipped(why)) => ("skipped", why.as_str()),
            Err(_) => ("FAILED", ""),
        };
        let seconds = self.took.as_secs();
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        let line = format!("{:<26} {how:<8} {minutes:>3}:{seconds:02}  {about}", self.name);
        f.write_str(line.trim_end())
    }
}

/// When, and what was tested with what.
fn heading(workspace: &Workspace) -> String {
    let first_line = |command: &mut Command| {
        let text = output(command).unwrap_or_else(|_| "unknown".to_owned());
        text.lines().next().unwrap_or_default().to_owned()
    };
    let date = first_line(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]));
    let describe = ["describe", "--always", "--dirty"];
    let version = first_line(Command::new("git").args(describe).current_dir(&workspace.root));
    let rustc = first_line(Command::new("rustc").arg("--version"));
    let qemu = first_line(Command::new("qemu-system-ppc64").arg("--version"));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    format!("nightly {date}: {version}, {rustc}, {qemu}, {cpus} processors")
}

#[cfg(test)]
mod tests {
    use super::{Line, Outcome};
    use std::time::Duration;

    #[test]
    fn the_summary_says_how_each_step_ended() {
        let line =
            |result| Line { name: "x", took: Duration::from_secs(75), result: &result }.to_string();
        let passed = line(Ok(Outcome::Passed("7 cases".to_owned())));
        assert_eq!(passed, "x                          passed     1:15  7 cases");
        let failed = line(Err(anyhow::anyhow!("no")));
        assert_eq!(failed, "x                          FAILED     1:15");
        assert!(line(Ok(Outcome::Skipped("no QEMU".to_owned()))).contains("skipped    1:15  no"));
    }
}
