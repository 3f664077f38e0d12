//! Known disagreements of vector-scalar instructions.

use arch::instruction::Mnemonic as M;

use super::{Difference, Disagreement};

pub(super) const DISAGREEMENTS: &[Disagreement] = &[Disagreement {
    mnemonics: &[M::Mtvsrd],
    reason: "doubleword 1 of the target is undefined: zero here, as with a load of an FPR; QEMU leaves it",
    applies: |_| true,
    difference: Difference::State(|case, state| state.vsr[case.word().xt()][1] = 0),
}];
