//! Known disagreements of vector-scalar instructions. FR is never judged here, as in the scalar facility.

use arch::instruction::Mnemonic as M;
use simulator::exec::floating_point::fpscr::{
    EXCEPTIONS, FI, FPCC, FPRF, FR, FX, OX, UX, VXIMZ, VXSNAN, XX, ZX, with_summaries,
};

use super::floating_point::forget_rounding;
use super::{Difference, Disagreement};
use crate::case::Case;
use crate::state::State;

macro_rules! mnemonics {
    ($($mnemonic:ident)+) => { &[$(M::$mnemonic),+] };
}

pub(super) const DISAGREEMENTS: &[Disagreement] = &[
    Disagreement {
        mnemonics: SCALAR,
        reason: "as with fadd: FR says whether the result was rounded up, and FX is set by exception bits that \
                 were clear; QEMU leaves FR and sets FX for any exception",
        applies: |_| true,
        difference: Difference::State(forget_rounding),
    },
    Disagreement {
        mnemonics: SCALAR_SINGLE,
        reason: "as with fadds: the same, and FPRF of a denormal single says denormal, where QEMU looks at its \
                 double",
        applies: |_| true,
        difference: Difference::State(forget_single),
    },
    Disagreement {
        mnemonics: &[M::Xscvuxdsp, M::Xscvsxdsp],
        reason: "an integer is rounded to single precision once; QEMU rounds it to double precision before, which makes a tie \
                 of some",
        applies: |case| {
            let operand = case.start.vsr[case.word().xb()][0];
            let (wide, double) = match case.mnemonic {
                M::Xscvuxdsp => (i128::from(operand), operand as f64),
                _ => (i128::from(operand as i64), operand as i64 as f64),
            };
            // Of a double's 52 bits of fraction a single keeps 23.
            let is_tie = double.to_bits() & ((1 << 29) - 1) == 1 << 28;
            double as i128 != wide && is_tie
        },
        difference: Difference::State(|case, state| {
            forget_single(case, state);
            state.vsr[target(case)][0] = 0;
        }),
    },
    Disagreement {
        mnemonics: VECTOR,
        reason: "a vector leaves FR and FI, an element's overflow does not hide another's underflow, and FX is \
                 set by exception bits that were clear; QEMU clears FR and FI for an invalid operation, \
                 sees no underflow beside an overflow, and sets FX for any exception",
        applies: |_| true,
        difference: Difference::State(forget_status),
    },
    Disagreement {
        mnemonics: VECTOR,
        reason: "an enabled underflow interrupts beside the overflow of another element, and an enabled \
                 invalid comparison always; QEMU goes on",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
    Disagreement {
        mnemonics: VECTOR_TO_INTEGER,
        reason: "each element is converted for itself; in QEMU a NaN decides about those behind it",
        applies: has_nan,
        difference: Difference::State(|case, state| {
            forget_status(case, state);
            state.vsr[target(case)] = [0; 2];
        }),
    },
    Disagreement {
        mnemonics: &[M::Xsmaxjdp, M::Xsminjdp],
        reason: "a second operand that signals is an invalid operation beside a quiet NaN too; QEMU looks at \
                 the first NaN only",
        applies: |case| f64::from_bits(case.start.vsr[case.word().xa()][0]).is_nan(),
        difference: Difference::State(|_, state| {
            state.fpscr = with_summaries(state.fpscr & !(VXSNAN | FX | FR | FI));
        }),
    },
    Disagreement {
        mnemonics: &[M::Xsmaxcdp, M::Xsmincdp],
        reason: "the maximum is x > y ? x : y, as the programming note has it: of two zeros the second; QEMU \
                 takes the first",
        applies: |case| {
            let word = case.word();
            [word.xa(), word.xb()].into_iter().all(|x| case.start.vsr[x][0] << 1 == 0)
        },
        difference: Difference::State(|case, state| state.vsr[target(case)][0] &= !(1 << 63)),
    },
    Disagreement {
        mnemonics: FUSED,
        reason: "as with fmadd: infinity x zero with a signalling NaN to be added sets VXSNAN beside VXIMZ; \
                 QEMU sets VXIMZ alone",
        applies: has_signalling,
        difference: Difference::State(|case, state| {
            if state.fpscr & VXIMZ != 0 {
                state.fpscr &= !(VXSNAN | FX);
            }
            if VECTOR.contains(&case.mnemonic) {
                forget_status(case, state);
            } else {
                forget_rounding(case, state);
            }
        }),
    },
    Disagreement {
        mnemonics: SCALAR_TARGET,
        reason: "doubleword 1 of the target is undefined: zero here, as with a load of an FPR; QEMU leaves it",
        applies: |_| true,
        difference: Difference::State(|case, state| state.vsr[target(case)][1] = 0),
    },
    Disagreement {
        mnemonics: &[M::Xxinsertw],
        reason: "a byte number above 12 is undefined: byte 0 follows byte 15 here, QEMU leaves the target",
        applies: |case| case.word().uim4() > 12,
        difference: Difference::State(|case, state| state.vsr[target(case)] = [0; 2]),
    },
    Disagreement {
        mnemonics: &[M::Xststdcsp],
        reason: "a denormal single is of one class, by its sign; QEMU finds it in every class",
        applies: |case| {
            let magnitude = f64::from_bits(case.start.vsr[case.word().xb()][0]).abs();
            magnitude > 0.0 && magnitude < f32::MIN_POSITIVE.into()
        },
        difference: Difference::State(|case, state| {
            const EQ: u64 = 2;
            state.cr &= !(EQ << (28 - 4 * case.word().bf()));
            state.fpscr &= !(EQ << FPCC.shift());
        }),
    },
    Disagreement {
        mnemonics: &[M::Xsnmsubqpo],
        reason: "it rounds to odd; QEMU rounds as RN says",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !FPRF.mask();
            state.vsr[32 + case.word().vrt()] = [0; 2];
        }),
    },
    Disagreement {
        mnemonics: TO_INTEGER,
        reason: "as with fctid: FPRF is undefined and stays here; FR and FX as with the arithmetic",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            forget_rounding(case, state);
            state.fpscr &= !FPRF.mask();
        }),
    },
    Disagreement {
        mnemonics: COMPARE,
        reason: "as with fcmpu: a comparison leaves FI and C; QEMU clears FI, and with a NaN sets C",
        applies: |_| true,
        difference: Difference::State(|case, state| {
            const C: u64 = 1 << 16;
            forget_rounding(case, state);
            state.fpscr &= !(FI | C);
        }),
    },
    Disagreement {
        mnemonics: ESTIMATE,
        reason: "as with fre: the value of an estimate is the processor's, and FR, FI and XX are undefined",
        applies: |_| true,
        difference: Difference::State(forget_estimate),
    },
    Disagreement {
        mnemonics: ESTIMATE,
        reason: "the reciprocal of zero is a division by zero, and its root's; QEMU does not say so",
        applies: |_| true,
        difference: Difference::Interrupt,
    },
];

