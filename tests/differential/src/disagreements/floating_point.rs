//! Known disagreements of floating-point instructions.
//!
//! FR is never judged here: QEMU does not compute it. Unit tests of the simulator derive it from the
//! results of the four rounding modes.

use arch::instruction::Mnemonic as M;
use simulator::exec::floating_point::fpscr::{
    EXCEPTIONS, FI, FPRF, FR, FX, NI, OX, UX, VXIMZ, VXSNAN, XX, with_summaries,
};

use super::{Difference, Disagreement};
use crate::case::Case;
use crate::state::State;

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: &[
            M::Fadd,
            M::Fsub,
            M::Fmul,
            M::Fdiv,
            M::Fsqrt,
            M::Fmadd,
            M::Fmsub,
            M::Fnmadd,
            M::Fnmsub,
            M::Fcfid,
            M::Frin,
            M::Friz,
            M::Frip,
            M::Frim,
        ],
        reason: "FR says whether the result was rounded up, and FX is set by exception bits that were \
                 clear; QEMU leaves FR and sets FX for any exception",
        applies: |_| true,
        difference: Difference::State(forget_rounding),
    },
    Disagreement {
        mnemonics: &[
            M::Fadds,
            M::Fsubs,
            M::Fmuls,
            M::Fdivs,
            M::Fsqrts,
            M::Fmadds,
            M::Fmsubs,
            M::Fnmadds,
            M::Fnmsubs,
            M::Frsp,
        ],
        reason: "as with the double-precision instructions; and FPRF of a denormal single says \
                 denormal, where QEMU looks at its double",
        applies: |_| true,
        difference: Difference::State(forget_single),
    },
    Disagreement {
        mnemonics: &[
            M::Fmadd,
            M::Fmsub,
            M::Fnmadd,
            M::Fnmsub,
            M::Fmadds,
            M::Fmsubs,
            M::Fnmadds,
            M::Fnmsubs,
        ],
        reason: "infinity x zero with a signalling NaN to be added sets VXSNAN beside VXIMZ; QEMU \
                 sets VXIMZ alone",
        applies: |case| {
            let [a, b, c] = operands(case);
            let is_invalid = |x: f64, y: f64| x.is_infinite() && y == 0.0;
            (is_invalid(a, c) || is_invalid(c, a)) && is_signalling(b)
        },
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !VXSNAN;
            if (case.start.fpscr ^ state.fpscr) & VXIMZ == 0 {
                forget_fx(case, state);
            }
        }),
    },
    Disagreement {
        mnemonics: &[M::Fctid, M::Fctidz, M::Fctidu, M::Fctiduz],
        reason: "FPRF is undefined: it stays here, QEMU sets it for invalid conversions; FR and FX as \
                 with the arithmetic",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !FPRF.mask();
        }),
    },
    Disagreement {
        mnemonics: &[M::Fctiw, M::Fctiwz, M::Fctiwu, M::Fctiwuz],
        reason: "bits 0:31 of FRT and FPRF are undefined: Microwatt, and so here, repeats the word; \
                 FR and FX as with the arithmetic",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !FPRF.mask();
            state.vsr[case.word().frt()][0] &= 0xFFFF_FFFF;
        }),
    },
    Disagreement {
        mnemonics: &[M::Fcfids, M::Fcfidu, M::Fcfidus],
        reason: "FPRF is the class of the result; QEMU sets it for fcfid only",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !FPRF.mask();
        }),
    },
    Disagreement {
        mnemonics: &[M::Fcmpu, M::Fcmpo],
        reason: "a comparison leaves FI and C; QEMU clears FI, and with a NaN sets C",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            const C: u64 = 1 << 16;
            forget_rounding(case, state);
            state.fpscr &= !(FI | C);
        }),
    },
    Disagreement {
        mnemonics: &[M::Fre, M::Fres, M::Frsqrte, M::Frsqrtes],
        reason: "the value of an estimate is the processor's, within a bound that unit tests check; \
                 FR, FI and XX are undefined, and underflow follows the value. QEMU delivers the \
                 rounded true value, and 0.5 for the reciprocal of zero",
        applies: |_| true,
        difference: Difference::State(forget_estimate),
    },
    Disagreement {
        mnemonics: &[M::Mtfsb1],
        reason: "setting an exception bit that was clear sets FX, and NI can be set; in QEMU neither",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            state.fpscr &= !(FX | NI);
            forget_cr1(case, state);
        }),
    },
];

fn operands(case: &Case) -> [f64; 3] {
    let word = case.word();
    [word.fra(), word.frb(), word.frc()].map(|register| f64::from_bits(case.start.vsr[register][0]))
}

fn is_signalling(value: f64) -> bool {
    value.is_nan() && value.to_bits() & 1 << 51 == 0
}

/// Takes out FR, and FX where no exception bit went from 0 to 1.
pub(super) fn forget_rounding(case: &Case, state: &mut State) {
    state.fpscr &= !FR;
    if state.fpscr & EXCEPTIONS & !case.start.fpscr == 0 {
        forget_fx(case, state);
    }
}

fn forget_fx(case: &Case, state: &mut State) {
    state.fpscr &= !FX;
    forget_cr1(case, state);
}

/// Takes FX out of CR1 of a record form.
fn forget_cr1(case: &Case, state: &mut State) {
    if case.word().rc() {
        state.cr &= !0x0800_0000;
    }
}

fn forget_single(case: &Case, state: &mut State) {
    forget_rounding(case, state);
    let magnitude = f64::from_bits(state.vsr[case.word().frt()][0]).abs();
    if magnitude > 0.0 && magnitude < f64::from(f32::MIN_POSITIVE) {
        state.fpscr &= !FPRF.mask();
    }
}

/// What a special operand gives is compared, except the reciprocal of zero.
fn forget_estimate(case: &Case, state: &mut State) {
    let is_reciprocal = matches!(case.mnemonic, M::Fre | M::Fres);
    let [_, b, _] = operands(case);
    if is_reciprocal && b.is_finite() || b > 0.0 && b.is_finite() {
        state.vsr[case.word().frt()][0] = 0;
        state.fpscr &= !FPRF.mask();
    }
    state.fpscr = with_summaries(state.fpscr & !(FR | FI | XX | UX | OX | FX));
    if case.word().rc() {
        state.cr &= !0x0900_0000;
    }
}
