//! Why lines of a ledger cannot go: what an experiment says of a variant's, printed beside them by `--explain`.
//!
//! A line is a function, or a function and a cause, of at least [`LEAST_PERCENT`] of the whole.

use std::fmt::Write as _;

use crate::ledger::{Charge, Ledger};

/// Lines of less than so much of the whole, in percent, need no reason.
pub const LEAST_PERCENT: u64 = 3;

/// Why lines cannot go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// Of which variant's ledger.
    pub variant: String,
    /// The last words of the functions' names.
    pub functions: Vec<String>,
    /// The cause, if it is not the functions' as a whole.
    pub cause: Option<String>,
    /// Why.
    pub why: String,
}

impl Reason {
    fn is_of(&self, line: &Line) -> bool {
        let is_function = |name: &String| {
            line.function
                .strip_suffix(name.as_str())
                .is_some_and(|path| path.is_empty() || path.ends_with("::") || path.ends_with(' '))
        };
        self.cause == line.cause && self.functions.iter().any(is_function)
    }
}

/// A line of a ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    function: String,
    cause: Option<String>,
    cycles: u64,
}

impl Line {
    fn name(&self) -> String {
        match &self.cause {
            None => self.function.clone(),
            Some(cause) => format!("{}, {cause}", self.function),
        }
    }
}

/// The lines that need a reason: each function behind its causes.
fn lines(ledger: &Ledger) -> Vec<Line> {
    let is_large =
        |cycles: u64| cycles * 100 >= ledger.elapsed_thread_cycles * LEAST_PERCENT && cycles > 0;
    let causes = ledger.sum_by(|charge| (charge.function.clone(), charge.why()));
    let functions = ledger.sum_by(|charge: &Charge| charge.function.clone());
    let mut lines = Vec::new();
    for (function, cycles) in functions.into_iter().filter(|(_, cycles)| is_large(*cycles)) {
        let own = causes.iter().filter(|((of, _), cycles)| *of == function && is_large(*cycles));
        lines.extend(own.map(|((function, cause), cycles)| Line {
            function: function.clone(),
            cause: Some(cause.clone()),
            cycles: *cycles,
        }));
        lines.push(Line { function, cause: None, cycles });
    }
    lines
}

fn of<'a>(reasons: &'a [Reason], variant: &'a str) -> impl Iterator<Item = &'a Reason> + Clone {
    reasons.iter().filter(move |reason| reason.variant == variant)
}

/// The lines of a variant's ledger that have no reason; none if no line of the variant's has one.
#[must_use]
pub fn without(reasons: &[Reason], variant: &str, ledger: &Ledger) -> Vec<String> {
    let mut own = of(reasons, variant).peekable();
    if own.peek().is_none() {
        return Vec::new();
    }
    let has_none = |line: &Line| !own.clone().any(|reason| reason.is_of(line));
    lines(ledger).into_iter().filter(has_none).map(|line| line.name()).collect()
}

/// The lines of a variant's ledger with their reasons, in cycles divided by `per`; nothing if no line of the variant's
/// has one.
#[must_use]
pub fn text(reasons: &[Reason], variant: &str, ledger: &Ledger, per: u64) -> String {
    let mut text = String::new();
    if of(reasons, variant).next().is_none() {
        return text;
    }
    let _ = writeln!(text, "\nwhy the lines from {LEAST_PERCENT} % on cannot go");
    for line in lines(ledger) {
        let why = of(reasons, variant).find(|reason| reason.is_of(&line));
        let why = why.map_or("no reason is given", |reason| &reason.why);
        let cycles = line.cycles as f64 / per.max(1) as f64;
        let share = line.cycles as f64 * 100.0 / ledger.elapsed_thread_cycles.max(1) as f64;
        let _ = writeln!(text, "{cycles:>10.2} {share:>6.1} %  {}: {why}", line.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Reason, text, without};
    use crate::ledger::Ledger;
    use crate::ledger::examples::ledger;

    fn reason(function: &str, cause: Option<&str>) -> Reason {
        Reason {
            variant: "full".to_owned(),
            functions: vec!["nothing".to_owned(), function.to_owned()],
            cause: cause.map(str::to_owned),
            why: "it is due".to_owned(),
        }
    }

    fn example() -> Ledger {
        ledger(&[
            ("hypervisor", "hal::exit", 0, "flush.interrupt", false, 500),
            ("hypervisor", "hal::exit", 4, "load.l1", false, 20),
            ("hypervisor", "hal::exit", 8, "load.l1", false, 20),
            ("hypervisor", "<core::Queue>::stay", 0, "dispatch.width", false, 431),
            ("partition a", "main", 0, "dispatch.width", false, 29),
        ])
    }

    #[test]
    fn a_line_of_three_percent_without_a_reason_is_named_and_a_smaller_one_is_not() {
        let mut reasons = vec![reason("exit", Some("flush.interrupt"))];
        let stay = ["<core::Queue>::stay, dispatch.width", "<core::Queue>::stay"];
        let load = "hal::exit, load.l1";
        let found = without(&reasons, "full", &example());
        assert_eq!(found, [load, "hal::exit", stay[0], stay[1]]);
        reasons.extend([reason("exit", None), reason("stay", None)]);
        assert_eq!(without(&reasons, "full", &example()), [load, stay[0]]);
        assert_eq!(without(&reasons, "other", &example()), [""; 0], "nobody gives it reasons");
        // A part of a word is no name.
        assert!(without(&[reason("it", None)], "full", &example()).contains(&stay[1].to_owned()));
    }

    #[test]
    fn each_line_is_printed_with_its_reason_or_without() {
        let reasons = [reason("exit", Some("flush.interrupt")), reason("exit", None)];
        let printed = text(&reasons, "full", &example(), 10);
        assert_eq!(
            printed,
            "\nwhy the lines from 3 % on cannot go\n     \
             50.00   50.0 %  hal::exit, flush.interrupt: it is due\n      \
             4.00    4.0 %  hal::exit, load.l1: no reason is given\n     \
             54.00   54.0 %  hal::exit: it is due\n     \
             43.10   43.1 %  <core::Queue>::stay, dispatch.width: no reason is given\n     \
             43.10   43.1 %  <core::Queue>::stay: no reason is given\n"
        );
        assert_eq!(text(&reasons, "other", &example(), 10), "");
    }
}