/// Scalars of double and quad precision.
const SCALAR: &[M] = mnemonics! {
    Xscvhpdp Xscvdphp Xsadddp Xssubdp Xsmuldp Xsdivdp Xssqrtdp Xsmaddadp Xsmaddmdp Xsmsubadp
    Xsmsubmdp Xsnmaddadp Xsnmaddmdp Xsnmsubadp Xsnmsubmdp Xsrdpi Xsrdpic Xsrdpim Xsrdpip Xsrdpiz
    Xscvspdp Xscvsxddp Xscvuxddp Xsaddqp Xsaddqpo Xssubqp Xssubqpo Xsmulqp Xsmulqpo Xsdivqp
    Xsdivqpo Xsmaddqp Xsmaddqpo Xsmsubqp Xsmsubqpo Xsnmaddqp Xsnmaddqpo Xsnmsubqp Xsnmsubqpo
    Xssqrtqp Xssqrtqpo Xscvqpdp Xscvudqp Xscvsdqp Xscvdpqp Xscvqpdpo Xsrqpi Xsrqpix Xsrqpxp
};

/// Scalars of single precision.
const SCALAR_SINGLE: &[M] = mnemonics! {
    Xsaddsp Xssubsp Xsmulsp Xsdivsp Xssqrtsp Xsmaddasp Xsmaddmsp Xsmsubasp Xsmsubmsp Xsnmaddasp
    Xsnmaddmsp Xsnmsubasp Xsnmsubmsp Xsrsp Xscvdpsp Xscvsxdsp Xscvuxdsp
};

