//! Reciprocal and reciprocal square root estimates: Power ISA 3.0B Book I 4.6.6.1.
//!
//! The architecture bounds the error and leaves the value to the processor; `ftdiv` and `ftsqrt` of
//! POWER9 promise 2^-14. Here an estimate is the true value truncated to 16 bits: within the promise, the
//! same on every host, and no better than an estimate, so that software that forgets to refine it shows.
//! Where the architecture leaves them undefined, FR and FI become 0 and XX stays.

use arch::instruction::{Mnemonic, Word};

use super::deliver::deliver;
use super::fpscr::{VXSQRT, ZX};
use super::number::{Number, is_finite_nonzero, is_infinite, is_negative, is_zero, propagate_nan};
use super::round::{Computed, Double, Format, Single, round};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an estimate instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fre => |t, _, i| estimate(t, i, reciprocal::<Double>),
        Mnemonic::Fres => |t, _, i| estimate(t, i, reciprocal::<Single>),
        Mnemonic::Frsqrte => |t, _, i| estimate(t, i, reciprocal_square_root::<Double>),
        Mnemonic::Frsqrtes => |t, _, i| estimate(t, i, reciprocal_square_root::<Single>),
        _ => return None,
    })
}

fn estimate(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> Computed) -> Outcome {
    let computed = operation(thread.fpr(i.frb()), thread.fpscr);
    deliver(thread, i, computed)
}

pub(in crate::exec) fn reciprocal<F: Format>(b: u64, fpscr: u64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    if is_infinite(b) {
        return Computed::zero(is_negative(b));
    }
    if is_zero(b) {
        return Computed::infinity(is_negative(b)).with(ZX);
    }
    let Number { negative, exponent, significand } = Number::unpack(b);
    round::<F>(scaled(1.0 / fraction(significand), -exponent).negate_if(negative), fpscr)
}

pub(in crate::exec) fn reciprocal_square_root<F: Format>(b: u64, fpscr: u64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[b]) {
        return Computed::nan::<F>(nan).with(exception);
    }
    if is_zero(b) {
        return Computed::infinity(is_negative(b)).with(ZX);
    }
    if is_negative(b) {
        return Computed::invalid(VXSQRT);
    }
    if !is_finite_nonzero(b) {
        return Computed::zero(false);
    }
    let Number { exponent, significand, .. } = Number::unpack(b);
    let is_odd = exponent % 2 != 0;
    let square = fraction(significand) * if is_odd { 2.0 } else { 1.0 };
    round::<F>(scaled(1.0 / square.sqrt(), -(exponent >> 1)), fpscr)
}

/// The significand of a double as a number from 1 to 2, which is exact.
fn fraction(significand: u64) -> f64 {
    (significand >> 11) as f64 / (1_u64 << 52) as f64
}

/// `value`, which is normal, truncated to 16 bits, times 2^`exponent`.
pub(super) fn scaled(value: f64, exponent: i32) -> Number {
    const DROPPED: u32 = 53 - 16;
    let number = Number::unpack(value.to_bits() >> DROPPED << DROPPED);
    Number { exponent: number.exponent + exponent, ..number }
}
