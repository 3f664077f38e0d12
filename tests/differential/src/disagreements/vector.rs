//! Known disagreements of vector instructions.

use arch::instruction::Mnemonic as M;
use arch::registers::vscr;

use super::{Difference, Disagreement};

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: &[M::Mtvscr],
        reason: "VSCR has NJ and SAT, and the rest is reserved; QEMU keeps 32 bits",
        applies: |_| true,
        difference: Difference::State(|_, state| state.vscr[1] &= u64::from(vscr::MASK)),
    },
    Disagreement {
        mnemonics: &[M::Dst, M::Dstt, M::Dstst, M::Dststt],
        reason: "the processor ignores the instruction and its operands; QEMU refuses RA=0, which was an invalid form \
                 when there were data streams",
        applies: |case| case.word().ra() == 0,
        difference: Difference::Illegal,
    },
];
