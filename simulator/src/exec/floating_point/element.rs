//! What the vector facility computes of single-precision elements: always rounded to nearest, and no FPSCR. An
//! operation with a NaN delivers the first one, quieted; an invalid one the default NaN.

use super::arithmetic::add_exactly;
use super::estimate::{reciprocal, reciprocal_square_root, scaled};
use super::fpscr::UX;
use super::fused::multiply_add_exactly;
use super::load::double_from_single;
use super::number::{Number, SIGN, is_infinite, is_nan, is_negative, is_zero, propagate_nan};
use super::round::{Computed, Single, round};
use super::store::single_from_double;

/// Round to nearest, no exception enabled.
const NEAREST: u64 = 0;

/// A result in single format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Element {
    /// The single.
    pub(in crate::exec) bits: u32,
    /// Whether it was denormal before it was rounded.
    pub(in crate::exec) is_tiny: bool,
}

impl From<Computed> for Element {
    fn from(computed: Computed) -> Self {
        let bits = single_from_double(computed.value);
        let is_denormal = (1..0x0080_0000).contains(&(bits & 0x7FFF_FFFF));
        Self { bits, is_tiny: is_denormal || computed.status & UX != 0 }
    }
}

/// `a` + `b`.
pub(in crate::exec) fn add(a: u32, b: u32) -> Element {
    add_exactly::<Single>(double_from_single(a), double_from_single(b), NEAREST).into()
}

/// `a` - `b`: `b` counts with its sign inverted, except as a NaN.
pub(in crate::exec) fn subtract(a: u32, b: u32) -> Element {
    add_exactly::<Single>(double_from_single(a), negated(double_from_single(b)), NEAREST).into()
}

/// `a` x `c` + `b` with one rounding.
pub(in crate::exec) fn multiply_add(a: u32, b: u32, c: u32) -> Element {
    let [a, b, c] = [a, b, c].map(double_from_single);
    multiply_add_exactly::<Single>(a, b, c, NEAREST).into()
}

/// -(`a` x `c` - `b`) with one rounding; a NaN keeps its sign.
pub(in crate::exec) fn negative_multiply_subtract(a: u32, b: u32, c: u32) -> Element {
    let [a, b, c] = [a, b, c].map(double_from_single);
    multiply_add_exactly::<Single>(a, negated(b), c, NEAREST).negated().into()
}

/// The first NaN of `a` and `b`, quieted.
pub(in crate::exec) fn nan(a: u32, b: u32) -> Option<u32> {
    let (nan, _) = propagate_nan(&[double_from_single(a), double_from_single(b)])?;
    Some(single_from_double(nan))
}

/// An estimate of 1 / `b`.
pub(in crate::exec) fn reciprocal_estimate(b: u32) -> Element {
    reciprocal::<Single>(double_from_single(b), NEAREST).into()
}

/// An estimate of 1 / sqrt(`b`).
pub(in crate::exec) fn reciprocal_square_root_estimate(b: u32) -> Element {
    reciprocal_square_root::<Single>(double_from_single(b), NEAREST).into()
}

/// `b` as an integral value by `rounding`.
pub(in crate::exec) fn integral(b: u32, rounding: fn(f64) -> f64) -> u32 {
    let double = double_from_single(b);
    match propagate_nan(&[double]) {
        Some((nan, _)) => single_from_double(nan),
        None => single_from_double(rounding(f64::from_bits(double)).to_bits()),
    }
}

/// `magnitude` / 2^`scale`, negated if it is `negative`.
pub(in crate::exec) fn from_integer(negative: bool, magnitude: u32, scale: u32) -> u32 {
    match Number::from_integer(negative, magnitude.into()) {
        Some(number) => {
            let exponent = number.exponent - scale as i32;
            Element::from(round::<Single>(Number { exponent, ..number }, NEAREST)).bits
        }
        None => 0,
    }
}

/// `b` x 2^`scale` without its fraction, as far as 64 bits hold it; 0 for a NaN.
pub(in crate::exec) fn to_integer(b: u32, scale: u32) -> i64 {
    (f64::from_bits(double_from_single(b)) * f64::from(1_u32 << scale)) as i64
}

