//! Two ledgers, and what became dearer or cheaper from one to the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Charge, Ledger, place_of, why};

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

/// What a line is about: a cause, and as much of where it arose as lines are compared by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct What {
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    cause: String,
    indirect: bool,
}

impl What {
    fn new(charge: &Charge, by: By) -> Self {
        let has_function = by != By::Cause;
        let has_instruction = by == By::Instruction;
        Self {
            owner: has_function.then(|| charge.owner.clone()),
            function: has_function.then(|| charge.function.clone()),
            offset: has_instruction.then_some(charge.offset),
            instruction: has_instruction.then(|| charge.instruction.clone()),
            cause: charge.cause.clone(),
            indirect: charge.indirect,
        }
    }

    fn text(&self) -> String {
        let place = self.offset.zip(self.instruction.as_ref());
        let place = place.map(|(offset, instruction)| place_of(offset, instruction));
        let parts = [self.owner.clone(), self.function.clone(), place];
        let why = why(&self.cause, self.indirect);
        parts.into_iter().flatten().chain([why]).collect::<Vec<_>>().join("  ")
    }
}

/// One line: what, before and after, in parts of a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    what: What,
    before: i128,
    after: i128,
}

impl Line {
    const fn change(&self) -> i128 {
        self.after - self.before
    }
}

/// What became dearer or cheaper from one ledger to another, largest change first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    lines: Vec<Line>,
    /// All that passed, in parts of a cycle too.
    before: i128,
    after: i128,
    /// Parts of a cycle, so many that each side's divisor needs no fraction.
    parts: i128,
}

impl Difference {
    /// Compares two ledgers.
    #[must_use]
    pub fn new(
        (before, calls_before): Divided<'_>,
        (after, calls_after): Divided<'_>,
        by: By,
    ) -> Self {
        let mut sums: BTreeMap<What, (u64, u64)> = BTreeMap::new();
        for charge in &before.charges {
            sums.entry(What::new(charge, by)).or_default().0 += charge.cycles;
        }
        for charge in &after.charges {
            sums.entry(What::new(charge, by)).or_default().1 += charge.cycles;
        }
        let scaled = |cycles: u64, by: u64| i128::from(cycles) * i128::from(by);
        let lines = sums.into_iter().map(|(what, (before, after))| Line {
            what,
            before: scaled(before, calls_after),
            after: scaled(after, calls_before),
        });
        let mut lines: Vec<Line> = lines.filter(|line| line.before != line.after).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.change().unsigned_abs()));
        Self {
            lines,
            before: scaled(before.elapsed_thread_cycles, calls_after),
            after: scaled(after.elapsed_thread_cycles, calls_before),
            parts: scaled(calls_before, calls_after),
        }
    }

    /// The lines with their sum, which is the change of the whole; rounded where the cycles are divided.
    #[must_use]
    pub fn text(&self) -> String {
        let shown = |count: i128| match self.parts {
            1 => count.to_string(),
            parts => format!("{:.2}", count as f64 / parts as f64),
        };
        let signed = |count: i128| match self.parts {
            1 => format!("{count:+}"),
            parts => format!("{:+.2}", count as f64 / parts as f64),
        };
        let mut out = format!("{:>14} {:>14} {:>14}\n", "change", "before", "after");
        for line in &self.lines {
            let _ = writeln!(
                out,
                "{:>14} {:>14} {:>14}  {}",
                signed(line.change()),
                shown(line.before),
                shown(line.after),
                line.what.text()
            );
        }
        let change = self.after - self.before;
        let percent = change as f64 / self.before.max(1) as f64 * 100.0;
        let (change, from, to) = (signed(change), shown(self.before), shown(self.after));
        let _ = writeln!(out, "{change:>14} {from:>14} {to:>14}  in all, {percent:+.2} %");
        out
    }

    fn row<'a>(&self, what: Option<&'a What>, before: i128, after: i128) -> Row<'a> {
        let number = |count: i128| match self.parts {
            1 => i64::try_from(count).map_or_else(|_| json!(count as f64), |count| json!(count)),
            parts => json!(count as f64 / parts as f64),
        };
        let change = number(after - before);
        Row { what, before: number(before), after: number(after), change }
    }
}

/// A line as programs read it: whole cycles where they are not divided.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    what: Option<&'a What>,
    before: Value,
    after: Value,
    change: Value,
}

impl Serialize for Difference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows =
            self.lines.iter().map(|line| self.row(Some(&line.what), line.before, line.after));
        let mut difference = serializer.serialize_struct("Difference", 2)?;
        difference.serialize_field("all", &self.row(None, self.before, self.after))?;
        difference.serialize_field("lines", &rows.collect::<Vec<_>>())?;
        difference.end()
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Difference};
    use crate::ledger::examples::ledger;
    use serde_json::json;

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
        let compared = |by| Difference::new((&before, 1), (&after, 1), by);
        let changes = |by| compared(by).lines.iter().map(super::Line::change).collect::<Vec<_>>();
        assert_eq!(changes(By::Function), [-400, 15, -5]);
        assert_eq!(changes(By::Cause).len(), 2);
        assert_eq!(changes(By::Instruction).len(), 5);
        // In calls of which there are ten before and five after, as much is dearer as is cheaper.
        let difference = Difference::new((&before, 10), (&after, 5), By::Cause);
        let json = serde_json::to_value(&difference).unwrap();
        assert_eq!(json["all"], json!({ "before": 70.5, "after": 63.0, "change": -7.5 }));
        let divided = difference.text();
        assert!(divided.contains("        -20.00          60.00          40.00  spr.scoreboard\n"));
        assert!(
            divided.ends_with("         -7.50          70.50          63.00  in all, -10.64 %\n")
        );
        let json = serde_json::to_value(compared(By::Function)).unwrap();
        let first = json!({
            "owner": "hypervisor", "function": "exit", "cause": "spr.scoreboard", "indirect": false,
            "before": 600, "after": 200, "change": -400,
        });
        assert_eq!(json["lines"][0], first);
        let text = compared(By::Function).text();
        assert!(
            text.ends_with("          -390            705            315  in all, -55.32 %\n"),
            "{text}"
        );
        assert!(text.contains("hypervisor  exit  spr.scoreboard"), "{text}");
    }

    #[test]
    fn equal_ledgers_have_no_lines() {
        let ledger = ledger(&[("hypervisor", "exit", 4, "load.l1", false, 600)]);
        assert!(Difference::new((&ledger, 1), (&ledger, 1), By::Instruction).lines.is_empty());
    }
}
