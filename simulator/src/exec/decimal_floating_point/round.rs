//! From an exact result to a format: rounding, overflow and underflow, and which of the forms of a
//! number is delivered. Power ISA 3.0B Book I 5.5.
//!
//! Tininess is detected before rounding. With overflow or underflow enabled the result is scaled by a
//! power of ten so that it fits.

use std::cmp::Ordering;

use arch::instruction::Word;
use ethnum::U256;

use super::format::Format;
use super::number::{Decimal, count_digits, power};
use super::operand::Computed;
use crate::exec::floating_point::fpscr::{DRN, FI, FR, OE, OX, UE, UX, XX};

/// How a result that lies between two representable numbers is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    NearestEven,
    TowardZero,
    Up,
    Down,
    NearestTiesAway,
    NearestTiesTowardZero,
    AwayFromZero,
    /// Toward zero, but a last digit 0 or 5 is incremented: a later rounding to fewer digits then gives
    /// what one rounding would have given.
    PrepareForShorter,
}

impl Rounding {
    /// What FPSCR\[DRN\] says.
    pub(super) fn of(fpscr: u64) -> Self {
        [
            Self::NearestEven,
            Self::TowardZero,
            Self::Up,
            Self::Down,
            Self::NearestTiesAway,
            Self::NearestTiesTowardZero,
            Self::AwayFromZero,
            Self::PrepareForShorter,
        ][DRN.get(fpscr) as usize]
    }

    /// What RMC says, in the instructions that have no R.
    pub(super) fn immediate(i: Word, fpscr: u64) -> Self {
        match i.rmc() {
            0 => Self::NearestEven,
            1 => Self::TowardZero,
            2 => Self::NearestTiesAway,
            _ => Self::of(fpscr),
        }
    }

    /// What R and RMC say.
    pub(super) fn immediate_with_r(i: Word, fpscr: u64) -> Self {
        match (i.r(), i.rmc()) {
            (false, _) => Self::immediate(i, fpscr),
            (true, 0) => Self::Up,
            (true, 1) => Self::Down,
            (true, 2) => Self::AwayFromZero,
            (true, _) => Self::NearestTiesTowardZero,
        }
    }

    /// Whether a magnitude that is not exact is incremented: what lies behind `digit`, its last, is
    /// less or greater than half of a unit, or just half.
    fn increments(self, negative: bool, digit: u128, rest: Ordering) -> bool {
        match self {
            Self::NearestEven => rest.is_gt() || rest.is_eq() && !digit.is_multiple_of(2),
            Self::NearestTiesAway => rest.is_ge(),
            Self::NearestTiesTowardZero => rest.is_gt(),
            Self::TowardZero => false,
            Self::AwayFromZero => true,
            Self::Up => !negative,
            Self::Down => negative,
            Self::PrepareForShorter => digit.is_multiple_of(5),
        }
    }

    /// Whether an overflow gives the infinity, and not the greatest number.
    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Self::TowardZero | Self::PrepareForShorter => false,
            Self::Up => !negative,
            Self::Down => negative,
            _ => true,
        }
    }
}

/// An exact number: `coefficient` x 10^`exponent`, and beyond its last digit more that is not zero
/// where `has_more`; then it has more digits than any format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) coefficient: U256,
    pub(super) has_more: bool,
}

impl From<Decimal> for Exact {
    fn from(datum: Decimal) -> Self {
        let Decimal { negative, exponent, coefficient, .. } = datum;
        Self { negative, exponent, coefficient: coefficient.into(), has_more: false }
    }
}

/// 10^`exponent`, at most 76.
pub(super) fn wide_power(exponent: u32) -> U256 {
    U256::new(10).pow(exponent)
}

/// How many digits `coefficient`, at most 76 of them, has.
fn wide_digits(coefficient: U256) -> u32 {
    match u128::try_from(coefficient) {
        Ok(coefficient) => count_digits(coefficient),
        Err(_) => 38 + count_digits((coefficient / wide_power(38)).as_u128()),
    }
}

impl Exact {
    /// The coefficient without its last `places` digits, rounded, and FR, FI and XX. What stays has no
    /// more digits than a format.
    pub(super) fn shortened(self, places: u32, rounding: Rounding) -> (u128, u64) {
        let (whole, rest, half) = if places > wide_digits(self.coefficient) {
            // Less than a tenth of a unit.
            (U256::ZERO, self.coefficient, U256::MAX)
        } else {
            let unit = wide_power(places);
            (self.coefficient / unit, self.coefficient % unit, unit / 2)
        };
        let whole = whole.as_u128();
        if rest == 0 && !self.has_more {
            return (whole, 0);
        }
        // `has_more` comes with more digits than a format has, and so with places: `half` is not zero.
        let order = match rest.cmp(&half) {
            Ordering::Equal if self.has_more => Ordering::Greater,
            order => order,
        };
        if rounding.increments(self.negative, whole % 10, order) {
            (whole + 1, FI | XX | FR)
        } else {
            (whole, FI | XX)
        }
    }
}

/// `exact` in `format`. Of the forms of an exact result it is the one whose exponent is nearest to
/// `ideal`, of an inexact one that with the least exponent.
pub(super) fn round(format: &Format, exact: Exact, ideal: i32, fpscr: u64) -> Computed {
    let Exact { negative, exponent, coefficient, .. } = exact;
    let digits = wide_digits(coefficient);
    if digits == 0 {
        return Computed::exact(Decimal::finite(negative, format.clamp(ideal), 0));
    }
    let rounding = Rounding::of(fpscr);
    let is_tiny = exponent + digits as i32 - 1 < format.least_leading();
    let mut places = digits.saturating_sub(format.digits());
    if is_tiny && fpscr & UE == 0 {
        places = places.max((format.least_exponent() - exponent).max(0) as u32);
    }
    let (mut coefficient, mut status) = exact.shortened(places, rounding);
    let mut exponent = exponent + places as i32;
    if coefficient == power(format.digits()) {
        coefficient /= 10;
        exponent += 1;
    }
    let mut scale = 0;
    if is_tiny {
        if fpscr & UE != 0 {
            status |= UX;
            scale = format.adjustment;
        } else if status & FI != 0 {
            status |= UX;
        }
    } else if exponent + count_digits(coefficient) as i32 - 1 > format.greatest_leading() {
        if fpscr & OE == 0 {
            return overflow(format, negative, rounding);
        }
        status |= OX;
        scale = -format.adjustment;
    }
    exponent += scale;
    if status & FI == 0 {
        (coefficient, exponent) = nearest_form(format, coefficient, exponent, ideal + scale);
    }
    Computed { datum: Decimal::finite(negative, exponent, coefficient), status }
}

/// The form of a number, other than zero, whose exponent is nearest to `ideal`.
fn nearest_form(
    format: &Format,
    mut coefficient: u128,
    mut exponent: i32,
    ideal: i32,
) -> (u128, i32) {
    let ideal = format.clamp(ideal);
    while exponent > ideal && coefficient < power(format.digits() - 1) {
        coefficient *= 10;
        exponent -= 1;
    }
    while exponent < ideal && coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    (coefficient, exponent)
}

/// The result of an overflow that is not enabled.
fn overflow(format: &Format, negative: bool, rounding: Rounding) -> Computed {
    let status = OX | XX | FI;
    if rounding.overflows_to_infinity(negative) {
        return Computed { datum: Decimal::infinity(negative), status: status | FR };
    }
    let greatest = power(format.digits()) - 1;
    Computed { datum: Decimal::finite(negative, format.greatest_exponent(), greatest), status }
}
