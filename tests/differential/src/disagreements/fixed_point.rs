//! Known disagreements of branches and fixed-point instructions. Most are results that the architecture leaves
//! undefined; there the simulator follows Libre-SOC's pseudo-code. No POWER9 was asked.

use arch::instruction::Mnemonic;
use arch::registers::xer;

use super::{Difference, Disagreement};
use crate::case::Case;
use crate::state::State;

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: &[Mnemonic::Bcctr],
        reason: "what bcctr does with CTR where BO says to count is undefined, also in the form that empties the count \
                 cache: it is decremented here, and stays in QEMU where it is not zero",
        applies: |case| case.word().bo() & 0b00100 == 0,
        difference: Difference::State(|_, state| state.ctr = 0),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Mulhw, Mnemonic::Mulhwu],
        reason: "the upper word of RT, and with Rc=1 what CR0 says of it, is undefined: the simulator \
                 has the result in both words, QEMU has zeros in the upper one",
        applies: |_| true,
        difference: Difference::State(forget_upper_word),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Divwe],
        reason: "the upper word of RT, and with Rc=1 what CR0 says of it, is undefined: here are \
                 zeros, QEMU has the sign",
        applies: |case| !is_undefined(case),
        difference: Difference::State(forget_upper_word),
    },
    Disagreement {
        mnemonics: &[
            Mnemonic::Divw,
            Mnemonic::Divwu,
            Mnemonic::Divwe,
            Mnemonic::Divweu,
            Mnemonic::Divd,
            Mnemonic::Divdu,
            Mnemonic::Divde,
            Mnemonic::Divdeu,
        ],
        reason: "a quotient that does not fit, or by zero, is undefined: zero here, QEMU \
                 something left over from its way of dividing",
        applies: is_undefined,
        difference: Difference::State(forget_result),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Divde],
        reason: "QEMU does not see the overflow of a quotient whose magnitude fits 64 bits",
        applies: |case| {
            let (a, b) = operands(case);
            let fits = |quotient: i128| quotient.unsigned_abs() >> 64 == 0;
            is_undefined(case) && (a << 64).checked_div(b).is_some_and(fits)
        },
        difference: Difference::State(|case, state| {
            forget_result(case, state);
            state.cr &= !(0x1000_0000 * u64::from(case.word().rc()));
            state.xer &= !(xer::SO | xer::OV | xer::OV32);
        }),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Mtspr],
        reason: "reserved bits of XER may read as zero or as written: zero here, as written in QEMU",
        applies: |case| case.word().spr() == 1,
        difference: Difference::State(|_, state| state.xer &= xer::MASK),
    },
    Disagreement {
        mnemonics: &[Mnemonic::Mtspr],
        reason: "VRSAVE has 32 bits; QEMU keeps 64",
        applies: |case| case.word().spr() == 256,
        difference: Difference::State(|_, state| state.vrsave &= 0xFFFF_FFFF),
    },
];

fn forget_upper_word(case: &Case, state: &mut State) {
    state.gpr[case.word().rt()] &= 0xFFFF_FFFF;
    forget_order(case, state);
}

fn forget_result(case: &Case, state: &mut State) {
    state.gpr[case.word().rt()] = 0;
    forget_order(case, state);
}

/// Takes LT, GT and EQ of CR0 out of a record form's state.
fn forget_order(case: &Case, state: &mut State) {
    if case.word().rc() {
        state.cr &= 0x1FFF_FFFF;
    }
}

/// RA and RB as signed doublewords.
fn operands(case: &Case) -> (i128, i128) {
    let operand = |register: usize| i128::from(case.start.gpr[register] as i64);
    (operand(case.word().ra()), operand(case.word().rb()))
}

/// Whether the quotient overflows or the divisor is zero.
fn is_undefined(case: &Case) -> bool {
    let (a, b) = operands(case);
    let word = |value: i128| i128::from(value as i32);
    let low = |value: i128| u128::from(value as u32);
    let doubleword = |value: i128| u128::from(value as u64);
    // The one quotient of 2^127 that i128 cannot hold is an overflow too.
    let signed = |a: i128, b: i128, bits: u32| {
        let fits = |quotient| (-(1_i128 << (bits - 1))..1 << (bits - 1)).contains(&quotient);
        !a.checked_div(b).is_some_and(fits)
    };
    let unsigned = |a: u128, b: u128, bits: u32| a.checked_div(b).is_none_or(|q| q >> bits != 0);
    match case.mnemonic {
        Mnemonic::Divw => signed(word(a), word(b), 32),
        Mnemonic::Divwe => signed(word(a) << 32, word(b), 32),
        Mnemonic::Divd => signed(a, b, 64),
        Mnemonic::Divde => signed(a << 64, b, 64),
        Mnemonic::Divwu => unsigned(low(a), low(b), 32),
        Mnemonic::Divweu => unsigned(low(a) << 32, low(b), 32),
        Mnemonic::Divdu => unsigned(doubleword(a), doubleword(b), 64),
        Mnemonic::Divdeu => unsigned(doubleword(a) << 64, doubleword(b), 64),
        _ => false,
    }
}
