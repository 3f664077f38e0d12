//! Known disagreements of decimal floating point.
//!
//! As in binary floating point FR is never judged here; unit tests of the simulator derive it from the
//! results of the rounding modes.

use arch::instruction::{Mnemonic as M, Operand};
use simulator::exec::floating_point::fpscr::{FEX, FI, FPRF, FX, VX, VXCVI, VXSNAN};

use super::floating_point::forget_rounding;
use super::{Difference, Disagreement};
use crate::case::Case;
use crate::state::State;

/// Instructions that set FPRF, FR and FI, and may raise exceptions.
const DELIVER: &[M] = &[
    M::Dadd,
    M::Daddq,
    M::Dsub,
    M::Dsubq,
    M::Dmul,
    M::Dmulq,
    M::Ddiv,
    M::Ddivq,
    M::Dquai,
    M::Dquaiq,
    M::Dqua,
    M::Dquaq,
    M::Drrnd,
    M::Drrndq,
    M::Drintx,
    M::Drintxq,
    M::Drintn,
    M::Drintnq,
    M::Dctdp,
    M::Dctqpq,
    M::Drsp,
    M::Drdpq,
    M::Dcffix,
    M::Dcffixq,
    M::Dctfix,
    M::Dctfixq,
    M::Denbcd,
    M::Denbcdq,
];

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: DELIVER,
        reason: "FR says whether the result was rounded up, FI whether it was rounded, and FX is set by \
                 exception bits that were clear; QEMU leaves FR, never clears FI, and sets FX for any \
                 exception",
        applies: |_| true,
        difference: Difference::State(forget_status),
    },
    Disagreement {
        mnemonics: DELIVER,
        reason: "QEMU's decimal instructions do not interrupt for an enabled exception, and deliver what \
                 they deliver without",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: COMPARE,
        reason: "as with the others, a decimal comparison in QEMU does not interrupt",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: COMPARE,
        reason: "FX is set by exception bits that were clear; QEMU sets it for any exception",
        applies: |_| true,
        difference: Difference::State(forget_rounding),
    },
    Disagreement {
        mnemonics: &[M::Drrnd, M::Drrndq],
        reason: "QEMU takes the number of the bit VE for its mask, and so sets FEX for invalid \
                 operations that are not enabled",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_status(case, state);
            forget_fex(case, state);
        }),
    },
    Disagreement {
        mnemonics: &[M::Drrnd, M::Drrndq],
        reason: "the default NaN is positive; QEMU's has the operand's sign where only the carry of the \
                 rounding takes the exponent out of range",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_status(case, state);
            forget_fex(case, state);
            const DEFAULT_NAN: u64 = 0x7C00_0000_0000_0000;
            const SIGN: u64 = 1 << 63;
            let target = &mut state.vsr[case.word().frt()][0];
            if *target == DEFAULT_NAN | SIGN {
                *target = DEFAULT_NAN;
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Drdpq],
        reason: "the result is in the first of the two registers, as GCC relies on; QEMU puts it into \
                 the second",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_status(case, state);
            let target = case.word().frt();
            state.vsr[target][0] |= std::mem::take(&mut state.vsr[target + 1][0]);
        }),
    },
    Disagreement {
        mnemonics: &[M::Drsp, M::Drdpq],
        reason: "a payload that the narrower format cannot hold keeps its low digits, and drsp leaves a \
                 signalling NaN one, as Valgrind's tests expect on hardware; QEMU drops such a payload \
                 whole, and makes the NaN quiet without an exception",
        applies: |case| leading(case, case.word().frb()) == NAN,
        difference: Difference::State(|case, state| {
            forget_status(case, state);
            forget_target(case, state);
            state.fpscr &= !FPRF.mask();
            if case.mnemonic == M::Drdpq {
                state.fpscr &= !(VXSNAN | VX | FX);
                forget_cr1(case, state, 0xF);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Denbcd, M::Denbcdq],
        reason: "an invalid digit or sign gives the default NaN; QEMU leaves the target and FPRF, sets \
                 FEX as in drrnd, and takes 10 for a digit",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            let is_invalid = state.fpscr & VXCVI != 0 || has_digit_ten(case);
            forget_status(case, state);
            if is_invalid {
                forget_fex(case, state);
                forget_target(case, state);
                state.fpscr &= !FPRF.mask();
            }
            if has_digit_ten(case) {
                state.fpscr = 0;
                forget_cr1(case, state, 0xF);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Ddedpd, M::Ddedpdq, M::Diex, M::Diexq],
        reason: "the trailing digits of an infinity are digits as those of a NaN; QEMU sees zeros",
        applies: |case| leading(case, case.word().frb()) == INFINITY,
        difference: Difference::State(forget_target),
    },
    Disagreement {
        mnemonics: &[M::Dscli, M::Dscliq, M::Dscri, M::Dscriq],
        reason: "the trailing digits of an infinity are shifted as those of a NaN; QEMU sees zeros",
        applies: |case| leading(case, case.word().fra()) == INFINITY,
        difference: Difference::State(forget_target),
    },
    Disagreement {
        mnemonics: &[M::Dscli, M::Dscliq, M::Dscri, M::Dscriq],
        reason: "what means nothing in the combination field of a special datum becomes zero; QEMU keeps \
                 it where it shifts by more digits than there are",
        applies: |case| {
            let digits = if is_quad(case) { 34 } else { 16 };
            leading(case, case.word().fra()) >= INFINITY && case.word().sh_decimal() > digits
        },
        difference: Difference::State(|case, state| {
            let signals = if leading(case, case.word().fra()) == NAN { 1 << 57 } else { 0 };
            state.vsr[case.word().frt()][0] &= 0xFC00_0000_0000_0000 | signals;
        }),
    },
    Disagreement {
        mnemonics: &[M::Diex, M::Diexq],
        reason: "digits are written in one way, whatever they were written in; QEMU keeps the declets of \
                 a datum that it makes special",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            let target = case.word().frt();
            if is_quad(case) {
                let wide =
                    u128::from(state.vsr[target][0]) << 64 | u128::from(state.vsr[target + 1][0]);
                let wide = canonical(wide, 11);
                (state.vsr[target][0], state.vsr[target + 1][0]) =
                    ((wide >> 64) as u64, wide as u64);
            } else {
                state.vsr[target][0] = canonical(state.vsr[target][0].into(), 5) as u64;
            }
        }),
    },
];