/// An estimate of 2 to the power of `b`, of 16 bits as the other estimates; exact if `b` is integral.
pub(in crate::exec) fn power_estimate(b: u32) -> Element {
    let bits = double_from_single(b);
    if let Some((nan, _)) = propagate_nan(&[bits]) {
        return Computed::nan::<Single>(nan).into();
    }
    // Beyond these are infinity and zero anyway.
    let exponent = f64::from_bits(bits).clamp(-1000.0, 1000.0);
    let whole = exponent.round();
    let fraction = exponent - whole;
    if exponent == 1000.0 {
        return Computed::infinity(false).into();
    }
    if exponent == -1000.0 {
        return Computed::zero(false).into();
    }
    // exp(fraction x ln 2) as the first terms of its series, of which the next is below 2^-24.
    let x = fraction * std::f64::consts::LN_2;
    let power = (1..=9).rev().fold(1.0, |sum, n| 1.0 + sum * x / f64::from(n));
    round::<Single>(scaled(power, whole as i32), NEAREST).into()
}

/// An estimate of the logarithm of `b` to the base 2, of 16 bits; exact if `b` is a power of 2.
pub(in crate::exec) fn logarithm_estimate(b: u32) -> Element {
    let bits = double_from_single(b);
    if let Some((nan, _)) = propagate_nan(&[bits]) {
        return Computed::nan::<Single>(nan).into();
    }
    if is_zero(bits) {
        return Computed::infinity(true).into();
    }
    if is_negative(bits) {
        return Computed::invalid(0).into();
    }
    if is_infinite(bits) {
        return Computed::infinity(false).into();
    }
    let Number { exponent, significand, .. } = Number::unpack(bits);
    let fraction = (significand >> 11) as f64 / (1_u64 << 52) as f64;
    // Near 1 the exponent must be 0, so that nothing cancels.
    let (whole, fraction) = match fraction > std::f64::consts::SQRT_2 {
        true => (exponent + 1, fraction / 2.0),
        false => (exponent, fraction),
    };
    // log(x) = 2 artanh((x - 1) / (x + 1)), as the first terms of its series.
    let z = (fraction - 1.0) / (fraction + 1.0);
    let sum = (0..8).rev().fold(0.0, |sum, n| sum * z * z + 1.0 / f64::from(2 * n + 1));
    let logarithm = f64::from(whole) + 2.0 * std::f64::consts::LOG2_E * z * sum;
    if logarithm == 0.0 {
        return Computed::zero(false).into();
    }
    round::<Single>(scaled(logarithm, 0), NEAREST).into()
}

/// The double with the other sign, unless it is a NaN.
fn negated(double: u64) -> u64 {
    if is_nan(double) { double } else { double ^ SIGN }
}

#[cfg(test)]
mod tests {
    use super::{logarithm_estimate, power_estimate};

    /// Numbers of all magnitudes, from an additive generator.
    fn operands() -> impl Iterator<Item = f32> {
        (0..20_000_u32).map(|index| f32::from_bits(index.wrapping_mul(0x9E37_79B9)))
    }

    #[test]
    fn powers_are_within_a_sixteenth() {
        for operand in operands().filter(|operand| operand.abs() < 120.0) {
            let estimate = f64::from(f32::from_bits(power_estimate(operand.to_bits()).bits));
            let exact = f64::from(operand).exp2();
            assert!((estimate / exact - 1.0).abs() < 1.0 / 16.0, "{operand}: {estimate}, {exact}");
        }
        for exponent in -126_i16..=127 {
            let power = power_estimate(f32::from(exponent).to_bits()).bits;
            assert_eq!(power, u32::from((exponent + 127) as u16) << 23);
        }
    }

    #[test]
    fn logarithms_are_within_a_thirty_second_or_an_eighth_of_themselves() {
        for operand in operands().filter(|operand| operand.is_normal() && *operand > 0.0) {
            let estimate = f64::from(f32::from_bits(logarithm_estimate(operand.to_bits()).bits));
            let exact = f64::from(operand).log2();
            let error = (estimate - exact).abs();
            assert!(
                error <= 1.0 / 32.0 && error <= exact.abs() / 8.0,
                "{operand}: {estimate}, {exact}"
            );
        }
        for exponent in -126_i16..=127 {
            let logarithm = logarithm_estimate(u32::from((exponent + 127) as u16) << 23).bits;
            assert_eq!(f32::from_bits(logarithm), f32::from(exponent));
        }
    }
}
