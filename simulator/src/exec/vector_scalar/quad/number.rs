//! Numbers of the quad format taken apart, and what is exact about them: sum, product, quotient and
//! square root before any rounding.
//!
//! As in the core of the double format, significands of results carry a *sticky* lowest bit: it is set
//! when anything non-zero lies below.

/// The sign bit of the quad format.
pub(super) const SIGN: u128 = 1 << 127;
/// Infinity in the quad format; above it are the NaNs.
pub(super) const INFINITY: u128 = 0x7FFF << FRACTION_BITS;
/// The fraction bit that makes a NaN quiet.
pub(super) const QUIET: u128 = 1 << (FRACTION_BITS - 1);
/// The NaN that an invalid operation delivers.
pub(super) const DEFAULT_NAN: u128 = INFINITY | QUIET;
pub(super) const FRACTION_BITS: u32 = 112;
const FRACTION: u128 = (1 << FRACTION_BITS) - 1;
pub(super) const BIAS: i32 = 16383;

pub(super) fn is_zero(bits: u128) -> bool {
    bits & !SIGN == 0
}

pub(super) fn is_infinite(bits: u128) -> bool {
    bits & !SIGN == INFINITY
}

pub(super) fn is_nan(bits: u128) -> bool {
    bits & !SIGN > INFINITY
}

pub(super) fn is_signalling(bits: u128) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

pub(super) fn is_negative(bits: u128) -> bool {
    bits & SIGN != 0
}

/// The sign bit of a result.
pub(super) fn sign(negative: bool) -> u128 {
    u128::from(negative) << 127
}

/// The exponent field.
pub(super) fn exponent_field(bits: u128) -> u32 {
    (bits >> FRACTION_BITS) as u32 & 0x7FFF
}

/// A finite number other than zero: `significand` / 2^127 x 2^`exponent`, bit 127 of the significand set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) significand: u128,
}

impl Number {
    /// The number that `bits` are; `None` if they are a zero, an infinity or a NaN.
    pub(super) fn unpack(bits: u128) -> Option<Self> {
        let (negative, fraction) = (is_negative(bits), bits & FRACTION);
        match exponent_field(bits) {
            0 => Self::from_scaled(negative, fraction, 1 - BIAS - FRACTION_BITS as i32),
            0x7FFF => None,
            field => Some(Self {
                negative,
                exponent: field as i32 - BIAS,
                significand: fraction << 15 | 1 << 127,
            }),
        }
    }

    /// The number `magnitude` x 2^`scale`; `None` if it is zero.
    pub(super) fn from_scaled(negative: bool, magnitude: u128, scale: i32) -> Option<Self> {
        let zeros = magnitude.leading_zeros();
        (magnitude != 0).then(|| Self {
            negative,
            exponent: scale + 127 - zeros as i32,
            significand: magnitude << zeros,
        })
    }

    /// The quotient: 116 bits and a sticky one.
    pub(super) fn over(self, divisor: Self) -> Self {
        // Operands have 113 bits.
        let (mut rest, divisor_bits) = (self.significand >> 15, divisor.significand >> 15);
        let is_smaller = rest < divisor_bits;
        rest <<= u32::from(is_smaller);
        let mut quotient: u128 = 0;
        for _ in 0..ROOT_BITS {
            let is_in = rest >= divisor_bits;
            rest = (rest - if is_in { divisor_bits } else { 0 }) << 1;
            quotient = quotient << 1 | u128::from(is_in);
        }
        Self {
            negative: self.negative != divisor.negative,
            exponent: self.exponent - divisor.exponent - i32::from(is_smaller),
            significand: quotient << (128 - ROOT_BITS) | u128::from(rest != 0),
        }
    }

    /// The square root of a positive number: 116 bits and a sticky one.
    pub(super) fn square_root(self) -> Self {
        // Two bits of the radicand for each bit of the root. The first two hold its leading bit, in the
        // upper place if the exponent is odd.
        let mut radicand = self.significand >> if self.exponent % 2 == 0 { 1 } else { 0 };
        let (mut root, mut rest): (u128, u128) = (0, 0);
        for _ in 0..ROOT_BITS {
            rest = rest << 2 | radicand >> 126;
            radicand <<= 2;
            let trial = root << 2 | 1;
            let is_in = rest >= trial;
            rest -= if is_in { trial } else { 0 };
            root = root << 1 | u128::from(is_in);
        }
        Self {
            negative: false,
            exponent: self.exponent >> 1,
            significand: root << (128 - ROOT_BITS) | u128::from(rest != 0),
        }
    }
}

/// Bits of quotients and roots: those of the format and some for rounding.
const ROOT_BITS: u32 = 116;
