//! From an exact result to a format: rounding, overflow, underflow, and the FPSCR bits that say so.
//!
//! Tininess is detected before rounding. With overflow or underflow enabled the result is scaled so that
//! it fits: Power ISA 3.0B Book I 4.4.3 and 4.4.4.

use super::class::{self, fprf};
use super::fpscr::{FI, FPRF, FR, OE, OX, Rounding, UE, UX, XX};
use super::number::{DEFAULT_NAN, INFINITY, Number, SIGN, is_negative, sign};

/// A format that results are rounded to.
pub(in crate::exec) trait Format {
    /// Single format, held in a register as a double.
    const IS_SINGLE: bool;
    /// Bits of a 64-bit significand that the format does not keep.
    const DROPPED: u32;
    /// Exponent of the greatest numbers.
    const GREATEST: i32;
    /// Exponent of the least normal numbers.
    const LEAST: i32;
    /// What scales the result of an enabled overflow or underflow.
    const ADJUSTMENT: i32;
    /// Bits of a double that the format holds.
    const DOUBLE_MASK: u64;
}

/// Double format.
pub(in crate::exec) struct Double;

impl Format for Double {
    const IS_SINGLE: bool = false;
    const DROPPED: u32 = 11;
    const GREATEST: i32 = 1023;
    const LEAST: i32 = -1022;
    const ADJUSTMENT: i32 = 1536;
    const DOUBLE_MASK: u64 = u64::MAX;
}

/// Single format.
pub(in crate::exec) struct Single;

impl Format for Single {
    const IS_SINGLE: bool = true;
    const DROPPED: u32 = 40;
    const GREATEST: i32 = 127;
    const LEAST: i32 = -126;
    const ADJUSTMENT: i32 = 192;
    const DOUBLE_MASK: u64 = !0x1FFF_FFFF;
}

/// Half format, which only conversions know.
pub(in crate::exec) struct Half;

impl Format for Half {
    const IS_SINGLE: bool = false;
    const DROPPED: u32 = 53;
    const GREATEST: i32 = 15;
    const LEAST: i32 = -14;
    const ADJUSTMENT: i32 = 24;
    const DOUBLE_MASK: u64 = !0x03FF_FFFF_FFFF;
}

/// What an instruction computed, before FPSCR decides what of it is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Computed {
    /// For the target.
    pub(in crate::exec) value: u64,
    /// FPSCR bits: FR, FI, FPRF and exceptions.
    pub(in crate::exec) status: u64,
}

impl Computed {
    pub(in crate::exec) fn zero(negative: bool) -> Self {
        Self { value: sign(negative), status: fprf(class::ZERO, negative) }
    }

    pub(in crate::exec) fn infinity(negative: bool) -> Self {
        Self { value: sign(negative) | INFINITY, status: fprf(class::INFINITY, negative) }
    }

    /// A quiet NaN, which is `nan` as far as the format holds it.
    pub(in crate::exec) fn nan<F: Format>(nan: u64) -> Self {
        Self { value: nan & F::DOUBLE_MASK, status: class::NAN << FPRF.shift() }
    }

    /// The result of an invalid operation that has no NaN to deliver.
    pub(in crate::exec) fn invalid(exception: u64) -> Self {
        Self::nan::<Double>(DEFAULT_NAN).with(exception)
    }

    /// With more FPSCR bits.
    pub(in crate::exec) fn with(self, status: u64) -> Self {
        Self { status: self.status | status, ..self }
    }

    /// With the sign of value and FPRF inverted, unless it is a NaN.
    #[inline]
    pub(in crate::exec) fn negated(self) -> Self {
        let class = FPRF.get(self.status);
        let negated = match class {
            class::NAN => return self,
            0b00010 | 0b10010 => class ^ 0b10000,
            _ => class ^ 0b01100,
        };
        Self { value: self.value ^ SIGN, status: FPRF.set(self.status, negated) }
    }
}

