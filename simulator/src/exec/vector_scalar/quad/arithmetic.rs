//! Add, subtract, multiply, divide, square root and multiply-add of the quad format: Power ISA 3.0B
//! Book I 7.6.

use super::number::{
    Number, QUIET, SIGN, is_infinite, is_nan, is_negative, is_signalling, is_zero,
};
use super::round::{Computed, QUAD, Rounding, round, round_bits};
use crate::exec::floating_point::fpscr::{VXIDI, VXIMZ, VXISI, VXSNAN, VXSQRT, VXZDZ, ZX};

/// The NaN that an operation on `operands` delivers: the first of them, quiet.
pub(super) fn propagate_nan(operands: &[u128]) -> Option<Computed> {
    let nan = operands.iter().find(|&&bits| is_nan(bits))?;
    let is_invalid = operands.iter().any(|&bits| is_signalling(bits));
    Some(Computed::nan(nan | QUIET).with(if is_invalid { VXSNAN } else { 0 }))
}

/// The operand with its sign inverted, except a NaN.
pub(super) fn negated(bits: u128) -> u128 {
    if is_nan(bits) { bits } else { bits ^ SIGN }
}

/// A zero that is the sum of two numbers, by their signs.
fn zero_sum(a: u128, b: u128, rounding: Rounding) -> Computed {
    let is_same = is_negative(a) == is_negative(b);
    Computed::zero(if is_same { is_negative(a) } else { rounding == Rounding::Down })
}

pub(super) fn add(a: u128, b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan;
    }
    match (is_infinite(a), is_infinite(b)) {
        (true, true) if a != b => return Computed::invalid(VXISI),
        (true, _) => return Computed::infinity(is_negative(a)),
        (_, true) => return Computed::infinity(is_negative(b)),
        _ => {}
    }
    match (Number::unpack(a), Number::unpack(b)) {
        (Some(x), Some(y)) => match x.plus(y) {
            Some(sum) => round(sum, QUAD, rounding, fpscr).quad(),
            None => zero_sum(a, b, rounding),
        },
        (None, None) => zero_sum(a, b, rounding),
        (Some(_), None) => round_bits(a, rounding, fpscr),
        (None, Some(_)) => round_bits(b, rounding, fpscr),
    }
}

pub(super) fn subtract(a: u128, b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    add(a, negated(b), rounding, fpscr)
}

pub(super) fn multiply(a: u128, b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan;
    }
    let negative = is_negative(a ^ b);
    match (is_infinite(a) || is_infinite(b), is_zero(a) || is_zero(b)) {
        (true, true) => return Computed::invalid(VXIMZ),
        (true, false) => return Computed::infinity(negative),
        _ => {}
    }
    match (Number::unpack(a), Number::unpack(b)) {
        (Some(a), Some(b)) => round(a.times(b), QUAD, rounding, fpscr).quad(),
        _ => Computed::zero(negative),
    }
}

pub(super) fn divide(a: u128, b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[a, b]) {
        return nan;
    }
    let negative = is_negative(a ^ b);
    match (is_infinite(a), is_infinite(b)) {
        (true, true) => return Computed::invalid(VXIDI),
        (true, false) => return Computed::infinity(negative),
        (false, true) => return Computed::zero(negative),
        _ => {}
    }
    match (Number::unpack(a), Number::unpack(b)) {
        (Some(a), Some(b)) => round(a.over(b), QUAD, rounding, fpscr).quad(),
        (Some(_), None) => Computed::infinity(negative).with(ZX),
        (None, Some(_)) => Computed::zero(negative),
        (None, None) => Computed::invalid(VXZDZ),
    }
}

pub(super) fn square_root(b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[b]) {
        return nan;
    }
    match (is_zero(b), is_negative(b), Number::unpack(b)) {
        (true, negative, _) => Computed::zero(negative),
        (_, true, _) => Computed::invalid(VXSQRT),
        (.., Some(number)) => round(number.square_root(), QUAD, rounding, fpscr).quad(),
        (.., None) => Computed::infinity(false),
    }
}

/// (`a` x `c`) + `b`.
pub(super) fn multiply_add(a: u128, b: u128, c: u128, rounding: Rounding, fpscr: u64) -> Computed {
    let has_infinite_factor = is_infinite(a) || is_infinite(c);
    let has_zero_factor = is_zero(a) || is_zero(c);
    // Infinity x zero counts as invalid even where an addend that is a NaN is the result.
    let product_exception = if has_infinite_factor && has_zero_factor { VXIMZ } else { 0 };
    if let Some(nan) = propagate_nan(&[a, b, c]) {
        return nan.with(product_exception);
    }
    if product_exception != 0 {
        return Computed::invalid(product_exception);
    }
    let product_is_negative = is_negative(a ^ c);
    match (has_infinite_factor, is_infinite(b)) {
        (true, true) if product_is_negative != is_negative(b) => return Computed::invalid(VXISI),
        (true, _) => return Computed::infinity(product_is_negative),
        (_, true) => return Computed::infinity(is_negative(b)),
        _ => {}
    }
    match (Number::unpack(a), Number::unpack(c), Number::unpack(b)) {
        (Some(x), Some(y), Some(z)) => match x.times_plus(y, z) {
            Some(sum) => round(sum, QUAD, rounding, fpscr).quad(),
            None => zero_sum(a ^ c, b, rounding),
        },
        (Some(x), Some(y), None) => round(x.times(y), QUAD, rounding, fpscr).quad(),
        (_, _, Some(_)) => round_bits(b, rounding, fpscr),
        (_, _, None) => zero_sum(a ^ c, b, rounding),
    }
}
