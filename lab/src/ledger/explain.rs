//! A ledger, top-down: who, where, why.

use std::fmt::Write as _;

use super::inlined::short;
use super::{Charge, Ledger};
use crate::checks::FreeCause;

/// Lines below this share of the whole are summed up, as long as they are no more than [`MOST_HIDDEN`] of it.
const LEAST_SHARE: f64 = 0.005;
/// No more of the whole than one part in so many is summed up at any depth.
const MOST_HIDDEN: u64 = 10;
/// Where instructions would take more lines than this, a function's causes are shown instead, and where those would,
/// functions alone.
const MOST_LINES: usize = 500;
/// A figure of so many cycles has no decimals.
const LARGE: u64 = 1_000_000;

/// The ledger as text; figures are cycles divided by `per`, of which `unit` says what they are. A cause that was
/// `checked` has what making it free is worth beside it, as a ratio to what is said here.
#[must_use]
pub fn explain(ledger: &Ledger, per: u64, unit: &str, checked: &[FreeCause]) -> String {
    let whole = ledger.elapsed_thread_cycles;
    let per = per.max(1);
    let decimals = if whole / per < LARGE { 2 } else { 0 };
    let mut text = Text { out: String::new(), per: per as f64, decimals, whole };
    text.line(0, whole, &format!("cycles per {unit}"));
    text.tree(ledger);
    text.out.push_str("\nby cause\n");
    for (why, cycles) in ledger.sum_by(Charge::why) {
        let worth = checked.iter().find(|check| check.cause == why).map(FreeCause::ratio);
        let worth = worth.map(|ratio| format!("checked {ratio:.2}")).unwrap_or_default();
        text.line(1, cycles, format!("{why:<32} {worth}").trim_end());
    }
    text.out
}

/// The ledger as text, in cycles: who, and of each why.
#[must_use]
pub fn by_owner(ledger: &Ledger) -> String {
    let whole = ledger.elapsed_thread_cycles;
    let mut text = Text { out: String::new(), per: 1.0, decimals: 0, whole };
    text.line(0, whole, "thread-cycles");
    let key = |charge: &Charge| (charge.owner.clone(), charge.why());
    let least = text.least(&ledger.sum_by(key));
    for (owner, cycles) in ledger.sum_by(|charge| charge.owner.clone()) {
        text.line(1, cycles, &owner);
        let causes = part(ledger, |charge| charge.owner == owner).sum_by(Charge::why);
        text.lines(2, &causes, least, String::clone);
    }
    text.out
}

fn part(ledger: &Ledger, wanted: impl Fn(&Charge) -> bool) -> Ledger {
    let charges = ledger.charges.iter().filter(|charge| wanted(charge)).cloned().collect();
    Ledger { elapsed_thread_cycles: ledger.elapsed_thread_cycles, charges, called: Vec::new() }
}

/// What a line below a function sums by: offset, place, cause, and of which inlined functions.
type Key = (u64, String, String, String);
/// Of more functions that are inlined into each other only the innermost are shown.
const MOST_INLINED: usize = 3;

/// What the lines below a function are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Instructions,
    Causes,
    Nothing,
}

impl Below {
    fn key(self, charge: &Charge) -> Key {
        match self {
            Self::Instructions => (charge.offset, charge.place(), charge.why(), within(charge)),
            Self::Causes => (0, String::new(), charge.why(), String::new()),
            Self::Nothing => (0, String::new(), String::new(), String::new()),
        }
    }

    fn text(self, (_, place, why, within): &Key) -> String {
        match self {
            Self::Instructions if within.is_empty() => format!("{place:<32} {why}"),
            Self::Instructions => format!("{place:<32} {why:<24} {within}"),
            Self::Causes | Self::Nothing => why.clone(),
        }
    }

    /// What it sums by, for the whole ledger.
    fn sums(self, ledger: &Ledger) -> Vec<((String, String, Key), u64)> {
        ledger.sum_by(|charge| (charge.owner.clone(), charge.function.clone(), self.key(charge)))
    }
}

/// Of which inlined functions an instruction is.
fn within(charge: &Charge) -> String {
    let names = &charge.inlined[charge.inlined.len().saturating_sub(MOST_INLINED)..];
    names.iter().map(|name| short(name)).collect::<Vec<_>>().join(" > ")
}

struct Text {
    out: String,
    per: f64,
    decimals: usize,
    whole: u64,
}

