//! Rounding to an integral value in floating-point format: Power ISA 3.0B Book I 7.6.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{element, operand, scalar, vector};
use super::float::Float;
use crate::exec::floating_point::fpscr::{FI, FR, Rounding, XX};
use crate::exec::floating_point::integral::to_integral;
use crate::exec::floating_point::number::{SIGN, is_nan};
use crate::exec::floating_point::round::Computed;
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a rounding instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        // Ties go away from zero here, whatever RN says.
        Mnemonic::Xsrdpi => |t, _, i| of_scalar(t, i, |b, fpscr| to_integral(b, fpscr, f64::round)),
        Mnemonic::Xsrdpiz => {
            |t, _, i| of_scalar(t, i, |b, fpscr| to_integral(b, fpscr, f64::trunc))
        }
        Mnemonic::Xsrdpip => |t, _, i| of_scalar(t, i, |b, fpscr| to_integral(b, fpscr, f64::ceil)),
        Mnemonic::Xsrdpim => {
            |t, _, i| of_scalar(t, i, |b, fpscr| to_integral(b, fpscr, f64::floor))
        }
        Mnemonic::Xsrdpic => |t, _, i| of_scalar(t, i, by_mode),
        Mnemonic::Xvrdpi => |t, _, i| of_vector::<u64>(t, i, |b, f| to_integral(b, f, f64::round)),
        Mnemonic::Xvrdpiz => |t, _, i| of_vector::<u64>(t, i, |b, f| to_integral(b, f, f64::trunc)),
        Mnemonic::Xvrdpip => |t, _, i| of_vector::<u64>(t, i, |b, f| to_integral(b, f, f64::ceil)),
        Mnemonic::Xvrdpim => |t, _, i| of_vector::<u64>(t, i, |b, f| to_integral(b, f, f64::floor)),
        Mnemonic::Xvrdpic => |t, _, i| of_vector::<u64>(t, i, by_mode),
        Mnemonic::Xvrspi => |t, _, i| of_vector::<u32>(t, i, |b, f| to_integral(b, f, f64::round)),
        Mnemonic::Xvrspiz => |t, _, i| of_vector::<u32>(t, i, |b, f| to_integral(b, f, f64::trunc)),
        Mnemonic::Xvrspip => |t, _, i| of_vector::<u32>(t, i, |b, f| to_integral(b, f, f64::ceil)),
        Mnemonic::Xvrspim => |t, _, i| of_vector::<u32>(t, i, |b, f| to_integral(b, f, f64::floor)),
        Mnemonic::Xvrspic => |t, _, i| of_vector::<u32>(t, i, by_mode),
        _ => return None,
    })
}

fn of_scalar(thread: &mut Thread, i: Word, round: impl Fn(u64, u64) -> Computed) -> Outcome {
    let computed = round(thread.vsr[i.xb()][0], thread.fpscr);
    scalar(thread, i, computed)
}

fn of_vector<L: Float>(
    thread: &mut Thread,
    i: Word,
    round: impl Fn(u64, u64) -> Computed,
) -> Outcome {
    vector(thread, i, |t, n| element::<L>(round(operand::<L>(t, i.xb(), n), t.fpscr)))
}

/// Rounds as RN says. Only this way of rounding tells that it was inexact.
fn by_mode(b: u64, fpscr: u64) -> Computed {
    let round = match Rounding::of(fpscr) {
        Rounding::NearestEven => f64::round_ties_even,
        Rounding::TowardZero => f64::trunc,
        Rounding::Up => f64::ceil,
        Rounding::Down => f64::floor,
    };
    let computed = to_integral(b, fpscr, round);
    if is_nan(b) || computed.value == b {
        return computed;
    }
    let is_up = computed.value & !SIGN > b & !SIGN;
    computed.with(FI | XX | if is_up { FR } else { 0 })
}