/// `number` in format `F`.
#[inline]
pub(in crate::exec) fn round<F: Format>(number: Number, fpscr: u64) -> Computed {
    let Number { negative, mut exponent, mut significand } = number;
    let is_tiny = exponent < F::LEAST;
    if is_tiny && fpscr & UE == 0 {
        significand = shift_right_sticky(significand, (F::LEAST - exponent) as u32);
        exponent = F::LEAST;
    }
    let unit = 1 << F::DROPPED;
    let truncated = significand & !(unit - 1);
    let increment = match Rounding::of(fpscr) {
        Rounding::NearestEven => unit / 2 - 1 + (significand >> F::DROPPED & 1),
        Rounding::Up if !negative => unit - 1,
        Rounding::Down if negative => unit - 1,
        _ => 0,
    };
    let (sum, has_carry) = significand.overflowing_add(increment);
    let mut rounded = sum & !(unit - 1);
    let mut status = 0;
    if significand != truncated {
        status |= FI | XX;
        if rounded != truncated {
            status |= FR;
        }
    }
    if has_carry {
        rounded = 1 << 63;
        exponent += 1;
    }
    if is_tiny {
        if fpscr & UE != 0 {
            status |= UX;
            exponent += F::ADJUSTMENT;
        } else if status & FI != 0 {
            status |= UX;
        }
    }
    if exponent > F::GREATEST {
        if fpscr & OE == 0 {
            return overflow::<F>(negative, fpscr);
        }
        status |= OX;
        exponent -= F::ADJUSTMENT;
    }
    pack(negative, exponent, rounded).with(status)
}

/// The double of a rounded significand that may lack its leading bit: a denormal number.
#[inline]
pub(in crate::exec) fn pack(negative: bool, mut exponent: i32, mut significand: u64) -> Computed {
    let mut class = class::NORMAL;
    if significand >> 63 == 0 {
        if significand == 0 {
            return Computed::zero(negative);
        }
        class = class::DENORMAL;
        // A denormal single is a normal double.
        let normalizing = significand.leading_zeros().min((exponent - Double::LEAST) as u32);
        significand <<= normalizing;
        exponent -= normalizing as i32;
    }
    // The leading bit, where it is there, adds one to the exponent field. Only a scaled result of
    // operands that single format cannot hold can miss the field's range; it wraps.
    let field = (exponent - Double::LEAST) as u64;
    let magnitude = (field << 52).wrapping_add(significand >> Double::DROPPED) & !SIGN;
    Computed { value: sign(negative) | magnitude, status: fprf(class, negative) }
}

/// The result of an overflow that is not enabled.
#[cold]
fn overflow<F: Format>(negative: bool, fpscr: u64) -> Computed {
    let is_infinite = match Rounding::of(fpscr) {
        Rounding::NearestEven => true,
        Rounding::TowardZero => false,
        Rounding::Up => !negative,
        Rounding::Down => negative,
    };
    let status = OX | XX | FI;
    if is_infinite {
        return Computed::infinity(negative).with(status | FR);
    }
    pack(negative, F::GREATEST, u64::MAX << F::DROPPED).with(status)
}

/// A finite operand, which may be zero, as the result.
pub(in crate::exec) fn round_bits<F: Format>(bits: u64, fpscr: u64) -> Computed {
    if bits & !SIGN == 0 {
        return Computed::zero(is_negative(bits));
    }
    round::<F>(Number::unpack(bits), fpscr)
}

/// The sum of two zeros.
pub(in crate::exec) fn zero_sum(a_is_negative: bool, b_is_negative: bool, fpscr: u64) -> Computed {
    Computed::zero(if a_is_negative == b_is_negative {
        a_is_negative
    } else {
        Rounding::of(fpscr) == Rounding::Down
    })
}

#[inline]
fn shift_right_sticky(value: u64, distance: u32) -> u64 {
    match distance {
        0..64 => value >> distance | u64::from(value & ((1 << distance) - 1) != 0),
        _ => u64::from(value != 0),
    }
}
