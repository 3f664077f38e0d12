//! What must hold between the rounding modes, and between roundings to different lengths.

use std::cmp::Ordering;

use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use super::super::arithmetic::{Operation, add, divide, multiply, subtract};
use super::super::compare::order;
use super::super::format::{EXTENDED, Format, LONG};
use super::super::number::Decimal;
use super::super::operand::Computed;
use super::super::quantize::{integral, quantize, reround};
use super::super::round::{Rounding, round};
use super::{extended, long};
use crate::exec::floating_point::fpscr::{DRN, FI, FR, OX, UX, XX};

const OPERATIONS: [Operation; 4] = [add, subtract, multiply, divide];

fn mode(drn: u64) -> u64 {
    DRN.set(0, drn)
}

fn magnitude(datum: Decimal) -> Decimal {
    Decimal { negative: false, ..datum }
}

/// FR, FI, XX and UX say what the eight rounding modes show.
fn check_modes(format: &Format, operation: &dyn Fn(u64) -> Computed) -> Result<(), String> {
    let results = [0, 1, 2, 3, 4, 5, 6, 7].map(|drn| operation(mode(drn)));
    if results.iter().any(|result| !result.datum.is_finite() || result.status & OX != 0) {
        return Ok(());
    }
    let [nearest, toward_zero, up, down, ties_away, ties_to_zero, away, prepared] = results;
    let is_inexact = order(away.datum, toward_zero.datum) != Ordering::Equal;
    let check = |condition: bool, what: &str| {
        if condition { Ok(()) } else { Err(format!("{what}: {results:?}")) }
    };
    for result in results {
        let is_up = order(magnitude(result.datum), magnitude(toward_zero.datum)).is_gt();
        check((result.status & FI != 0) == is_inexact, "FI")?;
        check((result.status & XX != 0) == is_inexact, "XX")?;
        check((result.status & FR != 0) == is_up, "FR")?;
        let is_either = [away, toward_zero].iter().any(|end| end.datum == result.datum)
            || order(result.datum, away.datum).is_eq();
        check(is_either, "neither neighbour")?;
        let is_below = format.is_subnormal(toward_zero.datum) || toward_zero.datum.is_zero();
        check((result.status & UX != 0) == (is_inexact && is_below), "UX")?;
    }
    check(order(down.datum, up.datum).is_le(), "down is above up")?;
    check(
        is_inexact == order(down.datum, up.datum).is_ne(),
        "the directed modes do not show that it is inexact",
    )?;
    let distance = order(magnitude(ties_away.datum), magnitude(ties_to_zero.datum));
    check(distance.is_ge(), "ties")?;
    if distance.is_eq() {
        check(nearest.datum == ties_away.datum, "nearest, no tie")?;
    } else {
        check(nearest.datum.coefficient.is_multiple_of(2), "nearest, a tie")?;
    }
    if is_inexact {
        let is_incremented = toward_zero.datum.coefficient.is_multiple_of(5);
        let expected = if is_incremented { away } else { toward_zero };
        check(prepared.datum == expected.datum, "prepared")?;
    }
    Ok(())
}

#[test]
fn an_overflow_is_the_infinity_or_the_greatest_number() {
    let greatest = Decimal::finite(false, 369, 9_999_999_999_999_999);
    let half = Decimal::finite(false, 368, 5);
    for (drn, to_infinity, of_negative) in [
        (0, true, true),
        (1, false, false),
        (2, true, false),
        (3, false, true),
        (4, true, true),
        (5, false, false),
        (6, true, true),
        (7, false, false),
    ] {
        for negative in [false, true] {
            let sign = |datum: Decimal| Decimal { negative, ..datum };
            let Computed { datum, status } = add(LONG, sign(greatest), sign(half), mode(drn));
            let expected = if negative { of_negative } else { to_infinity };
            // Half a unit beyond the greatest number is a tie, and so no overflow in two modes.
            if matches!(drn, 1 | 5 | 7) || !expected {
                assert_eq!((datum, status), (sign(greatest), XX | FI), "DRN {drn}");
            } else {
                assert_eq!((datum, status), (Decimal::infinity(negative), OX | XX | FI | FR));
            }
            let Computed { datum, status } = multiply(LONG, sign(greatest), greatest, mode(drn));
            let goes = if drn == 5 { true } else { expected };
            let limit = if goes { Decimal::infinity(negative) } else { sign(greatest) };
            assert_eq!(datum, limit, "DRN {drn}");
            assert_eq!(status, OX | XX | FI | if goes { FR } else { 0 });
        }
    }
}

/// Tininess counts before rounding: this result is rounded up to the least normal number.
#[test]
fn a_tiny_result_that_rounds_to_a_normal_number_is_an_underflow() {
    let almost = Decimal::finite(false, -390, 9_999_999_999_999_999);
    let small = Decimal::finite(false, -9, 1);
    let Computed { datum, status } = multiply(LONG, almost, small, mode(0));
    assert_eq!(datum, Decimal::finite(false, -398, 1_000_000_000_000_000));
    assert_eq!(status, UX | XX | FI | FR);
    // What is exact is no underflow.
    let Computed { datum, status } = multiply(LONG, Decimal::finite(false, -398, 70), small, 0);
    assert_eq!((datum, status), (Decimal::finite(false, -398, 0), UX | XX | FI));
    let tenth = Decimal::finite(false, -1, 1);
    let Computed { datum, status } = multiply(LONG, Decimal::finite(false, -398, 70), tenth, 0);
    assert_eq!((datum, status), (Decimal::finite(false, -398, 7), 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn status_says_what_the_rounding_modes_show(a in long(), b in long(), c in extended(), d in extended()) {
        for operation in OPERATIONS {
            prop_assert_eq!(check_modes(LONG, &|fpscr| operation(LONG, a, b, fpscr)), Ok(()));
            prop_assert_eq!(check_modes(EXTENDED, &|fpscr| operation(EXTENDED, c, d, fpscr)), Ok(()));
        }
    }

    /// The mode is made for this: to 16 digits and then to fewer is as at once to fewer.
    #[test]
    fn a_prepared_number_can_be_rounded_again(c in extended(), digits in 1_u32..16, rounding in 0_u64..7) {
        let c = Decimal { exponent: c.exponent.clamp(-300, 300), ..c };
        let rounding = Rounding::of(mode(rounding));
        let prepared = round(LONG, c.into(), c.exponent, mode(7)).datum;
        let twice = reround(LONG, digits, prepared, rounding);
        let once = reround(EXTENDED, digits, c, rounding);
        prop_assert!(order(twice.datum, once.datum).is_eq(), "{twice:?} {once:?}");
    }

    #[test]
    fn quantizing_keeps_the_value_or_says_so(a in long(), b in long(), rounding in 0_u64..8) {
        let rounding = Rounding::of(mode(rounding));
        let Computed { datum, status } = quantize(LONG, a, b, rounding);
        if datum.is_finite() {
            prop_assert_eq!(datum.exponent, a.exponent);
            prop_assert_eq!(status & FI == 0, order(datum, b).is_eq());
            prop_assert_eq!(status & FR != 0, order(magnitude(datum), magnitude(b)).is_gt());
        }
        let whole = integral(LONG, b, rounding).datum;
        let zero = Decimal::finite(false, 0, 0);
        let expected = if b.exponent >= 0 { b } else { quantize(LONG, zero, b, rounding).datum };
        prop_assert_eq!(whole, expected);
    }
}
