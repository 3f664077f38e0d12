//! A ledger, top-down: who, where, why.

use std::fmt::Write as _;

use super::Ledger;
use crate::checks::FreeCause;

/// Lines below this share of the whole are summed up.
const LEAST_SHARE: f64 = 0.005;

/// The ledger as text; figures are cycles divided by `per`, of which `unit` says what they are. A cause that was
/// `checked` has what making it free is worth beside it, as a ratio to what is said here.
#[must_use]
pub fn explain(ledger: &Ledger, per: u64, unit: &str, checked: &[FreeCause]) -> String {
    let whole = ledger.elapsed_thread_cycles;
    let mut text = Text { out: String::new(), per: per.max(1) as f64, decimals: 2, whole };
    text.line(0, ledger.elapsed_thread_cycles, &format!("cycles per {unit}"));
    for (owner, cycles) in ledger.sum_by(|charge| charge.owner.clone()) {
        if !text.is_worth(cycles) {
            continue;
        }
        text.line(1, cycles, &owner);
        let of_owner = part(ledger, |charge| charge.owner == owner);
        for (function, cycles) in of_owner.sum_by(|charge| charge.function.clone()) {
            if !text.is_worth(cycles) {
                continue;
            }
            text.line(2, cycles, &function);
            let lines = part(&of_owner, |charge| charge.function == function)
                .sum_by(|charge| (charge.offset, charge.place(), charge.why()));
            let (shown, rest): (Vec<_>, Vec<_>) =
                lines.into_iter().partition(|(_, cycles)| text.is_worth(*cycles));
            for ((_, place, why), cycles) in shown {
                text.line(3, cycles, &format!("{place:<32} {why}"));
            }
            text.rest(3, rest.iter().map(|(_, cycles)| *cycles));
        }
        let functions = of_owner.sum_by(|charge| charge.function.clone());
        let rest =
            functions.iter().map(|(_, cycles)| *cycles).filter(|cycles| !text.is_worth(*cycles));
        text.rest(2, rest.collect::<Vec<_>>().into_iter());
    }
    let owners = ledger.sum_by(|charge| charge.owner.clone());
    let rest = owners.iter().map(|(_, cycles)| *cycles).filter(|cycles| !text.is_worth(*cycles));
    text.rest(1, rest.collect::<Vec<_>>().into_iter());
    text.out.push_str("\nby cause\n");
    for (why, cycles) in ledger.sum_by(super::Charge::why) {
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
    for (owner, cycles) in ledger.sum_by(|charge| charge.owner.clone()) {
        text.line(1, cycles, &owner);
        let causes = part(ledger, |charge| charge.owner == owner).sum_by(super::Charge::why);
        let (shown, rest): (Vec<_>, Vec<_>) =
            causes.into_iter().partition(|(_, cycles)| text.is_worth(*cycles));
        for (why, cycles) in shown {
            text.line(2, cycles, &why);
        }
        text.rest(2, rest.iter().map(|(_, cycles)| *cycles));
    }
    text.out
}

fn part(ledger: &Ledger, wanted: impl Fn(&super::Charge) -> bool) -> Ledger {
    let charges = ledger.charges.iter().filter(|charge| wanted(charge)).cloned().collect();
    Ledger { elapsed_thread_cycles: ledger.elapsed_thread_cycles, charges }
}

struct Text {
    out: String,
    per: f64,
    decimals: usize,
    whole: u64,
}

impl Text {
    fn share(&self, cycles: u64) -> f64 {
        cycles as f64 / self.whole.max(1) as f64
    }

    fn is_worth(&self, cycles: u64) -> bool {
        self.share(cycles) >= LEAST_SHARE
    }

    fn line(&mut self, depth: usize, cycles: u64, what: &str) {
        let (figure, share) = (cycles as f64 / self.per, self.share(cycles) * 100.0);
        let decimals = self.decimals;
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{figure:>10.decimals$} {share:>6.1} %  {indent}{what}");
    }

    /// One line for those that were not worth one.
    fn rest(&mut self, depth: usize, cycles: impl ExactSizeIterator<Item = u64>) {
        let count = cycles.len();
        if count > 0 {
            self.line(depth, cycles.sum(), &format!("{count} more, each below 0.5 %"));
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

    #[test]
    fn an_empty_ledger_has_no_cycles() {
        assert!(explain(&ledger(&[]), 0, "hypercall", &[]).starts_with("      0.00"));
    }
}
