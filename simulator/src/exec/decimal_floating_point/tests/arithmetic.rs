//! Values of the arithmetic: against exact integers, and by identities.

use std::cmp::Ordering;

use ethnum::I256;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

use super::super::arithmetic::{add, divide, multiply, subtract};
use super::super::compare::order;
use super::super::convert::integer;
use super::super::format::{EXTENDED, LONG};
use super::super::number::{Class, Decimal, propagate_nan};
use super::super::operand::Computed;
use super::super::round::Rounding;
use super::{extended, long};
use crate::exec::floating_point::fpscr::{
    DRN, FI, OX, VXCVI, VXIDI, VXIMZ, VXISI, VXSNAN, VXZDZ, ZX,
};

const TOWARD_ZERO: u64 = DRN.set(0, 1);
const DOWN: u64 = DRN.set(0, 3);

fn number(value: i128) -> Decimal {
    Decimal::finite(value < 0, 0, value.unsigned_abs())
}

fn exact(datum: Decimal) -> Computed {
    Computed::exact(datum)
}

/// The ideal exponent is that of school arithmetic, and what does not fit moves as little as it must.
#[test]
fn results_have_the_form_that_is_nearest_to_the_ideal() {
    let ten = Decimal::finite(false, -1, 100);
    let two = Decimal::finite(false, -2, 200);
    assert_eq!(add(LONG, ten, two, 0), exact(Decimal::finite(false, -2, 1200)));
    assert_eq!(multiply(LONG, ten, two, 0), exact(Decimal::finite(false, -3, 20_000)));
    assert_eq!(divide(LONG, ten, two, 0), exact(Decimal::finite(false, 0, 5)));
    assert_eq!(divide(LONG, two, ten, 0), exact(Decimal::finite(false, -1, 2)));
    // One with sixteen digits, because the ideal exponent would take more of them.
    let far = Decimal::finite(false, -300, 0);
    let one = number(1);
    assert_eq!(add(LONG, one, far, 0), exact(Decimal::finite(false, -15, 1_000_000_000_000_000)));
    // A zero has no digits that would have to fit; its exponent is clamped.
    let zero = Decimal::finite(false, 300, 0);
    assert_eq!(multiply(LONG, zero, zero, 0), exact(Decimal::finite(false, 369, 0)));
    assert_eq!(divide(LONG, far, zero, 0).datum, Decimal::DEFAULT_NAN);
    assert_eq!(divide(LONG, far, number(1), 0), exact(Decimal::finite(false, -300, 0)));
    // Zeros are written out where the exponent would be too great.
    let large = Decimal::finite(false, 369, 7);
    assert_eq!(
        multiply(LONG, large, Decimal::finite(false, 3, 1), 0),
        exact(Decimal::finite(false, 369, 7000))
    );
}

#[test]
fn a_vanishing_sum_is_negative_only_when_rounding_down() {
    for (fpscr, negative) in [(0, false), (TOWARD_ZERO, false), (DOWN, true)] {
        let vanished = subtract(LONG, number(5), number(5), fpscr);
        assert_eq!(vanished, exact(Decimal::finite(negative, 0, 0)));
    }
    let minus_zero = Decimal::finite(true, 0, 0);
    assert_eq!(add(LONG, minus_zero, minus_zero, 0), exact(minus_zero));
    assert_eq!(subtract(LONG, minus_zero, number(0), 0), exact(minus_zero));
}

#[test]
fn invalid_operations_and_division_by_zero() {
    let (plus, minus) = (Decimal::infinity(false), Decimal::infinity(true));
    let invalid = Computed::invalid;
    assert_eq!(add(LONG, plus, minus, 0), invalid(VXISI));
    assert_eq!(subtract(LONG, plus, plus, 0), invalid(VXISI));
    assert_eq!(subtract(LONG, plus, minus, 0), exact(plus));
    assert_eq!(multiply(LONG, number(0), minus, 0), invalid(VXIMZ));
    assert_eq!(multiply(LONG, number(-3), minus, 0), exact(plus));
    assert_eq!(divide(LONG, minus, plus, 0), invalid(VXIDI));
    assert_eq!(divide(LONG, number(0), number(0), 0), invalid(VXZDZ));
    assert_eq!(divide(LONG, number(-1), number(0), 0), Computed { datum: minus, status: ZX });
    assert_eq!(divide(LONG, number(-1), plus, 0), exact(Decimal::finite(true, -398, 0)));
}

#[test]
fn a_signalling_nan_goes_before_a_quiet_one() {
    let nan = |class, payload| Decimal { class, ..number(payload) };
    let (quiet, signalling) = (nan(Class::QuietNan, 5), nan(Class::SignallingNan, 7));
    assert_eq!(propagate_nan(&[quiet, signalling]), Some((nan(Class::QuietNan, 7), VXSNAN)));
    assert_eq!(propagate_nan(&[quiet, nan(Class::QuietNan, 6)]), Some((quiet, 0)));
    assert_eq!(propagate_nan(&[number(1), quiet]), Some((quiet, 0)));
    assert_eq!(propagate_nan(&[number(1), number(2)]), None);
    // The sign of a NaN stays in a subtraction.
    assert_eq!(subtract(LONG, number(1), quiet, 0), exact(quiet));
}

