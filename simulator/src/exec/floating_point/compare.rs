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
use crate::exec::{Flow, Handler, Outcome};
use crate::thread::Thread;

/// The handler of a comparison or test.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fcmpu => |t, _, i| compare(t, i, false),
        Mnemonic::Fcmpo => |t, _, i| compare(t, i, true),
        Mnemonic::Ftdiv => |t, _, i| test_divide(t, i),
        Mnemonic::Ftsqrt => |t, _, i| test_square_root(t, i),
        _ => return None,
    })
}

fn compare(thread: &mut Thread, i: Word, is_ordered: bool) -> Outcome {
    let (a, b) = (thread.fpr(i.fra()), thread.fpr(i.frb()));
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
fn test_divide(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (thread.fpr(i.fra()), thread.fpr(i.frb()));
    let is_hopeless = is_infinite(a) || is_infinite(b) || is_zero(b) || is_denormal(b);
    let is_special = !is_finite(a) || !is_finite_nonzero(b);
    let is_unsafe = is_special || {
        let (a_exponent, b_exponent) = (exponent(a), exponent(b));
        let distance = a_exponent - b_exponent;
        let divisor_is_extreme = b_exponent <= -1022 || b_exponent >= 1021;
        let quotient_is_extreme = distance >= 1023 || distance <= -1021;
        divisor_is_extreme || !is_zero(a) && (quotient_is_extreme || a_exponent <= -970)
    };
    set_test(thread, i, is_hopeless, is_unsafe)
}

fn test_square_root(thread: &mut Thread, i: Word) -> Outcome {
    let b = thread.fpr(i.frb());
    let is_hopeless = is_infinite(b) || is_zero(b) || is_denormal(b);
    let is_unsafe = !is_finite_nonzero(b) || is_negative(b) || exponent(b) <= -970;
    set_test(thread, i, is_hopeless, is_unsafe)
}

fn set_test(thread: &mut Thread, i: Word, is_hopeless: bool, is_unsafe: bool) -> Outcome {
    const FL: u32 = 8;
    thread.set_cr_field(i.bf(), FL | u32::from(is_hopeless) << 2 | u32::from(is_unsafe) << 1);
    Ok(Flow::Next)
}

fn is_finite(bits: u64) -> bool {
    !is_nan(bits) && !is_infinite(bits)
}

fn is_denormal(bits: u64) -> bool {
    is_finite_nonzero(bits) && Number::unpack(bits).exponent < -1022
}

/// The exponent of a finite number as its field says it: -1023 for denormal numbers and zero.
fn exponent(bits: u64) -> i32 {
    (bits >> 52 & 0x7FF) as i32 - 1023
}
