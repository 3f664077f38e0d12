//! Add, subtract, multiply, divide: Power ISA 3.0B Book I 5.6.1.

use arch::instruction::{Mnemonic, Word};
use ethnum::U256;

use super::format::{EXTENDED, Format, LONG};
use super::number::{Decimal, count_digits, propagate_nan};
use super::operand::{Computed, datum, deliver};
use super::round::{Exact, Rounding, round, wide_power};
use crate::exec::floating_point::fpscr::{VXIDI, VXIMZ, VXISI, VXZDZ, ZX};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an arithmetic instruction.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dadd => |t, _, i| dyadic(t, i, LONG, add),
        Mnemonic::Daddq => |t, _, i| dyadic(t, i, EXTENDED, add),
        Mnemonic::Dsub => |t, _, i| dyadic(t, i, LONG, subtract),
        Mnemonic::Dsubq => |t, _, i| dyadic(t, i, EXTENDED, subtract),
        Mnemonic::Dmul => |t, _, i| dyadic(t, i, LONG, multiply),
        Mnemonic::Dmulq => |t, _, i| dyadic(t, i, EXTENDED, multiply),
        Mnemonic::Ddiv => |t, _, i| dyadic(t, i, LONG, divide),
        Mnemonic::Ddivq => |t, _, i| dyadic(t, i, EXTENDED, divide),
        _ => return None,
    })
}

/// An operation in a format, under an FPSCR.
pub(super) type Operation = fn(&Format, Decimal, Decimal, u64) -> Computed;

fn dyadic(thread: &mut Thread, i: Word, format: &Format, operation: Operation) -> Outcome {
    let (a, b) = (datum(thread, i.fra(), format), datum(thread, i.frb(), format));
    let computed = operation(format, a, b, thread.fpscr);
    deliver(thread, i, format, computed)
}

/// The ideal exponent is the lesser of the operands'.
pub(super) fn add(format: &Format, a: Decimal, b: Decimal, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan.into();
    }
    match (a.is_infinite(), b.is_infinite()) {
        (true, true) if a.negative != b.negative => return Computed::invalid(VXISI),
        (true, _) => return Computed::exact(Decimal::infinity(a.negative)),
        (_, true) => return Computed::exact(Decimal::infinity(b.negative)),
        _ => {}
    }
    let (high, low) = if a.exponent < b.exponent { (b, a) } else { (a, b) };
    let exact = if high.is_zero() && !low.is_zero() { low.into() } else { sum(high, low, fpscr) };
    round(format, exact, low.exponent, fpscr)
}

/// FRB counts with its sign inverted, except as a NaN.
pub(super) fn subtract(format: &Format, a: Decimal, b: Decimal, fpscr: u64) -> Computed {
    let negative = if b.is_nan() { b.negative } else { !b.negative };
    add(format, a, Decimal { negative, ..b }, fpscr)
}

/// Places by which a coefficient of 34 digits can be shifted in 76.
const PLACES: u32 = 42;

/// The sum of finite numbers. `high` has the greater exponent, and is not zero if `low` is not.
fn sum(high: Decimal, low: Decimal, fpscr: u64) -> Exact {
    let distance = (high.exponent - low.exponent) as u32;
    let places = distance.min(PLACES);
    let exponent = high.exponent - places as i32;
    let high_coefficient = U256::from(high.coefficient) * wide_power(places);
    // Of a number that lies further below, only that it is there counts.
    let dropped = 10_u128.checked_pow(distance - places);
    let (low_coefficient, has_more) = match dropped {
        Some(unit) => (low.coefficient / unit, !low.coefficient.is_multiple_of(unit)),
        None => (0, low.coefficient != 0),
    };
    let low_coefficient = U256::from(low_coefficient);
    if high.negative == low.negative {
        let coefficient = high_coefficient + low_coefficient;
        return Exact { negative: high.negative, exponent, coefficient, has_more };
    }
    let (negative, coefficient) = if high_coefficient < low_coefficient {
        (low.negative, low_coefficient - high_coefficient)
    } else {
        // More to take away is more to borrow for.
        let borrow = U256::from(u128::from(has_more));
        (high.negative, high_coefficient - low_coefficient - borrow)
    };
    let is_zero = coefficient == 0 && !has_more;
    let negative = if is_zero { Rounding::of(fpscr) == Rounding::Down } else { negative };
    Exact { negative, exponent, coefficient, has_more }
}

/// The ideal exponent is the sum of the operands'.
pub(super) fn multiply(format: &Format, a: Decimal, b: Decimal, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan.into();
    }
    let negative = a.negative != b.negative;
    match (a.is_infinite() || b.is_infinite(), a.is_zero() || b.is_zero()) {
        (true, true) => return Computed::invalid(VXIMZ),
        (true, false) => return Computed::exact(Decimal::infinity(negative)),
        _ => {}
    }
    let exponent = a.exponent + b.exponent;
    let coefficient = U256::from(a.coefficient) * U256::from(b.coefficient);
    round(format, Exact { negative, exponent, coefficient, has_more: false }, exponent, fpscr)
}

/// The ideal exponent is the difference of the operands'.
pub(super) fn divide(format: &Format, a: Decimal, b: Decimal, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan.into();
    }
    let negative = a.negative != b.negative;
    match (a.is_infinite(), b.is_infinite()) {
        (true, true) => return Computed::invalid(VXIDI),
        (true, false) => return Computed::exact(Decimal::infinity(negative)),
        (false, true) => {
            let zero = Decimal::finite(negative, format.least_exponent(), 0);
            return Computed::exact(zero);
        }
        _ => {}
    }
    match (a.is_zero(), b.is_zero()) {
        (true, true) => return Computed::invalid(VXZDZ),
        (false, true) => return Computed { datum: Decimal::infinity(negative), status: ZX },
        _ => {}
    }
    let ideal = a.exponent - b.exponent;
    // One digit more than the format has, or two.
    let places = format.digits() + 1 + count_digits(b.coefficient) - count_digits(a.coefficient);
    let dividend = U256::from(a.coefficient) * wide_power(places);
    let divisor = U256::from(b.coefficient);
    let exact = Exact {
        negative,
        exponent: ideal - places as i32,
        coefficient: dividend / divisor,
        has_more: dividend % divisor != 0,
    };
    round(format, exact, ideal, fpscr)
}