impl Text {
    /// Who, where and why: as deep as it can be in [`MOST_LINES`].
    fn tree(&mut self, ledger: &Ledger) {
        let deepest = |below: &Below| {
            let sums = below.sums(ledger);
            let least = self.least(&sums);
            let lines = sums.iter().filter(|(_, cycles)| *cycles >= least).count();
            (lines <= MOST_LINES || *below == Below::Nothing).then_some((*below, least))
        };
        let depths = [Below::Instructions, Below::Causes, Below::Nothing];
        let (below, least_line) = depths.iter().find_map(deepest).unwrap_or((Below::Nothing, 0));
        let owners = ledger.sum_by(|charge| charge.owner.clone());
        let functions = ledger.sum_by(|charge| (charge.owner.clone(), charge.function.clone()));
        let [least_owner, least_function] = [self.least(&owners), self.least(&functions)];
        let (shown, rest): (Vec<_>, Vec<_>) =
            owners.into_iter().partition(|(_, cycles)| *cycles >= least_owner);
        for (owner, cycles) in shown {
            self.line(1, cycles, &owner);
            let of_owner = part(ledger, |charge| charge.owner == owner);
            let functions = of_owner.sum_by(|charge| charge.function.clone());
            let (shown, rest): (Vec<_>, Vec<_>) =
                functions.into_iter().partition(|(_, cycles)| *cycles >= least_function);
            for (function, cycles) in shown {
                self.line(2, cycles, &function);
                if below != Below::Nothing {
                    let lines = part(&of_owner, |charge| charge.function == function)
                        .sum_by(|charge| below.key(charge));
                    self.lines(3, &lines, least_line, |key| below.text(key));
                }
            }
            self.rest(2, &rest, least_function);
        }
        self.rest(1, &rest, least_owner);
        if below != Below::Instructions {
            let text = "\n(too many instructions for a text; --out and JSON have each)\n";
            self.out.push_str(text);
        }
    }

    /// Of lines in falling order the cycles of the least that is shown.
    fn least<K>(&self, lines: &[(K, u64)]) -> u64 {
        let mut least = (self.whole as f64 * LEAST_SHARE).ceil() as u64;
        let mut hidden = self.whole;
        for (_, cycles) in lines {
            if *cycles < least && hidden <= self.whole / MOST_HIDDEN {
                break;
            }
            least = least.min(*cycles);
            hidden = hidden.saturating_sub(*cycles);
        }
        least
    }

    /// A line for each from `least` cycles on, and one for the others.
    fn lines<K>(
        &mut self,
        depth: usize,
        all: &[(K, u64)],
        least: u64,
        text: impl Fn(&K) -> String,
    ) {
        let is_shown = |line: &&(K, u64)| line.1 >= least;
        for (key, cycles) in all.iter().filter(is_shown) {
            self.line(depth, *cycles, &text(key));
        }
        let shown = all.iter().filter(is_shown).count();
        self.rest(depth, &all[shown..], least);
    }

    fn line(&mut self, depth: usize, cycles: u64, what: &str) {
        let share = cycles as f64 / self.whole.max(1) as f64 * 100.0;
        let (figure, decimals) = (cycles as f64 / self.per, self.decimals);
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{figure:>10.decimals$} {share:>6.1} %  {indent}{what}");
    }