/// What leaves FPRF, FR and FI.
const VECTOR: &[M] = mnemonics! {
    Xvcvhpsp Xvcvsphp Xscmpeqdp Xscmpgtdp Xscmpgedp Xsmaxdp Xsmindp Xsmaxcdp Xsmincdp Xsmaxjdp
    Xsminjdp Xvadddp Xvaddsp Xvsubdp Xvsubsp Xvmuldp Xvmulsp Xvdivdp Xvdivsp Xvsqrtdp Xvsqrtsp
    Xvmaddadp Xvmaddmdp Xvmsubadp Xvmsubmdp Xvnmaddadp Xvnmaddmdp Xvnmsubadp Xvnmsubmdp
    Xvmaddasp Xvmaddmsp Xvmsubasp Xvmsubmsp Xvnmaddasp Xvnmaddmsp Xvnmsubasp Xvnmsubmsp
    Xvcmpeqdp Xvcmpgtdp Xvcmpgedp Xvcmpeqsp Xvcmpgtsp Xvcmpgesp Xvmaxdp Xvmindp Xvmaxsp Xvminsp
    Xvrdpi Xvrdpic Xvrdpim Xvrdpip Xvrdpiz Xvrspi Xvrspic Xvrspim Xvrspip Xvrspiz Xvcvdpsp
    Xvcvspdp Xvcvdpsxds Xvcvdpsxws Xvcvdpuxds Xvcvdpuxws Xvcvspsxds Xvcvspsxws Xvcvspuxds
    Xvcvspuxws Xvcvsxddp Xvcvsxdsp Xvcvsxwdp Xvcvsxwsp Xvcvuxddp Xvcvuxdsp Xvcvuxwdp Xvcvuxwsp
};

/// Scalar conversions to an integer.
const TO_INTEGER: &[M] = mnemonics! {
    Xscvdpsxds Xscvdpsxws Xscvdpuxds Xscvdpuxws Xscvqpuwz Xscvqpswz Xscvqpudz Xscvqpsdz
};

/// What writes FPCC.
const COMPARE: &[M] = mnemonics! {
    Xscmpodp Xscmpudp Xscmpexpdp Xststdcdp Xststdcsp Xscmpoqp Xscmpuqp Xscmpexpqp Xststdcqp
};

/// Vector conversions to an integer.
const VECTOR_TO_INTEGER: &[M] = mnemonics! {
    Xvcvdpsxds Xvcvdpsxws Xvcvdpuxds Xvcvdpuxws Xvcvspsxds Xvcvspsxws Xvcvspuxds Xvcvspuxws
};

const FUSED: &[M] = mnemonics! {
    Xsmaddadp Xsmaddmdp Xsmsubadp Xsmsubmdp Xsnmaddadp Xsnmaddmdp Xsnmsubadp Xsnmsubmdp Xsmaddqp
    Xsmaddqpo Xsmsubqp Xsmsubqpo Xsnmaddqp Xsnmaddqpo Xsnmsubqp Xsnmsubqpo Xsmaddasp Xsmaddmsp
    Xsmsubasp Xsmsubmsp Xsnmaddasp Xsnmaddmsp Xsnmsubasp Xsnmsubmsp Xvmaddadp Xvmaddmdp
    Xvmsubadp Xvmsubmdp Xvnmaddadp Xvnmaddmdp Xvnmsubadp Xvnmsubmdp Xvmaddasp Xvmaddmsp
    Xvmsubasp Xvmsubmsp Xvnmaddasp Xvnmaddmsp Xvnmsubasp Xvnmsubmsp
};

