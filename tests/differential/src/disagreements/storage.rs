//! Known disagreements of storage accesses and cache instructions.

use arch::instruction::{Mnemonic, Word};

use super::{Difference, Disagreement};
use crate::case::Case;
use crate::layout::WINDOW;
use crate::state::State;

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: &[Mnemonic::Lq, Mnemonic::Stq],
        reason: "an operand that is not aligned gives an alignment interrupt on POWER9; QEMU's user \
                 mode makes two accesses of it",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: &[
            Mnemonic::Lmw,
            Mnemonic::Stmw,
            Mnemonic::Lswi,
            Mnemonic::Stswi,
            Mnemonic::Lswx,
            Mnemonic::Stswx,
        ],
        reason: "in little-endian mode they give an alignment interrupt, at which QEMU's user mode \
                 aborts",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: &[Mnemonic::Sthcx, Mnemonic::Stwcx, Mnemonic::Stdcx, Mnemonic::Stqcx],
        reason: "an operand that is not aligned gives an alignment interrupt; QEMU sees an address \
                 that is not the reserved one and does not store",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: &[Mnemonic::Stqcx],
        reason: "QEMU's lqarx does not note the reserved address, so its stqcx. never stores",
        applies: |case| case.words.len() == 2,
        difference: Difference::State(|_, state| {
            state.cr &= !0x2000_0000;
            state.window.fill(0);
        }),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Lwat, Mnemonic::Ldat],
        reason: "a bounded increment or decrement that does nothing delivers the most negative \
                 number of the operand's size; QEMU takes that of a word for both sizes, and \
                 extends its sign",
        applies: |case| matches!(case.word().fc(), 24 | 25 | 28),
        difference: Difference::State(|case, state| {
            let result = &mut state.gpr[case.word().rt()];
            if matches!(*result, 0x8000_0000 | 0x8000_0000_0000_0000 | 0xFFFF_FFFF_8000_0000) {
                *result = 0;
            }
        }),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Lwat, Mnemonic::Stwat],
        reason: "signed maximum and minimum of words: QEMU compares them without their signs",
        applies: |case| matches!(case.word().fc(), 5 | 7),
        difference: Difference::State(forget_word_at_base),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Lwat, Mnemonic::Ldat, Mnemonic::Stwat, Mnemonic::Stdat],
        reason: "two operands that do not lie in one block of 32 bytes give an alignment interrupt \
                 here; QEMU does not look",
        applies: |case| !is_base_unaligned(case),
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: &[Mnemonic::Dcbf],
        reason: "QEMU does not have L=3, which is dcbflp",
        applies: |case| case.word().l_dcbf() == 3,
        difference: Difference::Illegal,
    },
    Disagreement {
        mnemonics: &[Mnemonic::Icbt],
        reason: "QEMU has icbt on embedded processors only; ISA 2.07 gave it to all",
        applies: |_| true,
        difference: Difference::Illegal,
    },
];

/// (RA|0).
fn base(case: &Case) -> u64 {
    let word: Word = case.word();
    if word.ra() == 0 { 0 } else { case.start.gpr[word.ra()] }
}

fn is_base_unaligned(case: &Case) -> bool {
    let bytes = match case.mnemonic {
        Mnemonic::Lwat | Mnemonic::Stwat => 4,
        _ => 8,
    };
    !base(case).is_multiple_of(bytes)
}

/// Takes the word at (RA|0) out.
fn forget_word_at_base(case: &Case, state: &mut State) {
    let offset = (base(case) - WINDOW) as usize;
    state.window[offset..offset + 4].fill(0);
}
