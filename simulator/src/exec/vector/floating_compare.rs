//! Comparisons of floating-point elements, and conversions from and to integers: Power ISA 3.0B Book I chapter 6.
//! A NaN compares as nothing.

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::compare::{CR6, record};
use super::floating::operand;
use super::lane::{build, get, map};
use super::saturate::saturated;
use super::{a, b, put};
use crate::exec::floating_point::element::{from_integer, to_integer};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a comparison or conversion.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vcmpeqfp => |t, _, i| compare(t, i, |a, b| a == b),
        Mnemonic::Vcmpgefp => |t, _, i| compare(t, i, |a, b| a >= b),
        Mnemonic::Vcmpgtfp => |t, _, i| compare(t, i, |a, b| a > b),
        Mnemonic::Vcmpbfp => |t, _, i| within_bounds(t, i),
        Mnemonic::Vcfux => {
            |t, _, i| put(t, i, map(b(t, i), |b: u32| from_integer(false, b, i.uim5())))
        }
        Mnemonic::Vcfsx => |t, _, i| {
            put(t, i, map(b(t, i), |b: i32| from_integer(b < 0, b.unsigned_abs(), i.uim5())))
        },
        Mnemonic::Vctuxs => |t, _, i| {
            let b = b(t, i);
            saturated::<u32>(t, i, |index| to_integer(get(b, index), i.uim5()))
        },
        Mnemonic::Vctsxs => |t, _, i| {
            let b = b(t, i);
            saturated::<i32>(t, i, |index| to_integer(get(b, index), i.uim5()))
        },
        _ => return None,
    })
}

/// What `f` makes of the numbers at each place of VRA and VRB.
fn each(thread: &Thread, i: Word, f: impl Fn(f32, f32) -> u32) -> u128 {
    let (a, b) = (a(thread, i), b(thread, i));
    let number = |vector, index| f32::from_bits(operand(thread, vector, index));
    build(|index| f(number(a, index), number(b, index)))
}

fn compare(thread: &mut Thread, i: Word, holds: fn(f32, f32) -> bool) -> Outcome {
    let result = each(thread, i, |a, b| if holds(a, b) { u32::MAX } else { 0 });
    if i.rc21() {
        record(thread, result);
    }
    put(thread, i, result)
}

/// Bit 0 of an element says that it is not at most VRB's, bit 1 that it is not at least the negative of it.
fn within_bounds(thread: &mut Thread, i: Word) -> Outcome {
    let bit = |is_within: bool, place: u32| if is_within { 0 } else { 1 << place };
    let result = each(thread, i, |a, b| bit(a <= b, 31) | bit(a >= -b, 30));
    if i.rc21() {
        thread.set_cr_field(CR6, if result == 0 { cr::EQ } else { 0 });
    }
    put(thread, i, result)
}
