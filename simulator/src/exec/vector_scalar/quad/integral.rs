//! Rounding of a quad to an integral value and to the double-extended format: Power ISA 3.0B Book I,
//! `xsrqpi`, `xsrqpix` and `xsrqpxp`.

use super::arithmetic::propagate_nan;
use super::number::{FRACTION_BITS, Number, SIGN, is_infinite, is_negative};
use super::round::{Computed, EXTENDED, Rounding, round, round_bits};
use crate::exec::floating_point::fpscr::{FI, FR, XX};

/// The mode that R and RMC name. The values that are reserved round to the nearest.
pub(super) fn rounding(r: bool, rmc: u32, fpscr: u64) -> Rounding {
    match (r, rmc) {
        (false, 0) => Rounding::NearestAway,
        (false, 3) => Rounding::of(fpscr),
        (true, 1) => Rounding::TowardZero,
        (true, 2) => Rounding::Up,
        (true, 3) => Rounding::Down,
        _ => Rounding::NearestEven,
    }
}

/// The integral value; FR, FI and XX tell of a rounding only if it `is_told`.
pub(super) fn to_integral(b: u128, rounding: Rounding, fpscr: u64, is_told: bool) -> Computed {
    if let Some(nan) = propagate_nan(&[b]) {
        return nan;
    }
    if is_infinite(b) {
        return Computed::infinity(is_negative(b));
    }
    let Some(number) = Number::unpack(b) else { return Computed::zero(is_negative(b)) };
    let magnitude = b & !SIGN;
    let (rounded, is_up) = match number.exponent {
        // From here on every number is integral.
        112.. => return round_bits(b, rounding, fpscr),
        exponent @ 0..112 => {
            let unit = 1 << (FRACTION_BITS as i32 - exponent);
            let truncated = magnitude & !(unit - 1);
            // The leading bit counts where the unit is the one's place of a number from 1 to 2.
            let significand = number.significand >> 15;
            let is_up =
                truncated != magnitude && rounding.is_up(number.negative, significand, unit);
            (truncated + if is_up { unit } else { 0 }, is_up)
        }
        exponent => {
            // Below one: a half, or what is nearer to zero or to one.
            const HALF: u128 = 1 << 126;
            let significand = match exponent {
                -1 => HALF | u128::from(number.significand << 1 != 0),
                _ => 1,
            };
            let is_up = rounding.is_up(number.negative, significand, HALF << 1);
            (if is_up { ONE } else { 0 }, is_up)
        }
    };
    let is_inexact = rounded != magnitude;
    let computed = round_bits(rounded | b & SIGN, rounding, fpscr);
    if is_inexact && is_told {
        return computed.with(FI | XX | if is_up { FR } else { 0 });
    }
    computed
}

/// 1 in the quad format.
const ONE: u128 = 0x3FFF << FRACTION_BITS;

/// The value with the 64 bits that the double-extended format keeps.
pub(super) fn to_extended(b: u128, rounding: Rounding, fpscr: u64) -> Computed {
    if let Some(nan) = propagate_nan(&[b]) {
        // The payload loses its low bits.
        const KEPT: u128 = !((1 << 49) - 1);
        return Computed { value: nan.value & KEPT, ..nan };
    }
    if is_infinite(b) {
        return Computed::infinity(is_negative(b));
    }
    match Number::unpack(b) {
        Some(number) => round(number, EXTENDED, rounding, fpscr).quad(),
        None => Computed::zero(is_negative(b)),
    }
}
