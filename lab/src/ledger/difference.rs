//! Two ledgers, and what became dearer or cheaper from one to the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Charge, Ledger};

/// A ledger, and what its cycles are divided by: 1 for thread-cycles.
pub type Divided<'a> = (&'a Ledger, u64);

/// What lines are compared by. Offsets of instructions move when code changes, so by default they do
/// not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum By {
    /// By cause alone.
    Cause,
    /// By owner, function and cause.
    #[default]
    Function,
    /// By owner, function, instruction and cause.
    Instruction,
}

impl By {
    fn key(self, charge: &Charge) -> Vec<String> {
        match self {
            Self::Cause => vec![charge.why()],
            Self::Function => vec![charge.owner.clone(), charge.function.clone(), charge.why()],
            Self::Instruction => {
                vec![charge.owner.clone(), charge.function.clone(), charge.place(), charge.why()]
            }
        }
    }
}

/// One line: what, before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    what: Vec<String>,
    /// In parts of a cycle, as many in each as the divisors make when multiplied.
    before: i128,
    after: i128,
}

impl Line {
    fn change(&self) -> i128 {
        self.after - self.before
    }
}

/// Every line that changed, largest change first, in parts of a cycle: see [`Line`].
#[must_use]
pub fn compare(
    (before, calls_before): Divided<'_>,
    (after, calls_after): Divided<'_>,
    by: By,
) -> Vec<Line> {
    let mut sums: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    for charge in &before.charges {
        sums.entry(by.key(charge)).or_default().0 += charge.cycles;
    }
    for charge in &after.charges {
        sums.entry(by.key(charge)).or_default().1 += charge.cycles;
    }
    let scaled = |cycles: u64, by: u64| i128::from(cycles) * i128::from(by);
    let lines = sums.into_iter().map(|(what, (before, after))| Line {
        what,
        before: scaled(before, calls_after),
        after: scaled(after, calls_before),
    });
    let mut lines: Vec<Line> = lines.filter(|line| line.before != line.after).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.change().unsigned_abs()));
    lines
}

/// The lines as text, with their sum, which is the change of the whole; rounded where the cycles are divided.
#[must_use]
pub fn text(before: Divided<'_>, after: Divided<'_>, by: By) -> String {
    let lines = compare(before, after, by);
    let parts = i128::from(before.1) * i128::from(after.1);
    let shown = |count: i128| match parts {
        1 => count.to_string(),
        _ => format!("{:.2}", count as f64 / parts as f64),
    };
    let signed = |count: i128| match parts {
        1 => format!("{count:+}"),
        _ => format!("{:+.2}", count as f64 / parts as f64),
    };
    let mut out = format!("{:>14} {:>14} {:>14}\n", "change", "before", "after");
    for line in &lines {
        let _ = writeln!(
            out,
            "{:>14} {:>14} {:>14}  {}",
            signed(line.change()),
            shown(line.before),
            shown(line.after),
            line.what.join("  ")
        );
    }
    let whole =
        |ledger: &Ledger, by: u64| i128::from(ledger.elapsed_thread_cycles) * i128::from(by);
    let (from, to) = (whole(before.0, after.1), whole(after.0, before.1));
    let sum: i128 = lines.iter().map(Line::change).sum();
    let percent = sum as f64 / from.max(1) as f64 * 100.0;
    let (sum, from, to) = (signed(sum), shown(from), shown(to));
    let _ = writeln!(out, "{sum:>14} {from:>14} {to:>14}  in all, {percent:+.2} %");
    out
}

#[cfg(test)]
mod tests {
    use super::{By, compare, text};
    use crate::ledger::examples::ledger;

    #[test]
    fn the_largest_change_comes_first_and_the_sum_is_that_of_the_whole() {
        let before = ledger(&[
            ("hypervisor", "exit", 4, "spr.scoreboard", false, 600),
            ("hypervisor", "exit", 8, "load.l1", false, 100),
            ("hypervisor", "gone", 0, "load.l1", false, 5),
        ]);
        let after = ledger(&[
            ("hypervisor", "exit", 4, "spr.scoreboard", false, 200),
            ("hypervisor", "exit", 16, "load.l1", false, 100),
            ("hypervisor", "new", 0, "load.l1", false, 15),
        ]);
        let changes: Vec<i128> = compare((&before, 1), (&after, 1), By::Function)
            .iter()
            .map(super::Line::change)
            .collect();
        assert_eq!(changes, [-400, 15, -5]);
        assert_eq!(compare((&before, 1), (&after, 1), By::Cause).len(), 2);
        assert_eq!(compare((&before, 1), (&after, 1), By::Instruction).len(), 5);
        // In calls of which there are ten before and five after, as much is dearer as is cheaper.
        let divided = text((&before, 10), (&after, 5), By::Cause);
        assert!(divided.contains("        -20.00          60.00          40.00  spr.scoreboard\n"));
        assert!(
            divided.ends_with("         -7.50          70.50          63.00  in all, -10.64 %\n")
        );
        let text = text((&before, 1), (&after, 1), By::Function);
        assert!(
            text.ends_with("          -390            705            315  in all, -55.32 %\n"),
            "{text}"
        );
        assert!(text.contains("hypervisor  exit  spr.scoreboard"), "{text}");
    }

    #[test]
    fn equal_ledgers_have_no_lines() {
        let ledger = ledger(&[("hypervisor", "exit", 4, "load.l1", false, 600)]);
        assert!(compare((&ledger, 1), (&ledger, 1), By::Instruction).is_empty());
    }
}
