//! Where QEMU 7.2 is known to differ from POWER9, each with our reason.
//!
//! A difference that no entry explains fails the run; so does an entry that explains nothing any
//! more, in a run of the usual number of cases.

mod decimal;
mod fixed_point;
mod floating_point;
mod storage;
mod vector;
mod vector_decimal;
mod vector_scalar;

use arch::instruction::Mnemonic;

use crate::case::Case;
use crate::state::State;

/// A known disagreement.
#[derive(Clone, Copy, Debug)]
pub struct Disagreement {
    /// Which instructions.
    pub mnemonics: &'static [Mnemonic],
    /// Why both are as they are.
    pub reason: &'static str,
    /// Which cases.
    pub applies: fn(&Case) -> bool,
    /// What differs.
    pub difference: Difference,
}

/// What two sides that disagree do.
#[derive(Clone, Copy, Debug)]
pub enum Difference {
    /// Both complete; the function takes out of a final state what may differ.
    State(fn(&Case, &mut State)),
    /// The same, where QEMU makes host vectors of the instruction, which it does on some hosts only: it need not
    /// occur.
    StateOnSomeHosts(fn(&Case, &mut State)),
    /// The simulator takes an interrupt of which QEMU's user mode does not make the right signal.
    Interrupt,
    /// QEMU takes the instruction for an illegal one.
    Illegal,
}

impl Disagreement {
    /// Whether a case belongs here.
    #[must_use]
    pub fn covers(&self, case: &Case) -> bool {
        self.mnemonics.contains(&case.mnemonic) && (self.applies)(case)
    }

    /// From how many cases on the entry must explain something. Cases with a signal cost a process
    /// each, so there are few; but those all differ.
    #[must_use]
    pub fn enough(&self) -> usize {
        match self.difference {
            Difference::State(_) => 100,
            Difference::StateOnSomeHosts(_) => usize::MAX,
            Difference::Interrupt | Difference::Illegal => 1,
        }
    }
}

/// All known disagreements.
#[must_use]
pub fn all() -> Vec<&'static Disagreement> {
    [
        fixed_point::DISAGREEMENTS,
        floating_point::DISAGREEMENTS,
        decimal::DISAGREEMENTS,
        storage::DISAGREEMENTS,
        vector::DISAGREEMENTS,
        vector_decimal::DISAGREEMENTS,
        vector_scalar::DISAGREEMENTS,
    ]
    .into_iter()
    .flatten()
    .collect()
}
