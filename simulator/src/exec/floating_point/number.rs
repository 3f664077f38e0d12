//! Operands taken apart, and what is exact about them: classes, NaN rules, sum, product, quotient and
//! square root of finite numbers before any rounding.
//!
//! Significands of results carry a *sticky* lowest bit: it is set when anything non-zero lies below.
//! There is always room enough between it and the bits that a format keeps.

use super::fpscr::{self, Rounding};

/// The sign bit of the double format.
pub(in crate::exec) const SIGN: u64 = 1 << 63;
/// Infinity in the double format; above it are the NaNs.
pub(in crate::exec) const INFINITY: u64 = 0x7FF0_0000_0000_0000;
/// The NaN that an invalid operation delivers.
pub(in crate::exec) const DEFAULT_NAN: u64 = 0x7FF8_0000_0000_0000;
/// The fraction bit that makes a NaN quiet.
const QUIET: u64 = 0x0008_0000_0000_0000;
const FRACTION: u64 = 0x000F_FFFF_FFFF_FFFF;
const FRACTION_BITS: u32 = 52;
const BIAS: i32 = 1023;

/// Whether `bits` are a number other than zero, infinity and NaN.
#[inline]
pub(in crate::exec) fn is_finite_nonzero(bits: u64) -> bool {
    (bits & !SIGN).wrapping_sub(1) < INFINITY - 1
}

pub(in crate::exec) fn is_zero(bits: u64) -> bool {
    bits & !SIGN == 0
}

pub(in crate::exec) fn is_infinite(bits: u64) -> bool {
    bits & !SIGN == INFINITY
}

pub(in crate::exec) fn is_nan(bits: u64) -> bool {
    bits & !SIGN > INFINITY
}

pub(in crate::exec) fn is_signalling(bits: u64) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

/// Whether a number, which may be a zero or an infinity, is negative.
pub(in crate::exec) fn is_negative(bits: u64) -> bool {
    bits & SIGN != 0
}

/// The sign bit of a result.
pub(in crate::exec) fn sign(negative: bool) -> u64 {
    u64::from(negative) << 63
}

/// The NaN that an operation on `operands`, in the order FRA, FRB, FRC, delivers, and VXSNAN if one of
/// them signals; `None` if none is a NaN.
pub(in crate::exec) fn propagate_nan(operands: &[u64]) -> Option<(u64, u64)> {
    let nan = operands.iter().find(|&&bits| is_nan(bits))?;
    let is_invalid = operands.iter().any(|&bits| is_signalling(bits));
    Some((nan | QUIET, if is_invalid { fpscr::VXSNAN } else { 0 }))
}

/// The sign of an exact zero that is the sum of numbers of opposite sign.
pub(in crate::exec) fn zero_sum_is_negative(fpscr: u64) -> bool {
    Rounding::of(fpscr) == Rounding::Down
}

/// A finite number other than zero: `significand` / 2^63 x 2^`exponent`, bit 63 of the significand set.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Number {
    pub(in crate::exec) negative: bool,
    pub(in crate::exec) exponent: i32,
    pub(in crate::exec) significand: u64,
}

impl Number {
    /// The number that `bits` are; they are neither zero nor infinity nor NaN.
    #[inline]
    pub(in crate::exec) fn unpack(bits: u64) -> Self {
        let negative = is_negative(bits);
        let field = (bits >> FRACTION_BITS & 0x7FF) as i32;
        let fraction = bits & FRACTION;
        if field == 0 {
            let zeros = fraction.leading_zeros();
            let exponent = 1 - BIAS + 11 - zeros as i32;
            return Self { negative, exponent, significand: fraction << zeros };
        }
        Self { negative, exponent: field - BIAS, significand: (fraction << 11) | 1 << 63 }
    }

    /// The number `magnitude`, with a sign.
    pub(in crate::exec) fn from_integer(negative: bool, magnitude: u64) -> Option<Self> {
        let zeros = magnitude.leading_zeros();
        (magnitude != 0).then(|| Self {
            negative,
            exponent: 63 - zeros as i32,
            significand: magnitude << zeros,
        })
    }

