//! Values and status of the arithmetic: against the host where it rounds to nearest, by what must hold
//! between the rounding modes where it does not.

use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use super::super::arithmetic::{
    add, add_exactly, divide, divide_exactly, multiply, multiply_exactly, square_root,
    square_root_exactly, subtract,
};
use super::super::estimate::{reciprocal, reciprocal_square_root};
use super::super::fpscr::{FI, FR, RN, UX};
use super::super::fused::{multiply_add, multiply_add_exactly};
use super::super::number::Number;
use super::super::round::{Computed, Double, Format, Single, round};
use super::{operand, single_operand};

/// The last bit that stays and the first that goes are both set, and all between them and the result
/// are clear: nothing but the sticky bit tells that the result is inexact.
#[test]
fn what_is_shifted_out_of_a_tiny_number_counts() {
    for distance in 1..8 {
        let significand = 1 << 63 | 3 << (distance - 1);
        let number = Number { negative: false, exponent: Double::LEAST - distance, significand };
        let Computed { value, status } = round::<Double>(number, 0);
        assert_eq!(value, 1 << (52 - distance));
        assert_eq!(status & (FI | FR | UX), FI | UX, "shifted by {distance}");
    }
}

/// An operation with its operands, waiting for FPSCR.
type Operation<'a> = &'a dyn Fn(u64) -> Computed;

fn same(ours: Computed, host: f64) -> bool {
    ours.value == host.to_bits() || host.is_nan() && f64::from_bits(ours.value).is_nan()
}

/// FI, FR and UX say what the four rounding modes show.
fn modes_agree(operation: Operation<'_>) -> bool {
    let [nearest, toward_zero, up, down] = [0, 1, 2, 3].map(operation);
    let value = |computed: Computed| f64::from_bits(computed.value);
    if value(nearest).is_nan()
        || value(nearest).is_infinite()
        || value(up).is_infinite()
        || value(down).is_infinite()
    {
        return true;
    }
    let is_inexact = value(up) != value(down);
    [nearest, toward_zero, up, down].into_iter().all(|computed| {
        let is_up = value(computed).abs() > value(toward_zero).abs();
        (computed.status & FI != 0) == is_inexact
            && (computed.status & FR != 0) == is_up
            && (computed.value == up.value || computed.value == down.value)
            && (computed.status & UX == 0 || is_inexact)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn double_results_are_the_hosts(a in operand(), b in operand(), c in operand()) {
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        prop_assert!(same(add_exactly::<Double>(a, b, 0), x + y));
        prop_assert!(same(subtract::<Double>(a, b, 0), x - y));
        prop_assert!(same(multiply_exactly::<Double>(a, b, 0), x * y));
        prop_assert!(same(divide_exactly::<Double>(a, b, 0), x / y));
        prop_assert!(same(square_root_exactly::<Double>(a, 0), x.sqrt()));
        prop_assert!(same(multiply_add_exactly::<Double>(a, b, c, 0), x.mul_add(z, y)));
    }

    #[test]
    fn single_results_are_the_hosts(
        a in single_operand(), b in single_operand(), c in single_operand(),
    ) {
        let [x, y, z] = [a, b, c].map(|bits| f64::from_bits(bits) as f32);
        prop_assert!(same(add_exactly::<Single>(a, b, 0), (x + y).into()));
        prop_assert!(same(multiply_exactly::<Single>(a, b, 0), (x * y).into()));
        prop_assert!(same(divide_exactly::<Single>(a, b, 0), (x / y).into()));
        prop_assert!(same(square_root_exactly::<Single>(a, 0), x.sqrt().into()));
        prop_assert!(same(multiply_add_exactly::<Single>(a, b, c, 0), x.mul_add(z, y).into()));
    }

    #[test]
    fn status_says_what_the_rounding_modes_show(a in operand(), b in operand(), c in operand()) {
        prop_assert!(modes_agree(&|rn| add::<Double>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| add::<Single>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| multiply::<Double>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| multiply::<Single>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| divide::<Double>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| divide::<Single>(a, b, rn)));
        prop_assert!(modes_agree(&|rn| square_root::<Double>(a, rn)));
        prop_assert!(modes_agree(&|rn| square_root::<Single>(a, rn)));
        prop_assert!(modes_agree(&|rn| multiply_add::<Double>(a, b, c, rn)));
        prop_assert!(modes_agree(&|rn| multiply_add::<Single>(a, b, c, rn)));
    }

    #[test]
    fn the_quick_way_gives_what_the_long_way_gives(
        a in operand(), b in operand(), c in operand(),
    ) {
        prop_assert_eq!(add::<Double>(a, b, 0), add_exactly::<Double>(a, b, 0));
        prop_assert_eq!(add::<Single>(a, b, 0), add_exactly::<Single>(a, b, 0));
        prop_assert_eq!(multiply::<Double>(a, b, 0), multiply_exactly::<Double>(a, b, 0));
        prop_assert_eq!(multiply::<Single>(a, b, 0), multiply_exactly::<Single>(a, b, 0));
        prop_assert_eq!(divide::<Double>(a, b, 0), divide_exactly::<Double>(a, b, 0));
        prop_assert_eq!(divide::<Single>(a, b, 0), divide_exactly::<Single>(a, b, 0));
        prop_assert_eq!(square_root::<Double>(a, 0), square_root_exactly::<Double>(a, 0));
        prop_assert_eq!(square_root::<Single>(a, 0), square_root_exactly::<Single>(a, 0));
        prop_assert_eq!(
            multiply_add::<Double>(a, b, c, 0), multiply_add_exactly::<Double>(a, b, c, 0)
        );
        prop_assert_eq!(
            multiply_add::<Single>(a, b, c, 0), multiply_add_exactly::<Single>(a, b, c, 0)
        );
    }

    /// `ftdiv` and `ftsqrt` promise an error of at most 2^-14.
    #[test]
    fn estimates_are_as_good_as_promised(bits in operand(), rn in 0_u64..4) {
        let b = f64::from_bits(bits);
        let is_close = |ours: Computed, exact: f64| {
            let value = f64::from_bits(ours.value);
            (value - exact).abs() <= exact.abs() / 16384.0
        };
        // Elsewhere the reciprocal is denormal or overflows.
        if (1e-300..1e300).contains(&b.abs()) {
            prop_assert!(is_close(reciprocal::<Double>(bits, rn), 1.0 / b));
        }
        if (1e-38..1e37).contains(&b.abs()) {
            prop_assert!(is_close(reciprocal::<Single>(bits, rn), 1.0 / b));
        }
        if b > 0.0 && b.is_finite() {
            prop_assert!(is_close(reciprocal_square_root::<Double>(bits, rn), 1.0 / b.sqrt()));
        }
    }

    /// Near an exact cancellation, where the sum keeps only what a product's lower half holds.
    #[test]
    fn a_cancelled_product_keeps_its_lower_half(
        a in operand(), c in operand(), distance in -2_i64..3, rn in 0_u64..4,
    ) {
        let product = f64::from_bits(a) * f64::from_bits(c);
        if !product.is_normal() {
            return Ok(());
        }
        let b = (-product).to_bits().wrapping_add_signed(distance);
        let fpscr = RN.set(0, rn);
        let ours = multiply_add::<Double>(a, b, c, fpscr);
        prop_assert_eq!(ours, multiply_add_exactly::<Double>(a, b, c, fpscr));
        if rn == 0 {
            let host = f64::from_bits(a).mul_add(f64::from_bits(c), f64::from_bits(b));
            prop_assert!(same(ours, host));
        }
    }
}
