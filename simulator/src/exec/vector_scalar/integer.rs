//! Conversions between floating point and integers: Power ISA 3.0B Book I 7.6. All conversions to
//! an integer truncate.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{element, operand, scalar, scalar_integer, vector};
use super::float::Float;
use crate::exec::floating_point::convert::{
    Range, SIGNED_DOUBLEWORD, SIGNED_WORD, UNSIGNED_DOUBLEWORD, UNSIGNED_WORD, floating, integer,
};
use crate::exec::floating_point::fpscr::Rounding;
use crate::exec::floating_point::round::{Double, Format, Single};
use crate::exec::vector::lane::{Lane, get};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a conversion from or to an integer.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    to_integer(mnemonic).or_else(|| to_floating(mnemonic))
}

fn to_integer(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xscvdpsxds => |t, _, i| scalar_to_integer(t, i, SIGNED_DOUBLEWORD),
        Mnemonic::Xscvdpuxds => |t, _, i| scalar_to_integer(t, i, UNSIGNED_DOUBLEWORD),
        Mnemonic::Xscvdpsxws => |t, _, i| scalar_to_integer(t, i, SIGNED_WORD),
        Mnemonic::Xscvdpuxws => |t, _, i| scalar_to_integer(t, i, UNSIGNED_WORD),
        Mnemonic::Xvcvdpsxds => |t, _, i| to_doublewords::<u64>(t, i, SIGNED_DOUBLEWORD),
        Mnemonic::Xvcvdpuxds => |t, _, i| to_doublewords::<u64>(t, i, UNSIGNED_DOUBLEWORD),
        Mnemonic::Xvcvspsxds => |t, _, i| to_doublewords::<u32>(t, i, SIGNED_DOUBLEWORD),
        Mnemonic::Xvcvspuxds => |t, _, i| to_doublewords::<u32>(t, i, UNSIGNED_DOUBLEWORD),
        Mnemonic::Xvcvdpsxws => |t, _, i| to_words::<u64>(t, i, SIGNED_WORD),
        Mnemonic::Xvcvdpuxws => |t, _, i| to_words::<u64>(t, i, UNSIGNED_WORD),
        Mnemonic::Xvcvspsxws => |t, _, i| to_words::<u32>(t, i, SIGNED_WORD),
        Mnemonic::Xvcvspuxws => |t, _, i| to_words::<u32>(t, i, UNSIGNED_WORD),
        _ => return None,
    })
}

fn to_floating(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xscvsxddp => |t, _, i| scalar_to_floating::<Double>(t, i, signed::<i64>(t, i, 0)),
        Mnemonic::Xscvsxdsp => |t, _, i| scalar_to_floating::<Single>(t, i, signed::<i64>(t, i, 0)),
        Mnemonic::Xscvuxddp => {
            |t, _, i| scalar_to_floating::<Double>(t, i, unsigned::<u64>(t, i, 0))
        }
        Mnemonic::Xscvuxdsp => {
            |t, _, i| scalar_to_floating::<Single>(t, i, unsigned::<u64>(t, i, 0))
        }
        Mnemonic::Xvcvsxddp => |t, _, i| to_elements::<u64>(t, i, signed::<i64>, |n| n),
        Mnemonic::Xvcvuxddp => |t, _, i| to_elements::<u64>(t, i, unsigned::<u64>, |n| n),
        Mnemonic::Xvcvsxwdp => |t, _, i| to_elements::<u64>(t, i, signed::<i32>, |n| 2 * n),
        Mnemonic::Xvcvuxwdp => |t, _, i| to_elements::<u64>(t, i, unsigned::<u32>, |n| 2 * n),
        Mnemonic::Xvcvsxdsp => |t, _, i| to_elements::<u32>(t, i, signed::<i64>, |n| n / 2),
        Mnemonic::Xvcvuxdsp => |t, _, i| to_elements::<u32>(t, i, unsigned::<u64>, |n| n / 2),
        Mnemonic::Xvcvsxwsp => |t, _, i| to_elements::<u32>(t, i, signed::<i32>, |n| n),
        Mnemonic::Xvcvuxwsp => |t, _, i| to_elements::<u32>(t, i, unsigned::<u32>, |n| n),
        _ => return None,
    })
}

fn scalar_to_integer(thread: &mut Thread, i: Word, range: Range) -> Outcome {
    let computed = integer(thread.vsr[i.xb()][0], range, Rounding::TowardZero);
    scalar_integer(thread, i, computed)
}

/// A doubleword of each number of format `L` that begins a doubleword.
fn to_doublewords<L: Float>(thread: &mut Thread, i: Word, range: Range) -> Outcome {
    vector(thread, i, |t, n| {
        let b = operand::<L>(t, i.xb(), n * L::COUNT / 2);
        let computed = integer(b, range, Rounding::TowardZero);
        (computed.value, computed.status)
    })
}

/// A word of each number of format `L`; of a double in both halves of its doubleword.
fn to_words<L: Float>(thread: &mut Thread, i: Word, range: Range) -> Outcome {
    vector(thread, i, |t, n| {
        let b = operand::<L>(t, i.xb(), n * L::COUNT / 4);
        let computed = integer(b, range, Rounding::TowardZero);
        (computed.value as u32, computed.status)
    })
}

/// An integer: whether it is negative, and its magnitude.
type Integer = (bool, u64);

/// Element `n` of XB, signed.
fn signed<L: Lane + Into<i64>>(thread: &Thread, i: Word, n: u32) -> Integer {
    let value: i64 = get::<L>(thread.vsr(i.xb()), n).into();
    (value < 0, value.unsigned_abs())
}

/// Element `n` of XB, unsigned.
fn unsigned<L: Lane + Into<u64>>(thread: &Thread, i: Word, n: u32) -> Integer {
    (false, get::<L>(thread.vsr(i.xb()), n).into())
}

fn scalar_to_floating<F: Format>(
    thread: &mut Thread,
    i: Word,
    (negative, magnitude): Integer,
) -> Outcome {
    let computed = floating::<F>(negative, magnitude, thread.fpscr);
    scalar(thread, i, computed)
}

/// Each element of XT is that number of format `L` that the element of XB at `place` is.
fn to_elements<L: Float>(
    thread: &mut Thread,
    i: Word,
    read: fn(&Thread, Word, u32) -> Integer,
    place: fn(u32) -> u32,
) -> Outcome {
    vector(thread, i, |t, n| {
        let (negative, magnitude) = read(t, i, place(n));
        element::<L>(floating::<L::Format>(negative, magnitude, t.fpscr))
    })
}
