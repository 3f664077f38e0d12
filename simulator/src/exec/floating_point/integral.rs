//! Rounding to an integral value in floating-point format: Power ISA 3.0B Book I 4.6.7.4.

use arch::instruction::{Mnemonic, Word};

use super::deliver::deliver;
use super::number::{is_infinite, is_negative, propagate_nan};
use super::round::{Computed, Double, round_bits};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a rounding instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        // Ties go away from zero here, whatever RN says.
        Mnemonic::Frin => |t, _, i| integral(t, i, f64::round),
        Mnemonic::Friz => |t, _, i| integral(t, i, f64::trunc),
        Mnemonic::Frip => |t, _, i| integral(t, i, f64::ceil),
        Mnemonic::Frim => |t, _, i| integral(t, i, f64::floor),
        _ => return None,
    })
}

/// These report no inexactness: FR, FI become 0 and XX stays.
fn integral(thread: &mut Thread, i: Word, round: impl Fn(f64) -> f64) -> Outcome {
    let computed = to_integral(thread.fpr(i.frb()), thread.fpscr, round);
    deliver(thread, i, computed)
}

/// What `round` makes of a number.
pub(in crate::exec) fn to_integral(b: u64, fpscr: u64, round: impl Fn(f64) -> f64) -> Computed {
    if let Some((nan, exception)) = propagate_nan(&[b]) {
        return Computed::nan::<Double>(nan).with(exception);
    }
    if is_infinite(b) {
        return Computed::infinity(is_negative(b));
    }
    round_bits::<Double>(round(f64::from_bits(b)).to_bits(), fpscr)
}
