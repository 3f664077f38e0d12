//! Floating point: Power ISA 3.0B Book I chapter 6. With VSCR\[NJ\]=1 denormal operands and results are
//! zeros with their sign.

use arch::instruction::{Mnemonic, Word};
use arch::registers::vscr;

use super::lane::{build, get};
use super::{a, b, c, put};
use crate::exec::floating_point::element::{self, Element};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

const SIGN: u32 = 1 << 31;

/// The handler of a computation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vaddfp => |t, _, i| compute(t, i, |[a, b, _]| element::add(a, b)),
        Mnemonic::Vsubfp => |t, _, i| compute(t, i, |[a, b, _]| element::subtract(a, b)),
        Mnemonic::Vmaddfp => |t, _, i| compute(t, i, |[a, b, c]| element::multiply_add(a, b, c)),
        Mnemonic::Vnmsubfp => {
            |t, _, i| compute(t, i, |[a, b, c]| element::negative_multiply_subtract(a, b, c))
        }
        Mnemonic::Vmaxfp => |t, _, i| select(t, i, |a, b| order(a) >= order(b)),
        Mnemonic::Vminfp => |t, _, i| select(t, i, |a, b| order(a) <= order(b)),
        Mnemonic::Vrefp => |t, _, i| compute(t, i, |[_, b, _]| element::reciprocal_estimate(b)),
        Mnemonic::Vrsqrtefp => {
            |t, _, i| compute(t, i, |[_, b, _]| element::reciprocal_square_root_estimate(b))
        }
        Mnemonic::Vexptefp => |t, _, i| compute(t, i, |[_, b, _]| element::power_estimate(b)),
        Mnemonic::Vlogefp => |t, _, i| compute(t, i, |[_, b, _]| element::logarithm_estimate(b)),
        Mnemonic::Vrfin => |t, _, i| integral(t, i, f64::round_ties_even),
        Mnemonic::Vrfiz => |t, _, i| integral(t, i, f64::trunc),
        Mnemonic::Vrfip => |t, _, i| integral(t, i, f64::ceil),
        Mnemonic::Vrfim => |t, _, i| integral(t, i, f64::floor),
        _ => return None,
    })
}

/// Word `index` of `vector`, as an operand.
pub(super) fn operand(thread: &Thread, vector: u128, index: u32) -> u32 {
    let bits: u32 = get(vector, index);
    let is_denormal = bits & 0x7F80_0000 == 0;
    if is_denormal && thread.vscr & vscr::NJ != 0 { bits & SIGN } else { bits }
}

/// Sets VRT to what `f` makes of the elements of VRA, VRB and VRC.
fn compute(thread: &mut Thread, i: Word, f: fn([u32; 3]) -> Element) -> Outcome {
    let vectors = [a(thread, i), b(thread, i), c(thread, i)];
    let flushes = thread.vscr & vscr::NJ != 0;
    let result = build(|index| {
        let Element { bits, is_tiny } = f(vectors.map(|vector| operand(thread, vector, index)));
        if is_tiny && flushes { bits & SIGN } else { bits }
    });
    put(thread, i, result)
}

/// Of VRA and VRB the element that `is_first` prefers; a NaN before every number.
fn select(thread: &mut Thread, i: Word, is_first: fn(u32, u32) -> bool) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    let result = build(|index| {
        let (a, b) = (operand(thread, a, index), operand(thread, b, index));
        element::nan(a, b).unwrap_or(if is_first(a, b) { a } else { b })
    });
    put(thread, i, result)
}

/// A number that orders as the single does, -0 below +0.
fn order(single: u32) -> i32 {
    let bits = single as i32;
    if bits < 0 { bits ^ i32::MAX } else { bits }
}

fn integral(thread: &mut Thread, i: Word, rounding: fn(f64) -> f64) -> Outcome {
    let b = b(thread, i);
    let result = build(|index| element::integral(operand(thread, b, index), rounding));
    put(thread, i, result)
}
