//! What was found of each instruction, and the report of it all.

use arch::instruction::Mnemonic;

use crate::USUAL_CASES;
use crate::disagreements::{Difference, all};
use crate::report::{Mismatch, Report, Side, Tally};
use crate::simulator::signal;

/// How many mismatches of each instruction are kept for the report.
const KEPT: usize = 3;

/// What was found of one instruction.
pub(crate) struct Findings {
    pub(crate) tally: Tally,
    pub(crate) mismatches: Vec<Mismatch>,
    /// By entry of the list of disagreements: cases covered, cases explained.
    pub(crate) known: Vec<(usize, usize)>,
}

impl Findings {
    /// Nothing yet.
    pub(crate) fn of(mnemonic: Mnemonic) -> Self {
        let tally = Tally {
            mnemonic,
            compared: 0,
            signals: 0,
            known: 0,
            not_comparable: (0, None),
            is_not_modelled: false,
            mismatches: 0,
        };
        Self { tally, mismatches: Vec::new(), known: vec![(0, 0); all().len()] }
    }

    /// Counts a case, and keeps it if it is a mismatch that no known disagreement explains.
    pub(crate) fn judge(&mut self, candidate: Mismatch) {
        let Mismatch { case, ours, theirs, .. } = &candidate;
        match ours {
            Side::State(_) => self.tally.compared += 1,
            Side::Signal(_) => self.tally.signals += 1,
        }
        let mut is_explained = ours == theirs;
        for (index, known) in all().into_iter().enumerate().filter(|(_, k)| k.covers(case)) {
            let explains = match (known.difference, ours, theirs) {
                (
                    Difference::State(forget) | Difference::StateOnSomeHosts(forget),
                    Side::State(ours),
                    Side::State(theirs),
                ) => {
                    let (mut ours_left, mut theirs_left) = (ours.clone(), theirs.clone());
                    forget(case, &mut ours_left);
                    forget(case, &mut theirs_left);
                    ours != theirs && ours_left == theirs_left
                }
                (Difference::Interrupt, Side::Signal(_), _) => ours != theirs,
                (Difference::Illegal, Side::State(_), Side::Signal(signal::ILLEGAL)) => true,
                (Difference::Illegal, Side::State(_), _) => false,
                _ => continue,
            };
            self.known[index].0 += 1;
            if explains {
                self.known[index].1 += 1;
                self.tally.known += usize::from(!is_explained);
                is_explained = true;
            }
        }
        if !is_explained {
            self.tally.mismatches += 1;
            if self.mismatches.len() < KEPT {
                self.mismatches.push(candidate);
            }
        }
    }
}

/// Makes the report of a run with so many cases for each instruction.
pub(crate) fn collect(findings: Vec<Findings>, cases: usize) -> Report {
    let mut report = Report::default();
    for (index, entry) in all().into_iter().enumerate() {
        let sum = |part: fn(&(usize, usize)) -> usize| -> usize {
            findings.iter().map(|found| part(&found.known[index])).sum()
        };
        let (covered, explained) = (sum(|known| known.0), sum(|known| known.1));
        if explained > 0 {
            report.known.push((entry.reason, explained));
        } else if covered >= entry.enough() && cases >= USUAL_CASES {
            report.stale.push(entry.reason);
        } else if covered > 0 {
            report.unseen.push(entry.reason);
        }
    }
    for found in findings {
        report.tallies.push(found.tally);
        report.mismatches.extend(found.mismatches);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::{Findings, collect};
    use crate::USUAL_CASES;
    use crate::disagreements::{Difference, all};

    #[test]
    fn a_known_disagreement_that_does_not_occur_is_stale_only_if_there_were_cases_enough() {
        let is_state = |difference| matches!(difference, Difference::State(_));
        let entry = all().iter().position(|known| is_state(known.difference)).unwrap();
        let enough = all()[entry].enough();
        let report = |covered, explained, cases| {
            let mut findings = Findings::of(all()[entry].mnemonics[0]);
            findings.known[entry] = (covered, explained);
            let report = collect(vec![findings], cases);
            [report.known.len(), report.unseen.len(), report.stale.len()]
        };
        assert_eq!(report(enough, 0, USUAL_CASES), [0, 0, 1]);
        assert_eq!(report(enough, 0, USUAL_CASES - 1), [0, 1, 0]);
        assert_eq!(report(enough - 1, 0, USUAL_CASES), [0, 1, 0]);
        assert_eq!(report(enough, 1, USUAL_CASES), [1, 0, 0]);
        assert_eq!(report(0, 0, USUAL_CASES), [0, 0, 0]);
    }

    #[test]
    fn one_that_some_hosts_do_not_have_is_never_stale() {
        let is_of_some = |difference| matches!(difference, Difference::StateOnSomeHosts(_));
        let known = all();
        let some: Vec<_> =
            (0..).zip(&known).filter(|(_, known)| is_of_some(known.difference)).collect();
        assert!(!some.is_empty());
        for (entry, known) in some {
            let mut findings = Findings::of(known.mnemonics[0]);
            findings.known[entry] = (1_000_000, 0);
            assert!(collect(vec![findings], USUAL_CASES).stale.is_empty());
        }
    }
}
