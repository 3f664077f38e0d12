//! Signs, exponents and significands of quads: Power ISA 3.0B Book I 7.6. Bits go as
//! they are; FPSCR is not touched.

use arch::instruction::{Mnemonic, Word};

use super::number::{FRACTION_BITS, INFINITY, SIGN, exponent_field};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsabsqp => |t, _, i| put(t, i, t.vr(i.vrb()) & !SIGN),
        Mnemonic::Xsnabsqp => |t, _, i| put(t, i, t.vr(i.vrb()) | SIGN),
        Mnemonic::Xsnegqp => |t, _, i| put(t, i, t.vr(i.vrb()) ^ SIGN),
        Mnemonic::Xscpsgnqp => |t, _, i| put(t, i, t.vr(i.vra()) & SIGN | t.vr(i.vrb()) & !SIGN),
        // To doubleword 0.
        Mnemonic::Xsxexpqp => |t, _, i| put(t, i, u128::from(exponent_field(t.vr(i.vrb()))) << 64),
        Mnemonic::Xsxsigqp => |t, _, i| put(t, i, significand(t.vr(i.vrb()))),
        // From doubleword 0.
        Mnemonic::Xsiexpqp => |t, _, i| {
            let exponent = t.vr(i.vrb()) >> 64 << FRACTION_BITS & INFINITY;
            put(t, i, t.vr(i.vra()) & !INFINITY | exponent)
        },
        _ => return None,
    })
}

fn put(thread: &mut Thread, i: Word, value: u128) -> Outcome {
    thread.set_vr(i.vrt(), value);
    Ok(Flow::Next)
}

/// The fraction, with the hidden bit of a normal number.
fn significand(bits: u128) -> u128 {
    let hidden = u128::from(!matches!(exponent_field(bits), 0 | 0x7FFF));
    hidden << FRACTION_BITS | bits & !(SIGN | INFINITY)
}
