//! Conformance rules: one small bare-metal program for each rule of the architecture.
//!
//! A folder of an area in `rules/` has the program and `test.toml`, which says what the program shows, on which
//! machine, and whether QEMU can judge it. A program prints `PASS`, or `FAIL` with the check that failed;
//! some instead make the machine stop with a report. Each runs on a fresh machine.
//!
//! | module | what it is |
//! |---|---|
//! | [`rule`] | a folder, read and checked |
//! | [`assemble`] | from the program to a flat image |
//! | [`simulator`] | what our machine says |
//! | [`qemu`] | what QEMU says |

pub mod assemble;
pub mod qemu;
pub mod rule;
pub mod simulator;

/// What a machine made of a rule's program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// What it wrote to the console; under QEMU behind the firmware's log.
    pub console: String,
    /// The report, if it stopped instead of switching off.
    pub report: Option<String>,
    /// Where pages of two sizes were at one address of the hashed page table and the TLBs; `None` from QEMU,
    /// which nobody watches.
    pub two_sizes: Option<Vec<String>>,
}

impl Verdict {
    /// What is wrong with it for `rule`, if anything.
    #[must_use]
    pub fn complaint(&self, rule: &rule::Rule) -> Option<String> {
        let Self { console, report, two_sizes } = self;
        if let Some(two_sizes) = two_sizes
            && two_sizes.is_empty() == rule.file.two_sizes
        {
            return Some(format!(
                "two sizes at one address, wanted {}: {two_sizes:?}",
                rule.file.two_sizes
            ));
        }
        match (&rule.file.stops, report) {
            (Some(expected), Some(report)) if report.contains(expected) => None,
            (Some(expected), _) => {
                Some(format!("expected a stop with {expected:?}; console {console:?}, {report:?}"))
            }
            (None, Some(report)) => Some(format!("console {console:?}\n{report}")),
            (None, None) if console.lines().any(|line| line == "PASS") => None,
            (None, None) => {
                let line = console.lines().find(|line| line.starts_with("FAIL"));
                Some(line.unwrap_or("neither PASS nor FAIL on the console").to_owned())
            }
        }
    }
}

/// How our machine stands to a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It follows the rule.
    Follows,
    /// It does not, as the rule's file says; the text says why, and what was seen.
    KnownFailure(String),
    /// It does not, or it follows a rule whose file says that it does not; the text says what is wrong.
    Wrong(String),
}

impl Standing {
    /// What a verdict of our machine means for `rule`.
    #[must_use]
    pub fn of(rule: &rule::Rule, verdict: &Verdict) -> Self {
        let name = &rule.name;
        match (verdict.complaint(rule), &rule.file.known_failure) {
            (None, None) => Self::Follows,
            (Some(complaint), None) => Self::Wrong(format!("{name}: {complaint}")),
            (Some(complaint), Some(reason)) => {
                Self::KnownFailure(format!("{name}: {reason}: {complaint}"))
            }
            (None, Some(_)) => {
                Self::Wrong(format!("{name}: it passes; take known_failure out of its test.toml"))
            }
        }
    }
}
