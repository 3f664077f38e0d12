//! Maximum and minimum: Power ISA 3.0B Book I 7.6, in three ways to treat NaNs and zeros. None of
//! them changes FPRF, FR or FI.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{operand, scalar_quiet, vector};
use super::float::Float;
use crate::exec::floating_point::fpscr::VXSNAN;
use crate::exec::floating_point::number::{DEFAULT_NAN, INFINITY, is_nan, is_signalling, is_zero};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a maximum or minimum.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsmaxdp => |t, _, i| of_scalar(t, i, ieee::<true>),
        Mnemonic::Xsmindp => |t, _, i| of_scalar(t, i, ieee::<false>),
        Mnemonic::Xsmaxcdp => |t, _, i| of_scalar(t, i, as_in_c::<true>),
        Mnemonic::Xsmincdp => |t, _, i| of_scalar(t, i, as_in_c::<false>),
        Mnemonic::Xsmaxjdp => |t, _, i| of_scalar(t, i, as_in_java::<true>),
        Mnemonic::Xsminjdp => |t, _, i| of_scalar(t, i, as_in_java::<false>),
        Mnemonic::Xvmaxdp => |t, _, i| of_vector::<u64>(t, i, ieee::<true>),
        Mnemonic::Xvmindp => |t, _, i| of_vector::<u64>(t, i, ieee::<false>),
        Mnemonic::Xvmaxsp => |t, _, i| of_vector::<u32>(t, i, ieee::<true>),
        Mnemonic::Xvminsp => |t, _, i| of_vector::<u32>(t, i, ieee::<false>),
        _ => return None,
    })
}

fn of_scalar(thread: &mut Thread, i: Word, choose: fn(u64, u64) -> u64) -> Outcome {
    let (a, b) = (thread.vsr[i.xa()][0], thread.vsr[i.xb()][0]);
    scalar_quiet(thread, i, choose(a, b), exception(a, b))
}

fn of_vector<L: Float>(thread: &mut Thread, i: Word, choose: fn(u64, u64) -> u64) -> Outcome {
    vector(thread, i, |t, n| {
        let (a, b) = (operand::<L>(t, i.xa(), n), operand::<L>(t, i.xb(), n));
        (L::of(choose(a, b)), exception(a, b))
    })
}

fn exception(a: u64, b: u64) -> u64 {
    if is_signalling(a) || is_signalling(b) { VXSNAN } else { 0 }
}

/// A number beats a quiet NaN; a signalling one beats a number. Of two NaNs it is the first.
fn ieee<const IS_MAXIMUM: bool>(a: u64, b: u64) -> u64 {
    const QUIET: u64 = DEFAULT_NAN & !INFINITY;
    match (is_nan(a), is_nan(b)) {
        (true, true) => a | QUIET,
        (true, false) if is_signalling(a) => a | QUIET,
        (false, true) if is_signalling(b) => b | QUIET,
        (true, false) => b,
        (false, true) => a,
        (false, false) => of_numbers::<IS_MAXIMUM>(a, b),
    }
}

/// Of numbers, of which +0 is greater than -0.
fn of_numbers<const IS_MAXIMUM: bool>(a: u64, b: u64) -> u64 {
    match (is_zero(a) && is_zero(b), IS_MAXIMUM) {
        (true, true) => a & b,
        (true, false) => a | b,
        (false, _) => as_in_c::<IS_MAXIMUM>(a, b),
    }
}

/// `a > b ? a : b` for the maximum, `a < b ? a : b` for the minimum: a comparison with a NaN does not
/// hold, and zeros are equal.
fn as_in_c<const IS_MAXIMUM: bool>(a: u64, b: u64) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    if if IS_MAXIMUM { x > y } else { x < y } { a } else { b }
}

/// A NaN beats every number.
fn as_in_java<const IS_MAXIMUM: bool>(a: u64, b: u64) -> u64 {
    match (is_nan(a), is_nan(b)) {
        (true, _) => a,
        (_, true) => b,
        _ => of_numbers::<IS_MAXIMUM>(a, b),
    }
}
