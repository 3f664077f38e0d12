//! Known disagreements of the vector facility's decimal integers.

use arch::instruction::Mnemonic as M;

use super::{Difference, Disagreement};
use crate::state::State;

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: &[
            M::Bcdadd,
            M::Bcdsub,
            M::Bcdcpsgn,
            M::Bcdsetsgn,
            M::Bcdctsq,
            M::Bcdctz,
            M::Bcdctn,
            M::Bcdcfz,
            M::Bcdcfn,
        ],
        reason: "the result of an operand that is no number is undefined: VRT stays here, QEMU has ones, or \
                 what it makes of the operand",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            if field(state) == SO {
                state.set_vr(case.word().vrt(), 0);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdadd, M::Bcdsub],
        reason: "a sum that is zero is neither greater nor less than zero, and its sign is plus; QEMU sets GT or \
                 LT beside EQ, and of two negative zeros makes another",
        applies: |case| {
            let digits = |register: usize| case.start.vr(register) >> 4;
            digits(case.word().vra()) == digits(case.word().vrb())
        },
        difference: Difference::State(|case, state| {
            if field(state) & EQ != 0 {
                let target = case.word().vrt();
                state.set_vr(target, state.vr(target) & !0xF);
                forget(state, LT | GT);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdadd, M::Bcdsub],
        reason: "a digit that is none is invalid; QEMU takes operands of opposite sign for equal when it meets one \
                 before they differ",
        applies: |case| {
            let (a, b) = (case.start.vr(case.word().vra()), case.start.vr(case.word().vrb()));
            let digit = |value: u128, place: u32| value >> (4 * place) & 0xF;
            let decisive = |&place: &u32| {
                let (a, b) = (digit(a, place), digit(b, place));
                a != b || a > 9
            };
            let place = (1..32).rev().find(decisive);
            place.is_some_and(|place| digit(a, place) > 9 || digit(b, place) > 9)
        },
        difference: Difference::State(|case, state| {
            state.set_vr(case.word().vrt(), 0);
            forget(state, LT | GT | EQ | SO);
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdsr],
        reason: "32 places to the right leave nothing to round; QEMU shifts by 31 and rounds",
        applies: |case| (case.start.vr(case.word().vra()) >> 64) as i8 <= -32,
        difference: Difference::State(|case, state| {
            state.set_vr(case.word().vrt(), 0);
            forget(state, LT | GT | EQ);
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdctz, M::Bcdctn],
        reason: "QEMU does not look at digits beyond those that the result has",
        applies: |case| !is_packed(case.start.vr(case.word().vrb())),
        difference: Difference::State(|case, state| {
            state.set_vr(case.word().vrt(), 0);
            forget(state, LT | GT | EQ);
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdcfsq],
        reason: "a number of more than 31 digits is undefined: its last 31 here, QEMU leaves VRT",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            if field(state) & SO != 0 {
                state.set_vr(case.word().vrt(), 0);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Bcdus],
        reason: "CR6 says that an unsigned number is zero or greater; QEMU takes its last digit for a sign",
        applies: |_| true,
        difference: Difference::State(|_, state| forget(state, LT | GT | EQ)),
    },
    Disagreement {
        mnemonics: &[M::Bcdus],
        reason: "zero loses no digit by 32 places to the left; QEMU says that it does",
        applies: |case| {
            let places = (case.start.vr(case.word().vra()) >> 64) as i8;
            places >= 32 && case.start.vr(case.word().vrb()) == 0
        },
        difference: Difference::State(|_, state| forget(state, LT | GT | EQ | SO)),
    },
    Disagreement {
        mnemonics: &[M::Bcdcpsgn, M::Bcdctsq, M::Bcdsetsgn],
        reason: "operands are what they were before the result: QEMU overwrites VRB while it reads it",
        applies: |case| case.word().vrt() == case.word().vrb(),
        difference: Difference::State(|case, state| {
            state.set_vr(case.word().vrt(), 0);
            forget(state, LT | GT | EQ | SO);
        }),
    },
];

const LT: u64 = 8;
const GT: u64 = 4;
const EQ: u64 = 2;
const SO: u64 = 1;

/// CR6.
fn field(state: &State) -> u64 {
    state.cr >> 4 & 0xF
}

/// Takes bits out of CR6.
fn forget(state: &mut State, bits: u64) {
    state.cr &= !(bits << 4);
}

/// Whether all of a packed number are digits, and the last a sign.
fn is_packed(value: u128) -> bool {
    (1..32).all(|place| value >> (4 * place) & 0xF < 10) && value & 0xF >= 10
}
