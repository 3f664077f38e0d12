//! Tests for data classes: Power ISA 3.0B Book I 7.6.

use arch::instruction::{Mnemonic, Word};

use super::compare::set_condition;
use super::deliver::operand;
use super::float::Float;
use crate::exec::floating_point::compare::is_denormal;
use crate::exec::floating_point::deliver::interrupt_if_enabled;
use crate::exec::floating_point::number::{is_infinite, is_nan, is_negative, is_zero};
use crate::exec::floating_point::round::{Double, Format, Single};
use crate::exec::vector::lane::build;
use crate::exec::{Flow, Handler, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a test.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xststdcdp => |t, _, i| {
            let b = t.vsr[i.xb()][0];
            set(t, i, is_negative(b), class::<Double>(b), false)
        },
        // SO says that the number is none of single format.
        Mnemonic::Xststdcsp => |t, _, i| {
            let b = t.vsr[i.xb()][0];
            set(t, i, is_negative(b), class::<Single>(b), u32::of(b).double() != b)
        },
        Mnemonic::Xvtstdcdp => test_vector::<u64>,
        Mnemonic::Xvtstdcsp => test_vector::<u32>,
        _ => return None,
    })
}

/// Classes as DCMX has them: a bit for NaNs, then two for each class with a sign, the first for the
/// positive numbers of it.
pub(super) const NAN: u32 = 1 << 6;
pub(super) const INFINITY: [u32; 2] = [1 << 5, 1 << 4];
pub(super) const ZERO: [u32; 2] = [1 << 3, 1 << 2];
pub(super) const DENORMAL: [u32; 2] = [1 << 1, 1 << 0];

/// The class of a double as a number of format `F`; 0 of a normal number.
fn class<F: Format>(bits: u64) -> u32 {
    let by_sign = |class: [u32; 2]| class[usize::from(is_negative(bits))];
    match bits {
        _ if is_nan(bits) => NAN,
        _ if is_infinite(bits) => by_sign(INFINITY),
        _ if is_zero(bits) => by_sign(ZERO),
        _ if is_denormal::<F>(bits) => by_sign(DENORMAL),
        _ => 0,
    }
}

/// Puts the sign, and whether DCMX asks for `class`, into CR field BF and FPCC.
pub(super) fn set(
    thread: &mut Thread,
    i: Word,
    negative: bool,
    class: u32,
    is_not_single: bool,
) -> Outcome {
    let is_wanted = class & i.dcmx() != 0;
    let condition = u32::from(negative) << 3 | u32::from(is_wanted) << 1 | u32::from(is_not_single);
    set_condition(thread, i, condition);
    interrupt_if_enabled(thread)
}

/// All ones in the elements of a class that DCMX asks for.
fn test_vector<L: Float>(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let is_wanted = |n| class::<L::Format>(operand::<L>(thread, i.xb(), n)) & i.dcmx_split() != 0;
    let mask = build(|n| L::from_low(if is_wanted(n) { u128::MAX } else { 0 }));
    thread.set_vsr(i.xt(), mask);
    Ok(Flow::Next)
}
