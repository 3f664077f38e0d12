//! Conversions of the quad format from and to double format and integers: Power ISA 3.0B Book I
//! 7.6.

use super::arithmetic::propagate_nan;
use super::number::{
    FRACTION_BITS, INFINITY, Number, is_infinite, is_nan, is_negative, is_signalling, sign,
};
use super::round::{Computed, DOUBLE, QUAD, Rounding, round};
use crate::exec::floating_point::class::{self, fprf};
use crate::exec::floating_point::fpscr::{FI, FPRF, VXCVI, VXSNAN, XX};
use crate::exec::floating_point::{number as double, round as double_round};

/// The double nearest to a quad, in doubleword 0.
pub(super) fn to_double(b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[b]) {
        // The payload loses its low bits.
        let fraction = (b >> (FRACTION_BITS - 52)) as u64 & ((1 << 52) - 1);
        let value = double::sign(is_negative(b)) | double::DEFAULT_NAN | fraction;
        return Computed { value: u128::from(value) << 64, ..nan };
    }
    let Some(number) = Number::unpack(b) else {
        let negative = is_negative(b);
        let computed = if is_infinite(b) {
            double_round::Computed::infinity(negative)
        } else {
            double_round::Computed::zero(negative)
        };
        return in_doubleword_0(computed);
    };
    let rounded = round(number, DOUBLE, rounding, fpscr);
    let computed = if rounded.is_infinite {
        double_round::Computed::infinity(rounded.negative)
    } else {
        double_round::pack(rounded.negative, rounded.exponent, (rounded.significand >> 64) as u64)
    };
    in_doubleword_0(computed.with(rounded.status))
}

fn in_doubleword_0(computed: double_round::Computed) -> Computed {
    Computed { value: u128::from(computed.value) << 64, status: computed.status }
}

/// The quad that a double is.
pub(super) fn from_double(b: u64) -> Computed {
    let negative = double::is_negative(b);
    if let Some((nan, exception)) = double::propagate_nan(&[b]) {
        let fraction = u128::from(nan & ((1 << 52) - 1)) << (FRACTION_BITS - 52);
        return Computed::nan(sign(negative) | INFINITY | fraction).with(exception);
    }
    if double::is_infinite(b) {
        return Computed::infinity(negative);
    }
    if double::is_zero(b) {
        return Computed::zero(negative);
    }
    let double::Number { negative, exponent, significand } = double::Number::unpack(b);
    let number = Number { negative, exponent, significand: u128::from(significand) << 64 };
    exact(number)
}

/// A number that the quad format holds.
fn exact(number: Number) -> Computed {
    round(number, QUAD, Rounding::TowardZero, 0).quad()
}

/// The quad that an integer is.
pub(super) fn from_integer(negative: bool, magnitude: u64) -> Computed {
    match Number::from_scaled(negative, magnitude.into(), 0) {
        Some(number) => exact(number),
        None => Computed { value: 0, status: fprf(class::ZERO, false) },
    }
}

/// The integers that a conversion can deliver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Magnitude of the least.
    least: u64,
    greatest: u64,
}

pub(super) const SIGNED_DOUBLEWORD: Range = Range { least: 1 << 63, greatest: (1 << 63) - 1 };
pub(super) const UNSIGNED_DOUBLEWORD: Range = Range { least: 0, greatest: u64::MAX };
pub(super) const SIGNED_WORD: Range = Range { least: 1 << 31, greatest: (1 << 31) - 1 };
pub(super) const UNSIGNED_WORD: Range = Range { least: 0, greatest: (1 << 32) - 1 };

/// The integer that a quad is truncated to, in doubleword 0; a signed word has its sign in the upper
/// half.
pub(super) fn to_integer(b: u128, range: Range) -> Computed {
    let value = |negative: bool, magnitude: u64, status: u64| {
        let integer = if negative { magnitude.wrapping_neg() } else { magnitude };
        Computed { value: u128::from(integer) << 64, status: status & !FPRF.mask() }
    };
    if is_nan(b) {
        let signals = if is_signalling(b) { VXSNAN } else { 0 };
        return value(true, range.least, VXCVI | signals);
    }
    let negative = is_negative(b);
    let limit = if negative { range.least } else { range.greatest };
    if is_infinite(b) {
        return value(negative, limit, VXCVI);
    }
    let Some(number) = Number::unpack(b) else { return value(false, 0, 0) };
    let (whole, is_inexact) = match number.exponent {
        ..0 => (0, true),
        exponent @ 0..64 => {
            let distance = 127 - exponent as u32;
            let whole = number.significand >> distance;
            (whole as u64, whole << distance != number.significand)
        }
        _ => return value(negative, limit, VXCVI),
    };
    if whole > limit {
        return value(negative, limit, VXCVI);
    }
    value(negative, whole, if is_inexact { FI | XX } else { 0 })
}
