//! The formats: sign, combination field, and declets. Power ISA 3.0B Book I 5.4.
//!
//! The first five bits of the combination field hold the two leading bits of the exponent and the
//! leading digit, or say that the datum is special; the others continue the exponent. In a special
//! datum they mean nothing but whether a NaN signals, and become zero.

use super::number::{Class, Decimal, count_digits, power};
use crate::exec::declet::{bcd, declet};
use crate::exec::floating_point::class::{self, fprf};
use crate::exec::floating_point::fpscr::FPRF;

/// A format.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Format {
    /// Declets of the trailing significand; one digit more leads.
    declets: u32,
    /// Exponent bits behind the two that share five bits with the leading digit.
    exponent_bits: u32,
    /// What an exponent field is above the exponent.
    pub(super) bias: i32,
    /// By which power of ten arithmetic scales the result of an enabled overflow or underflow.
    pub(super) adjustment: i32,
    /// Held in a pair of registers.
    pub(super) is_pair: bool,
}

/// DFP Short, a format of storage: there is no arithmetic on it.
pub(super) const SHORT: &Format =
    &Format { declets: 2, exponent_bits: 6, bias: 101, adjustment: 0, is_pair: false };
/// DFP Long.
pub(super) const LONG: &Format =
    &Format { declets: 5, exponent_bits: 8, bias: 398, adjustment: 576, is_pair: false };
/// DFP Extended.
pub(super) const EXTENDED: &Format =
    &Format { declets: 11, exponent_bits: 12, bias: 6176, adjustment: 9216, is_pair: true };

/// The five leading bits of the combination field of an infinity and of a NaN.
const INFINITY: u128 = 0b11110;
const NAN: u128 = 0b11111;

impl Format {
    /// Digits of the significand.
    pub(super) const fn digits(&self) -> u32 {
        3 * self.declets + 1
    }

    /// The greatest exponent field.
    pub(super) const fn greatest_biased(&self) -> i32 {
        (3 << self.exponent_bits) - 1
    }

    /// The greatest exponent of a significand taken as an integer.
    pub(super) const fn greatest_exponent(&self) -> i32 {
        self.greatest_biased() - self.bias
    }

    /// The least exponent of a significand taken as an integer.
    pub(super) const fn least_exponent(&self) -> i32 {
        -self.bias
    }

    /// The exponent of the leading digit of the greatest numbers.
    pub(super) const fn greatest_leading(&self) -> i32 {
        self.greatest_exponent() + self.digits() as i32 - 1
    }

    /// The exponent of the leading digit of the least normal numbers.
    pub(super) const fn least_leading(&self) -> i32 {
        self.least_exponent() + self.digits() as i32 - 1
    }

    /// `exponent`, or the nearest one that the format has.
    pub(super) fn clamp(&self, exponent: i32) -> i32 {
        exponent.clamp(self.least_exponent(), self.greatest_exponent())
    }

    const fn trailing_bits(&self) -> u32 {
        10 * self.declets
    }

    /// The place of the combination field's five leading bits.
    const fn leading_shift(&self) -> u32 {
        self.trailing_bits() + self.exponent_bits
    }

    /// Whether the number is finite, not zero, and below the least normal one.
    pub(super) fn is_subnormal(&self, datum: Decimal) -> bool {
        let leading = datum.exponent + count_digits(datum.coefficient) as i32 - 1;
        datum.is_finite() && datum.coefficient != 0 && leading < self.least_leading()
    }

    /// FPRF of a result.
    pub(super) fn fprf(&self, datum: Decimal) -> u64 {
        let class = match datum.class {
            Class::QuietNan => return class::NAN << FPRF.shift(),
            Class::SignallingNan => return class::SIGNALLING_NAN << FPRF.shift(),
            Class::Infinity => class::INFINITY,
            Class::Finite if datum.coefficient == 0 => class::ZERO,
            Class::Finite if self.is_subnormal(datum) => class::DENORMAL,
            Class::Finite => class::NORMAL,
        };
        fprf(class, datum.negative)
    }

    /// The datum that `bits` are.
    pub(super) fn unpack(&self, bits: u128) -> Decimal {
        let negative = bits >> (self.leading_shift() + 5) & 1 != 0;
        let leading = bits >> self.leading_shift() & 0x1F;
        let continuation = bits >> self.trailing_bits() & ((1 << self.exponent_bits) - 1);
        let trailing = self.trailing_digits(bits);
        let special = |class| Decimal { negative, class, exponent: 0, coefficient: trailing };
        let (high, digit) = match leading {
            INFINITY => return special(Class::Infinity),
            NAN if continuation >> (self.exponent_bits - 1) == 0 => {
                return special(Class::QuietNan);
            }
            NAN => return special(Class::SignallingNan),
            0b11000.. => (leading >> 1 & 3, 8 | leading & 1),
            _ => (leading >> 3, leading & 7),
        };
        let biased = (high << self.exponent_bits | continuation) as i32;
        let coefficient = digit * power(self.digits() - 1) + trailing;
        Decimal::finite(negative, biased - self.bias, coefficient)
    }

    fn trailing_digits(&self, bits: u128) -> u128 {
        (0..self.declets).rev().fold(0, |coefficient, place| {
            let digits = bcd((bits >> (10 * place)) as u32 & 0x3FF);
            let three = (digits >> 8) * 100 + (digits >> 4 & 0xF) * 10 + (digits & 0xF);
            coefficient * 1000 + u128::from(three)
        })
    }

    /// The bits of `datum`, which the format can hold but for leading digits of a payload.
    pub(super) fn pack(&self, datum: Decimal) -> u128 {
        let leading_digit = datum.coefficient / power(self.digits() - 1);
        let biased = (datum.exponent + self.bias) as u128;
        let high = biased >> self.exponent_bits;
        let (leading, continuation) = match datum.class {
            Class::Infinity => (INFINITY, 0),
            Class::QuietNan => (NAN, 0),
            Class::SignallingNan => (NAN, 1 << (self.exponent_bits - 1)),
            Class::Finite if leading_digit >= 8 => {
                (0b11000 | high << 1 | leading_digit & 1, biased)
            }
            Class::Finite => (high << 3 | leading_digit, biased),
        };
        let continuation = continuation & ((1 << self.exponent_bits) - 1);
        let sign = u128::from(datum.negative);
        sign << (self.leading_shift() + 5)
            | leading << self.leading_shift()
            | continuation << self.trailing_bits()
            | self.trailing_bits_of(datum.coefficient)
    }

    fn trailing_bits_of(&self, mut coefficient: u128) -> u128 {
        let mut bits = 0;
        for place in 0..self.declets {
            let three = (coefficient % 1000) as u32;
            coefficient /= 1000;
            let [first, second, third] = [three / 100, three / 10 % 10, three % 10];
            let digits = first << 8 | second << 4 | third;
            bits |= u128::from(declet(digits)) << (10 * place);
        }
        bits
    }
}
