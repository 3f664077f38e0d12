//! Known disagreements of vector instructions.

use arch::instruction::Mnemonic as M;
use arch::registers::vscr;

use super::{Difference, Disagreement};
use crate::case::Case;
use crate::state::State;

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
    Disagreement {
        mnemonics: &[
            M::Vextractuh,
            M::Vextractuw,
            M::Vextractd,
            M::Vinserth,
            M::Vinsertw,
            M::Vinsertd,
        ],
        reason: "an element that reaches beyond the vector is undefined: here it goes on with byte 0, QEMU \
                 moves it back or inserts nothing",
        applies: |case| case.word().uim4() > 16 - element_bytes(case),
        difference: Difference::State(|case, state| state.set_vr(case.word().vrt(), 0)),
    },
    Disagreement {
        mnemonics: &[M::Vextuhlx, M::Vextuwlx, M::Vextuhrx, M::Vextuwrx],
        reason: "an element that reaches beyond the vector is undefined: here it goes on at the other end",
        applies: |case| {
            let first = case.start.gpr[case.word().ra()] & 0xF;
            first > u64::from(16 - element_bytes(case))
        },
        difference: Difference::State(|case, state| state.gpr[case.word().rt()] = 0),
    },
    Disagreement {
        mnemonics: &[M::Vrldmi],
        reason: "what the mask leaves out of the target stays; QEMU makes zeros of it",
        applies: |_| true,
        difference: Difference::StateOnSomeHosts(|case, state| {
            let controls = case.start.vsr[32 + case.word().vrb()];
            let target = &mut state.vsr[32 + case.word().vrt()];
            for (control, doubleword) in controls.into_iter().zip(target) {
                let (first, last) = (control >> 16 & 63, control >> 8 & 63);
                let is_inserted = |bit: u64| match first <= last {
                    true => (first..=last).contains(&bit),
                    false => bit >= first || bit <= last,
                };
                let inserted = (0..64).filter(|&bit| is_inserted(bit));
                *doubleword &= inserted.fold(0, |mask, bit| mask | 1 << (63 - bit));
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Vrefp, M::Vrsqrtefp, M::Vexptefp, M::Vlogefp],
        reason: "the value of an estimate is the processor's, within a bound that unit tests check; QEMU \
                 delivers the rounded true value, or something else of large powers",
        applies: |_| true,
        difference: Difference::State(forget_estimates),
    },
];

/// What a special operand gives is compared.
fn forget_estimates(case: &Case, state: &mut State) {
    let word = case.word();
    let (operands, mut results) = (case.start.vr(word.vrb()), state.vr(word.vrt()));
    for place in [0, 32, 64, 96] {
        let operand = f32::from_bits((operands >> place) as u32);
        if operand.is_finite() && operand != 0.0 {
            results &= !(0xFFFF_FFFF << place);
        }
    }
    state.set_vr(word.vrt(), results);
}

/// Bytes of the element that an extraction or insertion moves.
fn element_bytes(case: &Case) -> u32 {
    match case.mnemonic {
        M::Vextractuh | M::Vinserth | M::Vextuhlx | M::Vextuhrx => 2,
        M::Vextractd | M::Vinsertd => 8,
        _ => 4,
    }
}