/// Moves and loads into doubleword 0.
const SCALAR_TARGET: &[M] = mnemonics! {
    Mtvsrd Mtvsrwa Mtvsrwz Lxsdx Lxsspx Lxsiwax Lxsiwzx Lxsibzx Lxsihzx
};

const ESTIMATE: &[M] = mnemonics! {
    Xsredp Xsresp Xsrsqrtedp Xsrsqrtesp Xvredp Xvresp Xvrsqrtedp Xvrsqrtesp
};

fn target(case: &Case) -> usize {
    case.word().xt()
}

/// Takes out FX where no exception bit went from 0 to 1, FR and FI where they were set, and UX beside OX.
fn forget_status(case: &Case, state: &mut State) {
    state.fpscr &= !(case.start.fpscr & (FR | FI));
    if state.fpscr & OX != 0 {
        state.fpscr &= !UX;
    }
    if state.fpscr & EXCEPTIONS & !case.start.fpscr == 0 {
        state.fpscr &= !FX;
    }
    state.fpscr = with_summaries(state.fpscr);
}

/// Whether an element of an operand is a signalling NaN, in one of the formats.
fn has_signalling(case: &Case) -> bool {
    let word = case.word();
    let is_quad = case.mnemonic.row().name.contains("qp");
    let registers = if is_quad {
        [word.vrt(), word.vra(), word.vrb()].map(|register| register + 32)
    } else {
        [word.xt(), word.xa(), word.xb()]
    };
    let is_signalling = |bits: u64, fraction: u32| {
        let quiet = 1 << (fraction - 1);
        let (sign, top) = (1_u64 << 63, (1 << 63) - (1_u64 << fraction));
        bits & !sign >= top && bits & quiet == 0
    };
    registers.into_iter().flat_map(|register| case.start.vsr[register]).any(|bits| {
        let (high, low) = (bits & !0xFFFF_FFFF, bits << 32);
        is_signalling(bits, if is_quad { 48 } else { 52 })
            || is_signalling(high, 55)
            || is_signalling(low, 55)
    })
}

/// Whether an element of XB is a NaN, as a double or a single.
fn has_nan(case: &Case) -> bool {
    let is_nan = |bits: u64| {
        let is_single_nan = |word: u64| f32::from_bits(word as u32).is_nan();
        f64::from_bits(bits).is_nan() || is_single_nan(bits >> 32) || is_single_nan(bits)
    };
    case.start.vsr[case.word().xb()].into_iter().any(is_nan)
}

fn forget_single(case: &Case, state: &mut State) {
    forget_rounding(case, state);
    let magnitude = f64::from_bits(state.vsr[target(case)][0]).abs();
    if magnitude > 0.0 && magnitude < f64::from(f32::MIN_POSITIVE) {
        state.fpscr &= !FPRF.mask();
    }
}

/// What a special operand gives is compared.
fn forget_estimate(case: &Case, state: &mut State) {
    let name = case.mnemonic.row().name;
    let is_estimated = |value: f64| {
        let is_root = name.contains("rsqrt");
        value.is_finite() && value != 0.0 && !(is_root && value < 0.0)
    };
    for doubleword in 0..2 {
        let b = case.start.vsr[case.word().xb()][doubleword];
        let forgotten = if name.ends_with("dp") || name.starts_with("xs") {
            if is_estimated(f64::from_bits(b)) { u64::MAX } else { 0 }
        } else {
            let word = |shift: u32| {
                let value = f32::from_bits((b >> shift) as u32).into();
                if is_estimated(value) { 0xFFFF_FFFF << shift } else { 0 }
            };
            word(32) | word(0)
        };
        state.vsr[target(case)][doubleword] &= !forgotten;
    }
    state.fpscr &= !FPRF.mask();
    state.fpscr = with_summaries(state.fpscr & !(FR | FI | XX | UX | OX | ZX | FX));
}
