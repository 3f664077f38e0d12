//! Quad precision: Power ISA 3.0B Book I 7.6. Operands are VRs: VSRs 32 to 63.
//!
//! | module | what it is |
//! |---|---|
//! | `number`, `wide` | operands taken apart, the exact operations on them |
//! | `round` | from an exact result to a format |
//! | `arithmetic`, `convert`, `integral` | the operations on bits, with FPSCR's word on them |
//! | `compare`, `moves` | comparisons, tests, signs, exponents and significands |
//!
//! The instructions whose names end in `o` round to odd, whatever RN says.

mod arithmetic;
mod compare;
mod convert;
mod integral;
mod moves;
mod number;
mod round;
mod wide;

use arch::instruction::{Mnemonic, Word};

use crate::exec::floating_point::deliver::{interrupt_if_enabled, write_result};
use crate::exec::floating_point::fpscr::{FI, FPRF, FR};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;
use arithmetic::{add, divide, multiply, multiply_add, negated, square_root, subtract};
use convert::{
    Range, SIGNED_DOUBLEWORD, SIGNED_WORD, UNSIGNED_DOUBLEWORD, UNSIGNED_WORD, from_double,
    from_integer, to_double, to_integer,
};
use integral::{to_extended, to_integral};
use round::{Computed, Rounding};

/// The handler of a quad-precision instruction.
pub(super) fn handler(mnemonic: Mnemonic, i: Word) -> Option<Handler> {
    let families = [arithmetic_handler, conversion_handler, compare::handler, moves::handler];
    families.iter().find_map(|family| family(mnemonic, i))
}

fn arithmetic_handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsaddqp => |t, _, i| dyadic(t, i, add, by_mode(t)),
        Mnemonic::Xsaddqpo => |t, _, i| dyadic(t, i, add, Rounding::Odd),
        Mnemonic::Xssubqp => |t, _, i| dyadic(t, i, subtract, by_mode(t)),
        Mnemonic::Xssubqpo => |t, _, i| dyadic(t, i, subtract, Rounding::Odd),
        Mnemonic::Xsmulqp => |t, _, i| dyadic(t, i, multiply, by_mode(t)),
        Mnemonic::Xsmulqpo => |t, _, i| dyadic(t, i, multiply, Rounding::Odd),
        Mnemonic::Xsdivqp => |t, _, i| dyadic(t, i, divide, by_mode(t)),
        Mnemonic::Xsdivqpo => |t, _, i| dyadic(t, i, divide, Rounding::Odd),
        Mnemonic::Xssqrtqp => |t, _, i| monadic(t, i, square_root, by_mode(t)),
        Mnemonic::Xssqrtqpo => |t, _, i| monadic(t, i, square_root, Rounding::Odd),
        Mnemonic::Xsmaddqp => |t, _, i| fused::<false, false>(t, i, by_mode(t)),
        Mnemonic::Xsmaddqpo => |t, _, i| fused::<false, false>(t, i, Rounding::Odd),
        Mnemonic::Xsmsubqp => |t, _, i| fused::<true, false>(t, i, by_mode(t)),
        Mnemonic::Xsmsubqpo => |t, _, i| fused::<true, false>(t, i, Rounding::Odd),
        Mnemonic::Xsnmaddqp => |t, _, i| fused::<false, true>(t, i, by_mode(t)),
        Mnemonic::Xsnmaddqpo => |t, _, i| fused::<false, true>(t, i, Rounding::Odd),
        Mnemonic::Xsnmsubqp => |t, _, i| fused::<true, true>(t, i, by_mode(t)),
        Mnemonic::Xsnmsubqpo => |t, _, i| fused::<true, true>(t, i, Rounding::Odd),
        _ => return None,
    })
}

