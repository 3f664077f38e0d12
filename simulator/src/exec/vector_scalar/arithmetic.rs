//! Add, subtract, multiply, divide, square root and estimates: Power ISA 3.0B Book I 7.6.
//! What is done to one element is the scalar facility's own.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{element, operand, scalar, vector};
use super::float::Float;
use crate::exec::floating_point::arithmetic::{add, divide, multiply, square_root, subtract};
use crate::exec::floating_point::estimate::{reciprocal, reciprocal_square_root};
use crate::exec::floating_point::round::{Computed, Double, Single};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an arithmetic instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsadddp => |t, _, i| dyadic(t, i, add::<Double>),
        Mnemonic::Xsaddsp => |t, _, i| dyadic(t, i, add::<Single>),
        Mnemonic::Xssubdp => |t, _, i| dyadic(t, i, subtract::<Double>),
        Mnemonic::Xssubsp => |t, _, i| dyadic(t, i, subtract::<Single>),
        Mnemonic::Xsmuldp => |t, _, i| dyadic(t, i, multiply::<Double>),
        Mnemonic::Xsmulsp => |t, _, i| dyadic(t, i, multiply::<Single>),
        Mnemonic::Xsdivdp => |t, _, i| dyadic(t, i, divide::<Double>),
        Mnemonic::Xsdivsp => |t, _, i| dyadic(t, i, divide::<Single>),
        Mnemonic::Xssqrtdp => |t, _, i| monadic(t, i, square_root::<Double>),
        Mnemonic::Xssqrtsp => |t, _, i| monadic(t, i, square_root::<Single>),
        Mnemonic::Xsredp => |t, _, i| monadic(t, i, reciprocal::<Double>),
        Mnemonic::Xsresp => |t, _, i| monadic(t, i, reciprocal::<Single>),
        Mnemonic::Xsrsqrtedp => |t, _, i| monadic(t, i, reciprocal_square_root::<Double>),
        Mnemonic::Xsrsqrtesp => |t, _, i| monadic(t, i, reciprocal_square_root::<Single>),
        Mnemonic::Xvadddp => |t, _, i| dyadic_vector::<u64>(t, i, add::<Double>),
        Mnemonic::Xvaddsp => |t, _, i| dyadic_vector::<u32>(t, i, add::<Single>),
        Mnemonic::Xvsubdp => |t, _, i| dyadic_vector::<u64>(t, i, subtract::<Double>),
        Mnemonic::Xvsubsp => |t, _, i| dyadic_vector::<u32>(t, i, subtract::<Single>),
        Mnemonic::Xvmuldp => |t, _, i| dyadic_vector::<u64>(t, i, multiply::<Double>),
        Mnemonic::Xvmulsp => |t, _, i| dyadic_vector::<u32>(t, i, multiply::<Single>),
        Mnemonic::Xvdivdp => |t, _, i| dyadic_vector::<u64>(t, i, divide::<Double>),
        Mnemonic::Xvdivsp => |t, _, i| dyadic_vector::<u32>(t, i, divide::<Single>),
        Mnemonic::Xvsqrtdp => |t, _, i| monadic_vector::<u64>(t, i, square_root::<Double>),
        Mnemonic::Xvsqrtsp => |t, _, i| monadic_vector::<u32>(t, i, square_root::<Single>),
        Mnemonic::Xvredp => |t, _, i| monadic_vector::<u64>(t, i, reciprocal::<Double>),
        Mnemonic::Xvresp => |t, _, i| monadic_vector::<u32>(t, i, reciprocal::<Single>),
        Mnemonic::Xvrsqrtedp => {
            |t, _, i| monadic_vector::<u64>(t, i, reciprocal_square_root::<Double>)
        }
        Mnemonic::Xvrsqrtesp => {
            |t, _, i| monadic_vector::<u32>(t, i, reciprocal_square_root::<Single>)
        }
        _ => return None,
    })
}

/// An operation on doubleword 0 of XA and XB.
#[inline]
fn dyadic(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64, u64) -> Computed) -> Outcome {
    let computed = operation(thread.vsr[i.xa()][0], thread.vsr[i.xb()][0], thread.fpscr);
    scalar(thread, i, computed)
}

/// An operation on doubleword 0 of XB.
#[inline]
fn monadic(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> Computed) -> Outcome {
    let computed = operation(thread.vsr[i.xb()][0], thread.fpscr);
    scalar(thread, i, computed)
}

/// An operation on the elements of XA and XB.
#[inline]
fn dyadic_vector<L: Float>(
    thread: &mut Thread,
    i: Word,
    operation: impl Fn(u64, u64, u64) -> Computed,
) -> Outcome {
    vector(thread, i, |t, n| {
        let (a, b) = (operand::<L>(t, i.xa(), n), operand::<L>(t, i.xb(), n));
        element::<L>(operation(a, b, t.fpscr))
    })
}

/// An operation on the elements of XB.
#[inline]
fn monadic_vector<L: Float>(
    thread: &mut Thread,
    i: Word,
    operation: impl Fn(u64, u64) -> Computed,
) -> Outcome {
    vector(thread, i, |t, n| element::<L>(operation(operand::<L>(t, i.xb(), n), t.fpscr)))
}
