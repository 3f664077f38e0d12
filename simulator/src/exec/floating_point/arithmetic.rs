//! Add, subtract, multiply, divide, square root, round to single: Power ISA 3.0B Book I 4.6.6.1 and
//! 4.6.7.1.

use arch::instruction::{Mnemonic, Word};

use super::deliver::deliver;
use super::fpscr::{VXIDI, VXIMZ, VXISI, VXSQRT, VXZDZ, ZX, rounds_to_nearest};
use super::number::{
    Number, SIGN, Wide, is_finite_nonzero, is_infinite, is_nan, is_negative, is_zero,
    propagate_nan, zero_sum_is_negative,
};
use super::quick;
use super::round::{Computed, Double, Format, Single, round, round_bits, zero_sum};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an arithmetic instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fadd => |t, _, i| dyadic(t, i, i.frb(), add::<Double>),
        Mnemonic::Fadds => |t, _, i| dyadic(t, i, i.frb(), add::<Single>),
        Mnemonic::Fsub => |t, _, i| dyadic(t, i, i.frb(), subtract::<Double>),
        Mnemonic::Fsubs => |t, _, i| dyadic(t, i, i.frb(), subtract::<Single>),
        Mnemonic::Fmul => |t, _, i| dyadic(t, i, i.frc(), multiply::<Double>),
        Mnemonic::Fmuls => |t, _, i| dyadic(t, i, i.frc(), multiply::<Single>),
        Mnemonic::Fdiv => |t, _, i| dyadic(t, i, i.frb(), divide::<Double>),
        Mnemonic::Fdivs => |t, _, i| dyadic(t, i, i.frb(), divide::<Single>),
        Mnemonic::Fsqrt => |t, _, i| monadic(t, i, square_root::<Double>),
        Mnemonic::Fsqrts => |t, _, i| monadic(t, i, square_root::<Single>),
        Mnemonic::Frsp => |t, _, i| monadic(t, i, convert::<Single>),
        _ => return None,
    })
}

/// An operation on FRA and the register `second`.
#[inline]
fn dyadic(
    thread: &mut Thread,
    i: Word,
    second: usize,
    operation: impl Fn(u64, u64, u64) -> Computed,
) -> Outcome {
    let computed = operation(thread.fpr(i.fra()), thread.fpr(second), thread.fpscr);
    deliver(thread, i, computed)
}

/// An operation on FRB.
#[inline]
fn monadic(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> Computed) -> Outcome {
    let computed = operation(thread.fpr(i.frb()), thread.fpscr);
    deliver(thread, i, computed)
}

#[inline]
pub(in crate::exec) fn add<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    if rounds_to_nearest(fpscr)
        && let Some(computed) = quick::add::<F>(a, b)
    {
        return computed;
    }
    add_exactly::<F>(a, b, fpscr)
}

#[inline(never)]
pub(super) fn add_exactly<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    if is_finite_nonzero(a) && is_finite_nonzero(b) {
        return match Wide::from(Number::unpack(a)).plus(Number::unpack(b).into()) {
            Some(sum) => round::<F>(sum.narrow(), fpscr),
            None => Computed::zero(zero_sum_is_negative(fpscr)),
        };
    }
    add_special::<F>(a, b, fpscr)
}

/// FRB counts with its sign inverted, except as a NaN.
#[inline]
pub(in crate::exec) fn subtract<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    add::<F>(a, if is_nan(b) { b } else { b ^ SIGN }, fpscr)
}

#[cold]
fn add_special<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[a, b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    match (is_infinite(a), is_infinite(b)) {
        (true, true) if a != b => return Computed::invalid(VXISI),
        (true, _) => return Computed::infinity(is_negative(a)),
        (_, true) => return Computed::infinity(is_negative(b)),
        _ => {}
    }
    match (is_zero(a), is_zero(b)) {
        (true, true) => zero_sum(is_negative(a), is_negative(b), fpscr),
        (true, false) => round_bits::<F>(b, fpscr),
        _ => round_bits::<F>(a, fpscr),
    }
}

#[inline]
pub(in crate::exec) fn multiply<F: Format>(a: u64, c: u64, fpscr: u64) -> Computed {
    if rounds_to_nearest(fpscr)
        && let Some(computed) = quick::multiply::<F>(a, c)
    {
        return computed;
    }
    multiply_exactly::<F>(a, c, fpscr)
}

#[inline(never)]
pub(super) fn multiply_exactly<F: Format>(a: u64, c: u64, fpscr: u64) -> Computed {
    if is_finite_nonzero(a) && is_finite_nonzero(c) {
        return round::<F>(Number::unpack(a).times(Number::unpack(c)), fpscr);
    }
    multiply_special::<F>(a, c)
}

#[cold]
fn multiply_special<F: Format>(a: u64, c: u64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[a, c]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    let negative = is_negative(a ^ c);
    match (is_infinite(a) || is_infinite(c), is_zero(a) || is_zero(c)) {
        (true, true) => Computed::invalid(VXIMZ),
        (true, false) => Computed::infinity(negative),
        _ => Computed::zero(negative),
    }
}

#[inline]
pub(in crate::exec) fn divide<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    if rounds_to_nearest(fpscr)
        && let Some(computed) = quick::divide::<F>(a, b)
    {
        return computed;
    }
    divide_exactly::<F>(a, b, fpscr)
}

#[inline(never)]
pub(super) fn divide_exactly<F: Format>(a: u64, b: u64, fpscr: u64) -> Computed {
    if is_finite_nonzero(a) && is_finite_nonzero(b) {
        return round::<F>(Number::unpack(a).over(Number::unpack(b)), fpscr);
    }
    divide_special::<F>(a, b)
}

#[cold]
fn divide_special<F: Format>(a: u64, b: u64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[a, b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    let negative = is_negative(a ^ b);
    if is_infinite(a) {
        return if is_infinite(b) {
            Computed::invalid(VXIDI)
        } else {
            Computed::infinity(negative)
        };
    }
    match (is_zero(a), is_zero(b)) {
        (true, true) => Computed::invalid(VXZDZ),
        (false, true) => Computed::infinity(negative).with(ZX),
        _ => Computed::zero(negative),
    }
}

#[inline]
pub(in crate::exec) fn square_root<F: Format>(b: u64, fpscr: u64) -> Computed {
    if rounds_to_nearest(fpscr)
        && let Some(computed) = quick::square_root::<F>(b)
    {
        return computed;
    }
    square_root_exactly::<F>(b, fpscr)
}

#[inline(never)]
pub(super) fn square_root_exactly<F: Format>(b: u64, fpscr: u64) -> Computed {
    if is_finite_nonzero(b) && !is_negative(b) {
        return round::<F>(Number::unpack(b).square_root(), fpscr);
    }
    if let Some((nan, exception)) = propagate_nan(&[b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    match (is_zero(b), is_negative(b)) {
        (true, negative) => Computed::zero(negative),
        (false, true) => Computed::invalid(VXSQRT),
        _ => Computed::infinity(false),
    }
}

/// A number in format `F`.
pub(in crate::exec) fn convert<F: Format>(b: u64, fpscr: u64) -> Computed {
    if F::IS_SINGLE
        && rounds_to_nearest(fpscr)
        && let Some(computed) = quick::round_to_single(b)
    {
        return computed;
    }
    if let Some((nan, exception)) = propagate_nan(&[b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    if is_infinite(b) {
        return Computed::infinity(is_negative(b));
    }
    round_bits::<F>(b, fpscr)
}
