//! Everything that takes too long for each push, and a summary that can be pasted into a note.
//!
//! Two steps run at a time. One that fails does not keep the others from being tried. Ctrl-C ends them at any time:
//! what a step keeps lies in the target folder, and nothing there needs to be whole. A QEMU that a test had started
//! ends by itself, when its guest does.

use std::collections::VecDeque;
use std::fmt;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
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

/// Steps that run side by side, since each of them uses one processor for much of its time.
const LANES: usize = 2;

/// What a step is called on the command line and in the summary, and what it does.
type Step = (&'static str, &'static str, fn(&Workspace) -> Result<Outcome>);

/// The first one builds what all others use. Then the longest begins.
const STEPS: [Step; 11] = [
    ("checks", "images and checks", |workspace| {
        images(workspace).and_then(|()| check(workspace)).map(|()| Outcome::Passed(String::new()))
    }),
    ("linux", "Linux to a shell", linux::nightly),
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
    ("wheel", "wheel", |workspace| wheel::test(workspace).map(|()| Outcome::Passed(String::new()))),
    ("sanitize", "AddressSanitizer", |workspace| sanitize::address(workspace).map(Outcome::Passed)),
    ("miri", "Miri", sanitize::miri),
    ("fuzz", "fuzzing", |workspace| {
        fuzz::fuzz(workspace, fuzz::Arguments::default()).map(Outcome::Passed)
    }),
    ("mutants", "mutants", |workspace| {
        mutants::mutants(workspace, mutants::Arguments::default()).map(Outcome::Passed)
    }),
    // They have KVM's too, whose images the step with Linux makes.
    ("figures", "figures", claims::check),
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
    let count = steps.len();
    let heading = heading(workspace);
    let mut waiting: VecDeque<_> = steps.into_iter().enumerate().collect();
    let mut lines = Vec::new();
    if waiting.front().is_some_and(|(_, (key, ..))| *key == STEPS[0].0) {
        lines.extend(waiting.pop_front().map(|step| take(workspace, step, count)));
    }
    let (waiting, lines) = (Mutex::new(waiting), Mutex::new(lines));
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                let next = || locked(&waiting).pop_front();
                while let Some(step) = next() {
                    let line = take(workspace, step, count);
                    locked(&lines).push(line);
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    lines.sort_by_key(|line| line.index);
    println!("\n{heading}");
    lines.iter().for_each(|line| println!("  {line}"));
    let failed = lines.iter().filter(|line| line.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {count} steps failed; each says above why");
    }
    Ok(())
}

/// Runs a step, one of so many: its line of the summary.
fn take(workspace: &Workspace, (index, step): (usize, Step), count: usize) -> Line {
    let (_, name, step) = step;
    println!("\nnightly: {} of {count}: {name}", index + 1);
    let started = Instant::now();
    let result = step(workspace);
    let line = Line { index, name, took: started.elapsed(), result };
    println!("nightly: {line}");
    if let Err(error) = &line.result {
        eprintln!("nightly: {name}: {error:#}");
    }
    line
}

/// A step that panics takes the whole run with it.
fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A step in the summary.
struct Line {
    /// Its number.
    index: usize,
    name: &'static str,
    took: Duration,
    result: Result<Outcome>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, about) = match &self.result {
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
        let line = |result| {
            Line { index: 0, name: "x", took: Duration::from_secs(75), result }.to_string()
        };
        let passed = line(Ok(Outcome::Passed("7 cases".to_owned())));
        assert_eq!(passed, "x                          passed     1:15  7 cases");
        let failed = line(Err(anyhow::anyhow!("no")));
        assert_eq!(failed, "x                          FAILED     1:15");
        assert!(line(Ok(Outcome::Skipped("no QEMU".to_owned()))).contains("skipped    1:15  no"));
    }
}