#[test]
fn integers_end_at_the_signed_doublewords() {
    let to_integer = |value: i128| integer(EXTENDED, number(value), Rounding::NearestEven);
    assert_eq!(to_integer(i64::MAX.into()), (i64::MAX as u64, 0));
    assert_eq!(to_integer(i128::from(i64::MAX) + 1), (i64::MAX as u64, VXCVI));
    assert_eq!(to_integer(i64::MIN.into()), (1 << 63, 0));
    assert_eq!(to_integer(i128::from(i64::MIN) - 1), (1 << 63, VXCVI));
    let huge = Decimal::finite(false, 6000, 1);
    assert_eq!(integer(EXTENDED, huge, Rounding::Up), (i64::MAX as u64, VXCVI));
    let none = Decimal::finite(true, 6000, 0);
    assert_eq!(integer(EXTENDED, none, Rounding::Up), (0, 0));
    assert_eq!(integer(LONG, Decimal::infinity(true), Rounding::Up), (1 << 63, VXCVI));
    assert_eq!(integer(LONG, Decimal::DEFAULT_NAN, Rounding::Up), (1 << 63, VXCVI));
}

/// `datum` in units of 10^`exponent`, which is not above its own exponent.
fn in_units(datum: Decimal, exponent: i32) -> I256 {
    let magnitude =
        I256::from(datum.coefficient) * I256::new(10).pow((datum.exponent - exponent) as u32);
    if datum.negative { -magnitude } else { magnitude }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn sums_of_integers_are_sums(a in any::<i32>(), b in any::<i32>()) {
        let (a, b) = (i128::from(a), i128::from(b));
        prop_assert_eq!(add(LONG, number(a), number(b), 0), exact(number(a + b)));
        prop_assert_eq!(subtract(LONG, number(a), number(b), 0), exact(number(a - b)));
        let product = multiply(EXTENDED, number(a), number(b), 0);
        prop_assert_eq!(Decimal { negative: a * b < 0, ..product.datum }, number(a * b));
    }

    /// Truncated sums and quotients are the exact ones without what is behind their last digit.
    #[test]
    fn truncated_results_are_less_than_a_unit_off(a in extended(), b in extended(), distance in -30_i32..30) {
        let b = Decimal { exponent: (a.exponent + distance).clamp(-6176, 6111), ..b };
        let least = a.exponent.min(b.exponent);
        let Computed { datum: sum, status } = add(EXTENDED, a, b, TOWARD_ZERO);
        if status & OX == 0 && sum.exponent >= least {
            let rest = in_units(a, least) + in_units(b, least) - in_units(sum, least);
            prop_assert!(rest.abs() < I256::new(10).pow((sum.exponent - least) as u32));
            prop_assert_eq!(rest == 0, status & FI == 0);
            prop_assert!(rest == 0 || (rest < 0) == sum.negative);
        }
        if b.is_zero() {
            return Ok(());
        }
        let Computed { datum: quotient, status } = divide(EXTENDED, a, b, TOWARD_ZERO);
        if status & OX == 0 && (-6100..6000).contains(&quotient.exponent) {
            // a = quotient x b + rest, where the rest is less than b times a unit of the quotient.
            let unit = quotient.exponent + b.exponent;
            let product = I256::from(quotient.coefficient) * I256::from(b.coefficient);
            let places = a.exponent - unit;
            if !(-36..=42).contains(&places) {
                return Ok(());
            }
            let scale = I256::new(10).pow(places.unsigned_abs());
            let (dividend, divisor) = (I256::from(a.coefficient), I256::from(b.coefficient));
            let (dividend, product, unit) = if places >= 0 {
                (dividend * scale, product, divisor)
            } else {
                if product >= I256::new(10).pow(40) {
                    return Ok(());
                }
                (dividend, product * scale, divisor * scale)
            };
            let rest = dividend - product;
            prop_assert!(rest >= 0 && rest < unit);
            prop_assert_eq!(rest == 0, status & FI == 0);
        }
    }

    #[test]
    fn the_order_of_operands_does_not_matter(a in long(), b in long(), drn in 0_u64..8) {
        let fpscr = DRN.set(0, drn);
        prop_assert_eq!(add(LONG, a, b, fpscr), add(LONG, b, a, fpscr));
        prop_assert_eq!(multiply(LONG, a, b, fpscr), multiply(LONG, b, a, fpscr));
        prop_assert_eq!(order(a, b), order(b, a).reverse());
    }

    #[test]
    fn what_was_exact_can_be_undone(a in long(), b in long()) {
        let sum = add(EXTENDED, a, b, 0);
        if sum.status == 0 {
            prop_assert!(order(subtract(EXTENDED, sum.datum, b, 0).datum, a).is_eq());
        }
        let product = multiply(EXTENDED, a, b, 0);
        prop_assert_eq!(product.status, 0, "32 digits hold every product of 16");
        if !b.is_zero() {
            prop_assert!(order(divide(EXTENDED, product.datum, b, 0).datum, a).is_eq());
        }
        // The order of two numbers is the sign of their difference.
        let difference = subtract(EXTENDED, a, b, TOWARD_ZERO).datum;
        let expected = match (difference.is_zero(), difference.negative) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            _ => Ordering::Greater,
        };
        prop_assert_eq!(order(a, b), expected);
    }
}