    /// One line for those below `least` cycles.
    fn rest<K>(&mut self, depth: usize, rest: &[(K, u64)], least: u64) {
        let (count, cycles) = (rest.len(), rest.iter().map(|(_, cycles)| cycles).sum());
        if count > 0 {
            let share = least as f64 / self.whole.max(1) as f64;
            let share = if share * 1.01 >= LEAST_SHARE {
                "0.5".to_owned()
            } else {
                format!("{:.2}", share * 100.0)
            };
            self.line(depth, cycles, &format!("{count} more, each below {share} %"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FreeCause, by_owner, explain};
    use crate::ledger::examples::ledger;

    #[test]
    fn every_cycle_is_on_a_line_of_each_depth() {
        let ledger = ledger(&[
            ("hypervisor", "exit", 4, "spr.scoreboard", false, 600),
            ("hypervisor", "exit", 8, "load.l2", true, 396),
            ("partition a", "main", 0, "dispatch.width", false, 4),
        ]);
        let checked = [FreeCause { cause: "spr.scoreboard", ledger_cycles: 600, run_cycles: 450 }];
        let text = explain(&ledger, 10, "hypercall", &checked);
        assert_eq!(
            text,
            "    100.00  100.0 %  cycles per hypercall\n     \
             99.60   99.6 %    hypervisor\n     \
             99.60   99.6 %      exit\n     \
             60.00   60.0 %        +0x4 mfspr r3,lpcr               spr.scoreboard\n     \
             39.60   39.6 %        +0x8 mfspr r3,lpcr               load.l2 (indirect)\n      \
             0.40    0.4 %    1 more, each below 0.5 %\n\
             \nby cause\n     \
             60.00   60.0 %    spr.scoreboard                   checked 0.75\n     \
             39.60   39.6 %    load.l2 (indirect)\n      \
             0.40    0.4 %    dispatch.width\n"
        );
    }

    #[test]
    fn the_innermost_of_what_is_inlined_is_behind_an_instruction() {
        let mut ledger = ledger(&[("hypervisor", "run", 4, "reservation", false, 10)]);
        let inlined = ["<R>::step", "<R>::ticks", "<L<S>>::lock", "fetch_add::<u64>"];
        ledger.charges[0].inlined = inlined.map(str::to_owned).into();
        let text = explain(&ledger, 1, "switch", &[]);
        let expected =
            "+0x4 mfspr r3,lpcr               reservation              ticks > lock > fetch_add\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn every_owner_is_shown_with_what_it_waited_for() {
        let ledger = ledger(&[
            ("hypervisor", "exit", 4, "spr.scoreboard", false, 600),
            ("hypervisor", "entry", 8, "spr.scoreboard", false, 396),
            ("partition a", "main", 0, "dispatch.width", false, 4),
        ]);
        assert_eq!(
            by_owner(&ledger),
            "      1000  100.0 %  thread-cycles\n       \
             996   99.6 %    hypervisor\n       \
             996   99.6 %      spr.scoreboard\n         \
             4    0.4 %    partition a\n         \
             4    0.4 %      1 more, each below 0.5 %\n"
        );
    }

    /// Of 1000 cycles in lines of one cycle each a tenth may be summed up, and no more.
    #[test]
    fn no_more_than_a_tenth_is_summed_up() {
        let one = |offset| ("kernel", "f", offset, "load.l1", false, 1);
        let lines: Vec<_> = (0..450)
            .map(|offset| one(4 * offset))
            .chain([("kernel", "g", 0, "load.l1", false, 550)])
            .collect();
        let text = explain(&ledger(&lines), 1, "call", &[]);
        let shown = text.lines().filter(|line| line.contains("        +0x")).count();
        assert_eq!(shown, 451, "all lines are equal: {text}");
        let lines: Vec<_> = (0..450)
            .map(|offset| ("kernel", "f", 4 * offset, "load.l1", false, 450 - offset))
            .collect();
        let text = explain(&ledger(&lines), 1, "call", &[]);
        assert!(!text.contains(" more, each below 0.5 %"), "{text}");
        let hidden = text.lines().find(|line| line.contains(" more, each below")).unwrap();
        let share: f64 = hidden.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(share <= 10.0, "{text}");
    }

    /// What has more lines than a person reads is shown by function and cause, then by function.
    #[test]
    fn a_large_ledger_is_shown_less_deep() {
        let of = |functions: u64, instructions: u64| {
            let names: Vec<String> = (0..functions).map(|number| format!("f{number}")).collect();
            let line = |name, offset| ("kernel", name, offset, "load.l1", false, 1);
            let lines: Vec<_> = names
                .iter()
                .flat_map(|name| {
                    (0..instructions).map(move |offset| line(name.as_str(), 4 * offset))
                })
                .collect();
            explain(&ledger(&lines), 1, "boot", &[])
        };
        assert!(of(2, 100).contains("+0x4 "));
        let less = of(2, 400);
        assert!(!less.contains("+0x4 ") && less.contains("        load.l1"), "{less}");
        assert!(less.contains("--out and JSON have each"), "{less}");
        let least = of(600, 1);
        assert!(least.contains("f7") && !least.contains("        load.l1"), "{least}");
    }

    #[test]
    fn an_empty_ledger_has_no_cycles() {
        assert!(explain(&ledger(&[]), 0, "hypercall", &[]).starts_with("      0.00"));
    }
}