    #[inline]
    pub(in crate::exec) fn negate_if(self, condition: bool) -> Self {
        Self { negative: self.negative != condition, ..self }
    }

    /// The product, rounded to 64 bits with the lowest sticky.
    #[inline]
    pub(in crate::exec) fn times(self, other: Self) -> Self {
        Wide::product(self, other).narrow()
    }

    /// The quotient, rounded to 64 bits with the lowest sticky.
    #[inline]
    pub(in crate::exec) fn over(self, divisor: Self) -> Self {
        let is_smaller = self.significand < divisor.significand;
        let dividend = u128::from(self.significand) << if is_smaller { 64 } else { 63 };
        let divisor_significand = u128::from(divisor.significand);
        let quotient = (dividend / divisor_significand) as u64;
        let is_inexact = dividend != u128::from(quotient) * divisor_significand;
        Self {
            negative: self.negative != divisor.negative,
            exponent: self.exponent - divisor.exponent - i32::from(is_smaller),
            significand: quotient | u64::from(is_inexact),
        }
    }

    /// The square root of a positive number, rounded to 64 bits with the lowest sticky.
    #[inline]
    pub(in crate::exec) fn square_root(self) -> Self {
        let square = u128::from(self.significand) << if self.exponent % 2 == 0 { 63 } else { 64 };
        let root = square.isqrt();
        Self {
            negative: false,
            exponent: self.exponent >> 1,
            significand: root as u64 | u64::from(root * root != square),
        }
    }
}

/// A number with room for an exact product: `significand` / 2^126 x 2^`exponent`, bit 127 clear.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Wide {
    negative: bool,
    exponent: i32,
    significand: u128,
}

impl Wide {
    /// The exact product. Its lowest bit before the shift is zero: operands have 53 bits.
    #[inline]
    pub(in crate::exec) fn product(a: Number, b: Number) -> Self {
        Self {
            negative: a.negative != b.negative,
            exponent: a.exponent + b.exponent + 1,
            significand: (u128::from(a.significand) * u128::from(b.significand)) >> 1,
        }
    }

    /// The sum; `None` if it is zero.
    #[inline]
    pub(in crate::exec) fn plus(self, other: Self) -> Option<Self> {
        let (large, small) =
            if self.exponent < other.exponent { (other, self) } else { (self, other) };
        let distance = (large.exponent - small.exponent) as u32;
        let aligned = shift_right_sticky(small.significand, distance);
        if large.negative == small.negative {
            return Some(Self { significand: large.significand + aligned, ..large }.carried());
        }
        // The one with the greater exponent may still have the smaller magnitude, if the other is a
        // product with its leading bit one place higher.
        let (significand, is_swapped) = match large.significand.checked_sub(aligned) {
            Some(difference) => (difference, false),
            None => (aligned - large.significand, true),
        };
        let negative = large.negative != is_swapped;
        (significand != 0).then_some(Self { negative, significand, ..large })
    }

    /// With bit 127 clear again.
    #[inline]
    fn carried(self) -> Self {
        let carry = (self.significand >> 127) as u32;
        let sticky = self.significand & u128::from(carry);
        Self {
            exponent: self.exponent + carry as i32,
            significand: self.significand >> carry | sticky,
            ..self
        }
    }

    /// 64 bits with the lowest sticky.
    #[inline]
    pub(in crate::exec) fn narrow(self) -> Number {
        let zeros = self.significand.leading_zeros();
        let normal = self.significand << zeros;
        Number {
            negative: self.negative,
            exponent: self.exponent + 1 - zeros as i32,
            significand: (normal >> 64) as u64 | u64::from(normal as u64 != 0),
        }
    }
}

impl From<Number> for Wide {
    #[inline]
    fn from(number: Number) -> Self {
        let Number { negative, exponent, significand } = number;
        Self { negative, exponent, significand: u128::from(significand) << 63 }
    }
}

/// `value` shifted right; the lowest bit of the result is set if any bit that went out was.
#[inline]
fn shift_right_sticky(value: u128, distance: u32) -> u128 {
    match distance {
        0 => value,
        1..128 => value >> distance | u128::from(value << (128 - distance) != 0),
        _ => u128::from(value != 0),
    }
}
