//! From an exact number to a format: rounding, overflow, underflow, and the FPSCR bits that say so.
//!
//! The same rules as in the core of the double format (Power ISA 3.0B Book I 7.3.2.6 and 7.3.3), with one
//! more rounding mode: to odd, in which an inexact result ends in a one, so that rounding it once more to
//! a narrower format does no harm.

use super::number::{BIAS, FRACTION_BITS, INFINITY, Number, is_negative, sign};
use crate::exec::floating_point::class::{self, fprf};
use crate::exec::floating_point::fpscr::{self, FI, FPRF, FR, OE, OX, UE, UX, XX};

/// How a result that lies between two representable numbers is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    /// To the nearer, in a tie to the even one.
    NearestEven,
    /// To the nearer, in a tie to the greater magnitude.
    NearestAway,
    /// To the smaller magnitude.
    TowardZero,
    /// To the greater.
    Up,
    /// To the lesser.
    Down,
    /// To the one that is odd.
    Odd,
}

impl Rounding {
    /// What FPSCR\[RN\] says.
    pub(super) fn of(fpscr: u64) -> Self {
        match fpscr::Rounding::of(fpscr) {
            fpscr::Rounding::NearestEven => Self::NearestEven,
            fpscr::Rounding::TowardZero => Self::TowardZero,
            fpscr::Rounding::Up => Self::Up,
            fpscr::Rounding::Down => Self::Down,
        }
    }

    /// Whether an overflow gives the infinity, not the greatest number.
    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Self::NearestEven | Self::NearestAway => true,
            Self::TowardZero | Self::Odd => false,
            Self::Up => !negative,
            Self::Down => negative,
        }
    }

    /// Whether the magnitude goes up to the next multiple of `unit`, a power of two, that has something
    /// left over below it.
    pub(super) fn is_up(self, negative: bool, significand: u128, unit: u128) -> bool {
        let (rest, half) = (significand & (unit - 1), unit >> 1);
        let is_odd = significand & unit != 0;
        match self {
            Self::NearestEven => rest > half || rest == half && is_odd,
            Self::NearestAway => rest >= half,
            Self::TowardZero => false,
            Self::Up => !negative,
            Self::Down => negative,
            Self::Odd => !is_odd,
        }
    }
}

/// A format that results are rounded to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of a 128-bit significand that it keeps.
    bits: u32,
    /// Exponent of the greatest numbers.
    greatest: i32,
    /// What scales the result of an enabled overflow or underflow.
    adjustment: i32,
}

/// Quad format.
pub(super) const QUAD: Format = Format { bits: 113, greatest: BIAS, adjustment: 24576 };
/// Double format.
pub(super) const DOUBLE: Format = Format { bits: 53, greatest: 1023, adjustment: 1536 };
/// Double-extended format: the range of quad, fewer bits.
pub(super) const EXTENDED: Format = Format { bits: 64, ..QUAD };

/// What an instruction computed, before FPSCR decides what of it is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Computed {
    /// For the target.
    pub(in crate::exec) value: u128,
    /// FPSCR bits: FR, FI, FPRF and exceptions.
    pub(in crate::exec) status: u64,
}

impl Computed {
    pub(super) fn zero(negative: bool) -> Self {
        Self { value: sign(negative), status: fprf(class::ZERO, negative) }
    }

    pub(super) fn infinity(negative: bool) -> Self {
        Self { value: sign(negative) | INFINITY, status: fprf(class::INFINITY, negative) }
    }

    /// A quiet NaN.
    pub(super) fn nan(nan: u128) -> Self {
        Self { value: nan, status: class::NAN << FPRF.shift() }
    }

    /// The result of an invalid operation that has no NaN to deliver.
    pub(super) fn invalid(exception: u64) -> Self {
        Self::nan(super::number::DEFAULT_NAN).with(exception)
    }

    /// With more FPSCR bits.
    pub(super) fn with(self, status: u64) -> Self {
        Self { status: self.status | status, ..self }
    }

    /// With the sign of value and FPRF inverted, unless it is a NaN.
    pub(super) fn negated(self) -> Self {
        let class = FPRF.get(self.status);
        let negated = match class {
            class::NAN => return self,
            0b00010 | 0b10010 => class ^ 0b10000,
            _ => class ^ 0b01100,
        };
        Self { value: self.value ^ super::number::SIGN, status: FPRF.set(self.status, negated) }
    }
}

/// A number in a format: `significand` with a leading one or, if it is denormal, without; with the
/// exponent of the least normal numbers a significand of zero is zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) significand: u128,
    /// An overflow to infinity.
    pub(super) is_infinite: bool,
    /// FR, FI and exceptions.
    pub(super) status: u64,
}

/// `number` in `format`.
pub(super) fn round(number: Number, format: Format, rounding: Rounding, fpscr: u64) -> Rounded {
    let Number { negative, mut exponent, mut significand } = number;
    let least = 1 - format.greatest;
    let is_tiny = exponent < least;
    if is_tiny && fpscr & UE == 0 {
        significand = shift_right_sticky(significand, (least - exponent) as u32);
        exponent = least;
    }
    let unit = 1_u128 << (128 - format.bits);
    let mut rounded = significand & !(unit - 1);
    let mut status = 0;
    if significand != rounded {
        status |= FI | XX;
        if rounding.is_up(negative, significand, unit) {
            status |= FR;
            let (sum, has_carry) = rounded.overflowing_add(unit);
            rounded = if has_carry { 1 << 127 } else { sum };
            exponent += i32::from(has_carry);
        }
    }
    if is_tiny {
        if fpscr & UE != 0 {
            status |= UX;
            exponent += format.adjustment;
        } else if status & FI != 0 {
            status |= UX;
        }
    }
    if exponent > format.greatest {
        if fpscr & OE == 0 {
            let is_infinite = rounding.overflows_to_infinity(negative);
            let status = OX | XX | FI | if is_infinite { FR } else { 0 };
            let (exponent, significand) = (format.greatest, !(unit - 1));
            return Rounded { negative, exponent, significand, is_infinite, status };
        }
        status |= OX;
        exponent -= format.adjustment;
    }
    Rounded { negative, exponent, significand: rounded, is_infinite: false, status }
}

impl Rounded {
    /// The bits of the quad format, with FPRF.
    pub(super) fn quad(self) -> Computed {
        let Self { negative, exponent, significand, is_infinite, status } = self;
        if is_infinite {
            return Computed::infinity(negative).with(status);
        }
        if significand == 0 {
            return Computed::zero(negative).with(status);
        }
        let is_normal = significand >> 127 != 0;
        // The leading bit, where it is there, adds one to the exponent field.
        let field = (exponent + BIAS - 1) as u128 & 0x7FFF;
        let magnitude = (field << FRACTION_BITS) + (significand >> 15);
        let class = if is_normal { class::NORMAL } else { class::DENORMAL };
        Computed { value: sign(negative) | magnitude, status: fprf(class, negative) | status }
    }
}

/// A finite operand, which may be zero, as the result in the quad format.
pub(super) fn round_bits(bits: u128, rounding: Rounding, fpscr: u64) -> Computed {
    match Number::unpack(bits) {
        Some(number) => round(number, QUAD, rounding, fpscr).quad(),
        None => Computed::zero(is_negative(bits)),
    }
}

/// `value` shifted right; the lowest bit of the result is set if any bit that went out was.
pub(super) fn shift_right_sticky(value: u128, distance: u32) -> u128 {
    match distance {
        0 => value,
        1..128 => value >> distance | u128::from(value << (128 - distance) != 0),
        _ => u128::from(value != 0),
    }
}
