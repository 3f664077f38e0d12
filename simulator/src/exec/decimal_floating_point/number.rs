//! A decimal datum taken apart, and the rules for NaNs.

use crate::exec::floating_point::fpscr::VXSNAN;

/// What kind of datum it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Finite,
    Infinity,
    QuietNan,
    SignallingNan,
}

/// A datum: the number ±`coefficient` x 10^`exponent`, or a special one, whose coefficient holds the
/// digits of the trailing significand (the payload of a NaN) and whose exponent is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) class: Class,
    pub(super) exponent: i32,
    pub(super) coefficient: u128,
}

impl Decimal {
    /// What an invalid operation delivers.
    pub(super) const DEFAULT_NAN: Self =
        Self { negative: false, class: Class::QuietNan, exponent: 0, coefficient: 0 };

    pub(super) fn finite(negative: bool, exponent: i32, coefficient: u128) -> Self {
        Self { negative, class: Class::Finite, exponent, coefficient }
    }

    pub(super) fn infinity(negative: bool) -> Self {
        Self { negative, class: Class::Infinity, exponent: 0, coefficient: 0 }
    }

    pub(super) fn is_finite(self) -> bool {
        self.class == Class::Finite
    }

    pub(super) fn is_infinite(self) -> bool {
        self.class == Class::Infinity
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self.class, Class::QuietNan | Class::SignallingNan)
    }

    pub(super) fn is_signalling(self) -> bool {
        self.class == Class::SignallingNan
    }

    pub(super) fn is_zero(self) -> bool {
        self.is_finite() && self.coefficient == 0
    }

    /// A NaN made quiet.
    fn quieted(self) -> Self {
        Self { class: Class::QuietNan, ..self }
    }
}

/// The NaN that an operation on `operands` delivers, and VXSNAN if one of them signals; `None` if none
/// is a NaN. One that signals comes before one that does not.
pub(super) fn propagate_nan(operands: &[Decimal]) -> Option<(Decimal, u64)> {
    let find = |is_it: fn(Decimal) -> bool| operands.iter().copied().find(|&datum| is_it(datum));
    if let Some(signalling) = find(Decimal::is_signalling) {
        return Some((signalling.quieted(), VXSNAN));
    }
    find(Decimal::is_nan).map(|nan| (nan, 0))
}

/// 10^`exponent`, at most 38.
pub(super) const fn power(exponent: u32) -> u128 {
    10_u128.pow(exponent)
}

/// How many digits `coefficient` has; zero has none.
pub(super) fn count_digits(coefficient: u128) -> u32 {
    coefficient.checked_ilog10().map_or(0, |log| log + 1)
}
