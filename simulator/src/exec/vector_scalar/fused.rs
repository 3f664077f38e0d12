//! Multiply-add with one rounding: Power ISA 3.0B Book I 7.6.
//!
//! XT is an operand: the addend in the forms whose names have an `a`, a factor in those with an `m`.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{element, operand, scalar, vector};
use super::float::Float;
use crate::exec::floating_point::fused::signed_multiply_add;
use crate::exec::floating_point::round::{Double, Format, Single};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a multiply-add instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    scalar_handler(mnemonic).or_else(|| vector_handler(mnemonic))
}

fn scalar_handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsmaddadp => |t, _, i| of_scalar::<Double, false, false>(t, i, ADDEND),
        Mnemonic::Xsmaddmdp => |t, _, i| of_scalar::<Double, false, false>(t, i, FACTOR),
        Mnemonic::Xsmsubadp => |t, _, i| of_scalar::<Double, true, false>(t, i, ADDEND),
        Mnemonic::Xsmsubmdp => |t, _, i| of_scalar::<Double, true, false>(t, i, FACTOR),
        Mnemonic::Xsnmaddadp => |t, _, i| of_scalar::<Double, false, true>(t, i, ADDEND),
        Mnemonic::Xsnmaddmdp => |t, _, i| of_scalar::<Double, false, true>(t, i, FACTOR),
        Mnemonic::Xsnmsubadp => |t, _, i| of_scalar::<Double, true, true>(t, i, ADDEND),
        Mnemonic::Xsnmsubmdp => |t, _, i| of_scalar::<Double, true, true>(t, i, FACTOR),
        Mnemonic::Xsmaddasp => |t, _, i| of_scalar::<Single, false, false>(t, i, ADDEND),
        Mnemonic::Xsmaddmsp => |t, _, i| of_scalar::<Single, false, false>(t, i, FACTOR),
        Mnemonic::Xsmsubasp => |t, _, i| of_scalar::<Single, true, false>(t, i, ADDEND),
        Mnemonic::Xsmsubmsp => |t, _, i| of_scalar::<Single, true, false>(t, i, FACTOR),
        Mnemonic::Xsnmaddasp => |t, _, i| of_scalar::<Single, false, true>(t, i, ADDEND),
        Mnemonic::Xsnmaddmsp => |t, _, i| of_scalar::<Single, false, true>(t, i, FACTOR),
        Mnemonic::Xsnmsubasp => |t, _, i| of_scalar::<Single, true, true>(t, i, ADDEND),
        Mnemonic::Xsnmsubmsp => |t, _, i| of_scalar::<Single, true, true>(t, i, FACTOR),
        _ => return None,
    })
}

fn vector_handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xvmaddadp => |t, _, i| of_vector::<u64, false, false>(t, i, ADDEND),
        Mnemonic::Xvmaddmdp => |t, _, i| of_vector::<u64, false, false>(t, i, FACTOR),
        Mnemonic::Xvmsubadp => |t, _, i| of_vector::<u64, true, false>(t, i, ADDEND),
        Mnemonic::Xvmsubmdp => |t, _, i| of_vector::<u64, true, false>(t, i, FACTOR),
        Mnemonic::Xvnmaddadp => |t, _, i| of_vector::<u64, false, true>(t, i, ADDEND),
        Mnemonic::Xvnmaddmdp => |t, _, i| of_vector::<u64, false, true>(t, i, FACTOR),
        Mnemonic::Xvnmsubadp => |t, _, i| of_vector::<u64, true, true>(t, i, ADDEND),
        Mnemonic::Xvnmsubmdp => |t, _, i| of_vector::<u64, true, true>(t, i, FACTOR),
        Mnemonic::Xvmaddasp => |t, _, i| of_vector::<u32, false, false>(t, i, ADDEND),
        Mnemonic::Xvmaddmsp => |t, _, i| of_vector::<u32, false, false>(t, i, FACTOR),
        Mnemonic::Xvmsubasp => |t, _, i| of_vector::<u32, true, false>(t, i, ADDEND),
        Mnemonic::Xvmsubmsp => |t, _, i| of_vector::<u32, true, false>(t, i, FACTOR),
        Mnemonic::Xvnmaddasp => |t, _, i| of_vector::<u32, false, true>(t, i, ADDEND),
        Mnemonic::Xvnmaddmsp => |t, _, i| of_vector::<u32, false, true>(t, i, FACTOR),
        Mnemonic::Xvnmsubasp => |t, _, i| of_vector::<u32, true, true>(t, i, ADDEND),
        Mnemonic::Xvnmsubmsp => |t, _, i| of_vector::<u32, true, true>(t, i, FACTOR),
        _ => return None,
    })
}

/// What XT is: its number among the operands a, b, c of (a x c) + b.
type Place = usize;
const ADDEND: Place = 1;
const FACTOR: Place = 2;

/// The registers that are a, b and c. XA is a; XB is what XT is not.
fn registers(i: Word, place: Place) -> [usize; 3] {
    if place == ADDEND { [i.xa(), i.xt(), i.xb()] } else { [i.xa(), i.xb(), i.xt()] }
}

#[inline]
fn of_scalar<F: Format, const SUBTRACTS: bool, const NEGATES: bool>(
    thread: &mut Thread,
    i: Word,
    place: Place,
) -> Outcome {
    let operands = registers(i, place).map(|register| thread.vsr[register][0]);
    let computed = signed_multiply_add::<F, SUBTRACTS, NEGATES>(operands, thread.fpscr);
    scalar(thread, i, computed)
}

#[inline]
fn of_vector<L: Float, const SUBTRACTS: bool, const NEGATES: bool>(
    thread: &mut Thread,
    i: Word,
    place: Place,
) -> Outcome {
    vector(thread, i, |t, n| {
        let operands = registers(i, place).map(|register| operand::<L>(t, register, n));
        element::<L>(signed_multiply_add::<L::Format, SUBTRACTS, NEGATES>(operands, t.fpscr))
    })
}
