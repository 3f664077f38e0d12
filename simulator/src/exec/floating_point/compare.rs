//! Comparisons and the tests for software divide and square root: Power ISA 3.0B Book I 4.6.8 and
//! 4.6.6.1.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::deliver::{interrupt_if_enabled, raise_unordered};
use super::fpscr::FPCC;
use super::number::{
    Number, is_finite_nonzero, is_infinite, is_nan, is_negative, is_signalling, is_zero,
};
use super::round::{Double, Format};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a comparison or test.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fcmpu => |t, _, i| compare(t, i, t.fpr(i.fra()), t.fpr(i.frb()), false),
        Mnemonic::Fcmpo => |t, _, i| compare(t, i, t.fpr(i.fra()), t.fpr(i.frb()), true),
        Mnemonic::Ftdiv => |t, _, i| {
            let test = test_divide::<Double>(t.fpr(i.fra()), t.fpr(i.frb()));
            set_test(t, i, test)
        },
        Mnemonic::Ftsqrt => |t, _, i| {
            let test = test_square_root::<Double>(t.fpr(i.frb()));
            set_test(t, i, test)
        },
        _ => return None,
    })
}

/// Compares two doubles; the result goes to CR field BF and FPCC.
pub(in crate::exec) fn compare(
    thread: &mut Thread,
    i: Word,
    a: u64,
    b: u64,
    is_ordered: bool,
) -> Outcome {
    let condition = match f64::from_bits(a).partial_cmp(&f64::from_bits(b)) {
        Some(Ordering::Less) => cr::LT,
        Some(Ordering::Greater) => cr::GT,
        Some(Ordering::Equal) => cr::EQ,
        None => cr::SO,
    };
    thread.set_cr_field(i.bf(), condition);
    thread.fpscr = FPCC.set(thread.fpscr, u64::from(condition));
    if condition == cr::SO {
        raise_unordered(thread, is_signalling(a) || is_signalling(b), is_ordered);
    }
    interrupt_if_enabled(thread)
}

/// The operands that software division is unsafe with get FE, the ones it cannot serve at all FG; FL
/// says that `fre` is exact to 2^-14.
pub(in crate::exec) fn test_divide<F: Format>(a: u64, b: u64) -> u32 {
    let is_hopeless = is_infinite(a) || is_infinite(b) || is_zero(b) || is_denormal::<F>(b);
    let is_special = !is_finite(a) || !is_finite_nonzero(b);
    let is_unsafe = is_special || {
        let (a_exponent, b_exponent) = (exponent::<F>(a), exponent::<F>(b));
        let distance = a_exponent - b_exponent;
        let divisor_is_extreme = b_exponent <= F::LEAST || b_exponent >= F::GREATEST - 2;
        let quotient_is_extreme = distance >= F::GREATEST || distance <= F::LEAST + 1;
        let dividend_is_small = a_exponent <= F::LEAST + fraction_bits::<F>();
        divisor_is_extreme || !is_zero(a) && (quotient_is_extreme || dividend_is_small)
    };
    test(is_hopeless, is_unsafe)
}

/// The same of square roots.
pub(in crate::exec) fn test_square_root<F: Format>(b: u64) -> u32 {
    let is_hopeless = is_infinite(b) || is_zero(b) || is_denormal::<F>(b);
    let is_small = exponent::<F>(b) <= F::LEAST + fraction_bits::<F>();
    test(is_hopeless, !is_finite_nonzero(b) || is_negative(b) || is_small)
}

fn test(is_hopeless: bool, is_unsafe: bool) -> u32 {
    const FL: u32 = 8;
    FL | u32::from(is_hopeless) << 2 | u32::from(is_unsafe) << 1
}

/// Puts the result of a test into CR field BF.
pub(in crate::exec) fn set_test(thread: &mut Thread, i: Word, test: u32) -> Outcome {
    thread.set_cr_field(i.bf(), test);
    Ok(Flow::Next)
}

fn is_finite(bits: u64) -> bool {
    !is_nan(bits) && !is_infinite(bits)
}

/// Whether a double is a denormal number in format `F`.
pub(in crate::exec) fn is_denormal<F: Format>(bits: u64) -> bool {
    is_finite_nonzero(bits) && Number::unpack(bits).exponent < F::LEAST
}

/// The exponent of a finite number as its field in format `F` says it: one below the least for denormal
/// numbers and zero.
fn exponent<F: Format>(bits: u64) -> i32 {
    ((bits >> 52 & 0x7FF) as i32 - 1023).max(F::LEAST - 1)
}

/// Bits of the format's fraction.
fn fraction_bits<F: Format>() -> i32 {
    63 - F::DROPPED as i32
}