fn conversion_handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xscvqpdp => |t, _, i| monadic(t, i, to_double, by_mode(t)),
        Mnemonic::Xscvqpdpo => |t, _, i| monadic(t, i, to_double, Rounding::Odd),
        Mnemonic::Xscvdpqp => |t, _, i| deliver(t, i, from_double(high(t, i))),
        Mnemonic::Xscvsdqp => |t, _, i| {
            let integer = high(t, i) as i64;
            deliver(t, i, from_integer(integer < 0, integer.unsigned_abs()))
        },
        Mnemonic::Xscvudqp => |t, _, i| deliver(t, i, from_integer(false, high(t, i))),
        Mnemonic::Xscvqpsdz => |t, _, i| truncated(t, i, SIGNED_DOUBLEWORD),
        Mnemonic::Xscvqpudz => |t, _, i| truncated(t, i, UNSIGNED_DOUBLEWORD),
        Mnemonic::Xscvqpswz => |t, _, i| truncated(t, i, SIGNED_WORD),
        Mnemonic::Xscvqpuwz => |t, _, i| truncated(t, i, UNSIGNED_WORD),
        Mnemonic::Xsrqpi => |t, _, i| {
            let computed = to_integral(t.vr(i.vrb()), named_mode(t, i), t.fpscr, false);
            deliver(t, i, computed)
        },
        Mnemonic::Xsrqpix => |t, _, i| {
            let computed = to_integral(t.vr(i.vrb()), named_mode(t, i), t.fpscr, true);
            deliver(t, i, computed)
        },
        Mnemonic::Xsrqpxp => |t, _, i| monadic(t, i, to_extended, named_mode(t, i)),
        _ => return None,
    })
}

/// The mode of FPSCR\[RN\].
fn by_mode(thread: &Thread) -> Rounding {
    Rounding::of(thread.fpscr)
}

/// The mode that R and RMC name.
fn named_mode(thread: &Thread, i: Word) -> Rounding {
    integral::rounding(i.r(), i.rmc(), thread.fpscr)
}

/// Doubleword 0 of VRB.
fn high(thread: &Thread, i: Word) -> u64 {
    (thread.vr(i.vrb()) >> 64) as u64
}

/// An operation on VRA and VRB.
fn dyadic(
    thread: &mut Thread,
    i: Word,
    operation: fn(u128, u128, Rounding, u64) -> Computed,
    rounding: Rounding,
) -> Outcome {
    let computed = operation(thread.vr(i.vra()), thread.vr(i.vrb()), rounding, thread.fpscr);
    deliver(thread, i, computed)
}

/// An operation on VRB.
fn monadic(
    thread: &mut Thread,
    i: Word,
    operation: fn(u128, Rounding, u64) -> Computed,
    rounding: Rounding,
) -> Outcome {
    let computed = operation(thread.vr(i.vrb()), rounding, thread.fpscr);
    deliver(thread, i, computed)
}

/// (VRA x VRB) + VRT, or - VRT if it `SUBTRACTS`; `NEGATES` after rounding. A NaN keeps its sign.
fn fused<const SUBTRACTS: bool, const NEGATES: bool>(
    thread: &mut Thread,
    i: Word,
    rounding: Rounding,
) -> Outcome {
    let (a, c, t) = (thread.vr(i.vra()), thread.vr(i.vrb()), thread.vr(i.vrt()));
    let addend = if SUBTRACTS { negated(t) } else { t };
    let computed = multiply_add(a, addend, c, rounding, thread.fpscr);
    deliver(thread, i, if NEGATES { computed.negated() } else { computed })
}

/// Delivers to VRT.
fn deliver(thread: &mut Thread, i: Word, Computed { value, status }: Computed) -> Outcome {
    write_result(thread, status, FR | FI | FPRF.mask(), |t| t.set_vr(i.vrt(), value));
    interrupt_if_enabled(thread)
}

/// Delivers VRB as an integer to VRT: FPRF stays.
fn truncated(thread: &mut Thread, i: Word, range: Range) -> Outcome {
    let Computed { value, status } = to_integer(thread.vr(i.vrb()), range);
    write_result(thread, status, FR | FI, |t| t.set_vr(i.vrt(), value));
    interrupt_if_enabled(thread)
}

#[cfg(test)]
mod tests;
