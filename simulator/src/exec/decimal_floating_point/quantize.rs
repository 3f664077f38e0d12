//! Adjusting the quantum: quantize, reround, round to an integer. Power ISA 3.0B Book I 5.6.4.
//!
//! None of these overflows or underflows: a result that does not fit is an invalid conversion.

use arch::instruction::{Mnemonic, Word};

use super::format::{EXTENDED, Format, LONG};
use super::number::{Decimal, count_digits, power, propagate_nan};
use super::operand::{Computed, datum, deliver};
use super::round::{Exact, Rounding};
use crate::exec::floating_point::fpscr::{FI, FR, VXCVI, XX};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an instruction that adjusts the quantum.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dquai => |t, _, i| dquai(t, i, LONG),
        Mnemonic::Dquaiq => |t, _, i| dquai(t, i, EXTENDED),
        Mnemonic::Dqua => |t, _, i| dqua(t, i, LONG),
        Mnemonic::Dquaq => |t, _, i| dqua(t, i, EXTENDED),
        Mnemonic::Drrnd => |t, _, i| drrnd(t, i, LONG),
        Mnemonic::Drrndq => |t, _, i| drrnd(t, i, EXTENDED),
        Mnemonic::Drintx => |t, _, i| drint(t, i, LONG, u64::MAX),
        Mnemonic::Drintxq => |t, _, i| drint(t, i, EXTENDED, u64::MAX),
        Mnemonic::Drintn => |t, _, i| drint(t, i, LONG, !(FI | FR | XX)),
        Mnemonic::Drintnq => |t, _, i| drint(t, i, EXTENDED, !(FI | FR | XX)),
        _ => return None,
    })
}

/// TE is the exponent of the result.
fn dquai(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let reference = Decimal::finite(false, i.te() as i32, 0);
    let b = datum(thread, i.frb(), format);
    let rounding = Rounding::immediate(i, thread.fpscr);
    deliver(thread, i, format, quantize(format, reference, b, rounding))
}

/// The exponent of FRA is that of the result.
fn dqua(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let (reference, b) = (datum(thread, i.fra(), format), datum(thread, i.frb(), format));
    let rounding = Rounding::immediate(i, thread.fpscr);
    deliver(thread, i, format, quantize(format, reference, b, rounding))
}

/// `b` with the exponent of `reference`.
pub(super) fn quantize(
    format: &Format,
    reference: Decimal,
    b: Decimal,
    rounding: Rounding,
) -> Computed {
    if let Some(nan) = propagate_nan(&[reference, b]) {
        return nan.into();
    }
    match (reference.is_infinite(), b.is_infinite()) {
        (true, true) => return Computed::exact(Decimal::infinity(b.negative)),
        (false, false) => {}
        _ => return Computed::invalid(VXCVI),
    }
    with_exponent(format, b, reference.exponent, rounding)
}

/// The finite number `b` with this exponent.
fn with_exponent(format: &Format, b: Decimal, exponent: i32, rounding: Rounding) -> Computed {
    if b.is_zero() {
        return Computed::exact(Decimal { exponent, ..b });
    }
    let places = b.exponent - exponent;
    if places < 0 {
        let (coefficient, status) = Exact::from(b).shortened(places.unsigned_abs(), rounding);
        return Computed { datum: Decimal { exponent, coefficient, ..b }, status };
    }
    if count_digits(b.coefficient) + places as u32 > format.digits() {
        return Computed::invalid(VXCVI);
    }
    let coefficient = b.coefficient * power(places as u32);
    Computed::exact(Decimal { exponent, coefficient, ..b })
}

/// The low six bits of FRA are the number of digits of the result.
fn drrnd(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let digits = thread.fpr(i.fra()) as u32 & 0x3F;
    let b = datum(thread, i.frb(), format);
    let rounding = Rounding::immediate(i, thread.fpscr);
    deliver(thread, i, format, reround(format, digits, b, rounding))
}

/// `b` with at most so many digits; 0 means all.
pub(super) fn reround(format: &Format, digits: u32, b: Decimal, rounding: Rounding) -> Computed {
    if let Some(special) = special(b) {
        return special;
    }
    let excess = count_digits(b.coefficient).saturating_sub(digits);
    if digits == 0 || excess == 0 {
        return Computed::exact(b);
    }
    let exponent = b.exponent + excess as i32;
    let Computed { mut datum, status } = with_exponent(format, b, exponent, rounding);
    if datum.coefficient == power(digits) {
        datum.coefficient /= 10;
        datum.exponent += 1;
    }
    if datum.exponent > format.greatest_exponent() {
        return Computed::invalid(VXCVI);
    }
    Computed { datum, status }
}

/// An integer; of its status what `reported` has.
fn drint(thread: &mut Thread, i: Word, format: &Format, reported: u64) -> Outcome {
    let b = datum(thread, i.frb(), format);
    let rounding = Rounding::immediate_with_r(i, thread.fpscr);
    let Computed { datum, status } = integral(format, b, rounding);
    deliver(thread, i, format, Computed { datum, status: status & reported })
}

/// `b` rounded to an integer.
pub(super) fn integral(format: &Format, b: Decimal, rounding: Rounding) -> Computed {
    match special(b) {
        Some(special) => special,
        None if b.exponent >= 0 => Computed::exact(b),
        None => with_exponent(format, b, 0, rounding),
    }
}

/// What a NaN or an infinity gives.
fn special(b: Decimal) -> Option<Computed> {
    if b.is_infinite() {
        return Some(Computed::exact(Decimal::infinity(b.negative)));
    }
    propagate_nan(&[b]).map(Computed::from)
}
