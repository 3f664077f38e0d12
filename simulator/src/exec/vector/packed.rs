//! Decimal integers in their formats: packed, national (a halfword a digit), zoned (a byte a digit).

use super::lane::{build, get};

/// A decimal integer: of 31 digits at most in packed format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packed {
    pub(super) negative: bool,
    pub(super) magnitude: u128,
}

/// Sign codes that results have; the second for numbers that are not negative if PS is 1.
const PLUS: u128 = 0xC;
const PLUS_PREFERRED: u128 = 0xF;
const MINUS: u128 = 0xD;

/// Whether a sign code means a negative number; `None` if it is none.
fn sign(code: u128) -> Option<bool> {
    match code {
        0xB | 0xD => Some(true),
        0xA..=0xF => Some(false),
        _ => None,
    }
}

/// The number that 32 digits of four bits mean, if they are digits.
pub(super) fn digits(bits: u128) -> Option<u128> {
    (0..32).rev().try_fold(0, |number, place| {
        let digit = bits >> (4 * place) & 0xF;
        (digit < 10).then_some(10 * number + digit)
    })
}

/// The last 32 digits of a number.
pub(super) fn from_digits(number: u128) -> u128 {
    let (bits, _) = (0..32)
        .fold((0, number), |(bits, rest), place| (bits | (rest % 10) << (4 * place), rest / 10));
    bits
}

impl Packed {
    /// The number that `bits` are; `None` if they are none.
    pub(super) fn unpack(bits: u128) -> Option<Self> {
        Some(Self { negative: sign(bits & 0xF)?, magnitude: digits(bits >> 4)? })
    }

    /// In packed format, with the sign code that PS asks for.
    pub(super) fn pack(self, preferred: bool) -> u128 {
        let sign = match (self.negative, preferred) {
            (true, _) => MINUS,
            (false, true) => PLUS_PREFERRED,
            (false, false) => PLUS,
        };
        from_digits(self.magnitude) << 4 | sign
    }

    /// The number itself.
    pub(super) fn value(self) -> i128 {
        let magnitude = self.magnitude as i128;
        if self.negative { -magnitude } else { magnitude }
    }
}

/// National format: seven digits and a sign, each a character in a halfword.
pub(super) mod national {
    use super::{Packed, build, get};

    const PLUS: u16 = 0x2B;
    const MINUS: u16 = 0x2D;
    const ZERO: u16 = 0x30;

    /// The number that `bits` are; `None` if they are none.
    pub(in super::super) fn unpack(bits: u128) -> Option<Packed> {
        let negative = match get::<u16>(bits, 7) {
            PLUS => false,
            MINUS => true,
            _ => return None,
        };
        let magnitude = (0..7).try_fold(0, |number, place| {
            let digit = get::<u16>(bits, place).checked_sub(ZERO).filter(|&digit| digit < 10)?;
            Some(10 * number + u128::from(digit))
        })?;
        Some(Packed { negative, magnitude })
    }

    /// A number of seven digits.
    pub(in super::super) fn pack(number: Packed) -> u128 {
        build(|place| match place {
            7 if number.negative => MINUS,
            7 => PLUS,
            _ => ZERO + (number.magnitude / 10_u128.pow(6 - place) % 10) as u16,
        })
    }
}

/// Zoned format: sixteen digits, each in the low half of a byte; the high half is the zone, in the last byte the
/// sign. Zones are 3, or F.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zoned {
    pub(super) has_f: bool,
}

impl Zoned {
    fn zone(self) -> u8 {
        if self.has_f { 0xF } else { 0x3 }
    }

    /// The number that `bits` are; `None` if they are none.
    pub(super) fn unpack(self, bits: u128) -> Option<Packed> {
        let last = get::<u8>(bits, 15) >> 4;
        let negative = match self.has_f {
            true => sign(last.into())?,
            false => last & 4 != 0,
        };
        let magnitude = (0..16).try_fold(0, |number, place| {
            let byte = get::<u8>(bits, place);
            let is_digit = byte & 0xF < 10 && (place == 15 || byte >> 4 == self.zone());
            is_digit.then_some(10 * number + u128::from(byte & 0xF))
        })?;
        Some(Packed { negative, magnitude })
    }

    /// A number of sixteen digits.
    pub(super) fn pack(self, number: Packed) -> u128 {
        let sign = match (self.has_f, number.negative) {
            (false, false) => 0x3,
            (false, true) => 0x7,
            (true, false) => 0xC,
            (true, true) => 0xD,
        };
        build(|place| {
            let digit = (number.magnitude / 10_u128.pow(15 - place) % 10) as u8;
            (if place == 15 { sign } else { self.zone() }) << 4 | digit
        })
    }
}
