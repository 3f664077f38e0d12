//! The common case on the host's own arithmetic: rounding to nearest, and a result well inside the
//! normal numbers of its format. Anything else is `None` and goes the long way through `round`.
//!
//! The host rounds as the architecture does; what it does not give, whether and in which direction it
//! rounded, is the sign of the error, which floating-point arithmetic can compute without error of its
//! own: Knuth's two-sum, the fused product, and Boldo and Muller's error of a fused multiply-add. A single
//! result goes through a double that was rounded to odd, so that rounding it again does no harm.

use super::fpscr::{FI, FPRF, FR, XX};
use super::number::SIGN;
use super::round::{Computed, Format, Single};

/// 2^-900: errors of results not smaller than this are normal numbers.
const LEAST: f64 = f64::from_bits((1023 - 900) << 52);
/// 2^1000.
const GREATEST: f64 = f64::from_bits((1023 + 1000) << 52);

/// Whether `value` is a number with room for its error below and above.
#[inline]
fn is_tame(value: f64) -> bool {
    let magnitude = value.to_bits() & !SIGN;
    (LEAST.to_bits()..GREATEST.to_bits()).contains(&magnitude)
}

/// `a` + `b` and the error: their sum is exact.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_in_sum = sum - a;
    (sum, (a - (sum - b_in_sum)) + (b - b_in_sum))
}

/// `value` delivered in format `F`, if it is well inside; the exact result lies in the direction of
/// `error` from it.
#[inline]
fn deliverable<F: Format>(value: f64, error: f64) -> Option<Computed> {
    if !is_tame(value) {
        return None;
    }
    if F::IS_SINGLE {
        return single(value, error);
    }
    Some(computed(value, error))
}

/// As [`deliverable`], for a tame `value` and single format.
#[inline]
fn single(value: f64, error: f64) -> Option<Computed> {
    const RANGE: std::ops::Range<f32> = f32::MIN_POSITIVE..f32::MAX;
    let bits = value.to_bits();
    let is_even = bits & 1 == 0;
    let odd = if error == 0.0 || !is_even {
        value
    } else if (error < 0.0) == (value < 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    };
    let rounded = odd as f32;
    // The least normal number may come from a tiny one by rounding.
    let is_inside = rounded.abs() > RANGE.start && rounded.abs() < RANGE.end;
    let rounded = f64::from(rounded);
    is_inside.then(|| computed(rounded, odd - rounded))
}

#[inline]
fn computed(value: f64, error: f64) -> Computed {
    let bits = value.to_bits();
    let class = if bits & SIGN == 0 { 0b00100 } else { 0b01000 };
    let mut status = class << FPRF.shift();
    if error != 0.0 {
        status |= FI | XX;
        if (error.to_bits() ^ bits) & SIGN != 0 {
            status |= FR;
        }
    }
    Computed { value: bits, status }
}

#[inline]
pub(super) fn add<F: Format>(a: u64, b: u64) -> Option<Computed> {
    let (sum, error) = two_sum(f64::from_bits(a), f64::from_bits(b));
    deliverable::<F>(sum, error)
}

#[inline]
pub(super) fn multiply<F: Format>(a: u64, c: u64) -> Option<Computed> {
    let (a, c) = (f64::from_bits(a), f64::from_bits(c));
    let product = a * c;
    deliverable::<F>(product, a.mul_add(c, -product))
}

#[inline]
pub(super) fn divide<F: Format>(a: u64, b: u64) -> Option<Computed> {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    let quotient = a / b;
    let remainder = (-quotient).mul_add(b, a);
    // The remainder is exact only while the dividend is far from the denormal numbers.
    if !is_tame(a) {
        return None;
    }
    deliverable::<F>(quotient, if b < 0.0 { -remainder } else { remainder })
}

#[inline]
pub(super) fn square_root<F: Format>(b: u64) -> Option<Computed> {
    let b = f64::from_bits(b);
    let root = b.sqrt();
    if !is_tame(b) {
        return None;
    }
    deliverable::<F>(root, (-root).mul_add(root, b))
}

#[inline]
pub(super) fn round_to_single(b: u64) -> Option<Computed> {
    deliverable::<Single>(f64::from_bits(b), 0.0)
}

/// (a x c) + b.
#[inline]
pub(super) fn multiply_add<F: Format>(a: u64, b: u64, c: u64) -> Option<Computed> {
    let (a, b, c) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
    let product = a * c;
    if !is_tame(product) || !(is_tame(b) || b == 0.0) {
        return None;
    }
    let sum = a.mul_add(c, b);
    let product_error = a.mul_add(c, -product);
    let (small, smallest) = two_sum(b, product_error);
    let (large, middle) = two_sum(product, small);
    let error = ((large - sum) + middle) + smallest;
    deliverable::<F>(sum, error)
}
