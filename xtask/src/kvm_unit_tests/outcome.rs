//! What a test's console says about it.

use std::fmt;

/// How a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// It says that it passed.
    Passed,
    /// It says that it failed: how.
    Failed(String),
    /// It says that it has nothing to test: why.
    Skipped(String),
    /// It did not come to its end: why.
    Stopped(String),
    /// It is not for this place: why.
    NotRun(&'static str),
}

impl Outcome {
    /// The word of the table.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed(_) => "FAIL",
            Self::Skipped(_) => "skip",
            Self::Stopped(_) => "STOPPED",
            Self::NotRun(_) => "-",
        }
    }

    /// Whether it can be no better.
    pub(super) fn is_bad(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Stopped(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => Ok(()),
            Self::Failed(why) | Self::Skipped(why) | Self::Stopped(why) => f.write_str(why),
            Self::NotRun(why) => f.write_str(why),
        }
    }
}

/// What the line before a test's last one begins with: `exit(code)` of theirs prints `(code << 1) | 1`.
const EXIT: &str = "EXIT: STATUS=";
const PASSED: u32 = 1;
const SKIPPED: u32 = 77 << 1 | 1;

/// Reads the console; `why` says how a run ended that has no such line.
pub(super) fn of_console(console: &str, why: &str) -> Outcome {
    let lines = || console.lines().map(str::trim_end);
    let begins = |word: &str| lines().filter(|line| line.starts_with(word)).count();
    let first = |word: &str| lines().find(|line| line.starts_with(word)).map(str::to_owned);
    let status = lines().rev().find_map(|line| line.strip_prefix(EXIT)?.parse::<u32>().ok());
    match status {
        Some(PASSED) => Outcome::Passed,
        Some(SKIPPED) => Outcome::Skipped(first("SKIP:").unwrap_or_default()),
        Some(status) => {
            let line = first("FAIL:").or_else(|| first("ABORT:"));
            let line = line.unwrap_or_else(|| format!("it exits with status {}", status >> 1));
            match begins("FAIL:") {
                0 | 1 => Outcome::Failed(line),
                more => Outcome::Failed(format!("{line}, and {} more", more - 1)),
            }
        }
        None => {
            // What the hypervisor, the machine or the test itself says of its end.
            let told = lines().find(|line| {
                line.contains(": stopped: ")
                    || line.starts_with("Unhandled")
                    || line.contains("machine stopped")
            });
            Outcome::Stopped(told.map_or_else(|| why.to_owned(), str::to_owned))
        }
    }
}