/// Instructions that compare.
const COMPARE: &[M] = &[M::Dcmpo, M::Dcmpoq, M::Dcmpu, M::Dcmpuq];

/// The leading five bits of the combination field of special datums.
const INFINITY: u64 = 0x1E;
const NAN: u64 = 0x1F;

/// The leading five bits of the combination field of the datum that begins in `register`.
fn leading(case: &Case, register: usize) -> u64 {
    case.start.vsr[register][0] >> 58 & 0x1F
}

/// Whether the target is a pair of registers.
fn is_quad(case: &Case) -> bool {
    case.mnemonic.row().operands.contains(&Operand::FRTp)
}

/// Takes out FR, FI where it was set before, and FX where no exception bit went from 0 to 1.
fn forget_status(case: &Case, state: &mut State) {
    forget_rounding(case, state);
    state.fpscr &= !(case.start.fpscr & FI);
}

/// Takes FEX out of FPSCR and of CR1 of a record form.
fn forget_fex(case: &Case, state: &mut State) {
    state.fpscr &= !FEX;
    forget_cr1(case, state, 0x4);
}

/// Takes bits out of CR1 of a record form.
fn forget_cr1(case: &Case, state: &mut State, bits: u64) {
    if case.word().rc() {
        state.cr &= !(bits << 24);
    }
}

fn forget_target(case: &Case, state: &mut State) {
    let target = case.word().frt();
    state.vsr[target][0] = 0;
    if is_quad(case) {
        state.vsr[target + 1][0] = 0;
    }
}

fn has_digit_ten(case: &Case) -> bool {
    let source = case.word().frb();
    let first = usize::from(case.word().s_denbcd() != 0);
    let registers = if is_quad(case) { [source + 1, source] } else { [source, source] };
    let digits = registers.iter().flat_map(|&register| {
        (0..16).map(move |place| case.start.vsr[register][0] >> (4 * place) & 0xF)
    });
    digits.skip(first).any(|digit| digit == 10)
}

/// `bits` with the lowest declets in the way in which arithmetic writes them: where all three digits
/// are 8 or 9, two bits mean nothing.
fn canonical(bits: u128, declets: u32) -> u128 {
    (0..declets).fold(bits, |bits, place| {
        let is_free = bits >> (10 * place) & 0x6E == 0x6E;
        if is_free { bits & !(0x300 << (10 * place)) } else { bits }
    })
}
