//! Tests of decimal floating point that need no other machine to compare with.
//!
//! The bit-for-bit comparison with QEMU is `tests/differential`; what enabled exceptions do to
//! registers is in `simulator/tests/simulator/instructions`.

mod arithmetic;
mod formats;
mod rounding;

use proptest::prelude::{Just, Strategy, any, prop_oneof};

use super::format::{EXTENDED, Format, LONG};
use super::number::{Decimal, power};

/// Finite datums of a format, crowded where arithmetic is difficult.
fn finite(format: &'static Format) -> impl Strategy<Value = Decimal> {
    let limit = power(format.digits());
    let digits = format.digits();
    let coefficient = prop_oneof![
        Just(0),
        (0..digits).prop_map(power),
        (1..=digits).prop_map(|digits| power(digits) - 1),
        (0..digits, 1..10_u128).prop_map(move |(at, digit)| power(at) * digit % limit),
        (0..digits, 0..1000_u128).prop_map(move |(at, digits)| power(at) * digits % limit),
        (0..limit, 1..=digits).prop_map(|(value, digits)| value % power(digits)),
    ];
    let (least, greatest) = (format.least_exponent(), format.greatest_exponent());
    let exponent =
        prop_oneof![-20..20, least..least + 40, greatest - 40..=greatest, least..=greatest];
    (any::<bool>(), exponent, coefficient).prop_map(|(negative, exponent, coefficient)| {
        Decimal::finite(negative, exponent, coefficient)
    })
}

/// Finite datums of DFP Long.
fn long() -> impl Strategy<Value = Decimal> {
    finite(LONG)
}

/// Finite datums of DFP Extended.
fn extended() -> impl Strategy<Value = Decimal> {
    finite(EXTENDED)
}
