//! Conversions between floating-point formats: Power ISA 3.0B Book I 7.6.
//!
//! A single in a register of doubles is in the upper word of a doubleword; what a conversion delivers
//! there, POWER9 delivers in the lower word too, as ISA 3.1 says of its predecessors.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{operand, scalar, vector};
use super::float::Float;
use crate::exec::floating_point::arithmetic::convert;
use crate::exec::floating_point::round::{Computed, Double, Half, Single};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a conversion.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsrsp => |t, _, i| {
            let computed = convert::<Single>(t.vsr[i.xb()][0], t.fpscr);
            scalar(t, i, computed)
        },
        Mnemonic::Xscvdpsp => |t, _, i| {
            let computed = convert::<Single>(t.vsr[i.xb()][0], t.fpscr);
            scalar(t, i, Computed { value: twice(u32::of(computed.value)), ..computed })
        },
        Mnemonic::Xscvspdp => |t, _, i| {
            let computed = convert::<Double>(operand::<u32>(t, i.xb(), 0), t.fpscr);
            scalar(t, i, computed)
        },
        Mnemonic::Xscvdphp => |t, _, i| {
            let computed = convert::<Half>(t.vsr[i.xb()][0], t.fpscr);
            scalar(t, i, Computed { value: u16::of(computed.value).into(), ..computed })
        },
        Mnemonic::Xscvhpdp => |t, _, i| {
            let computed = convert::<Double>(operand::<u16>(t, i.xb(), 3), t.fpscr);
            scalar(t, i, computed)
        },
        // Bits as they are: nothing signals, and what does not fit is lost.
        Mnemonic::Xscvdpspn => |t, _, i| put(t, i, twice(u32::of(t.vsr[i.xb()][0]))),
        Mnemonic::Xscvspdpn => |t, _, i| put(t, i, operand::<u32>(t, i.xb(), 0)),
        Mnemonic::Xvcvdpsp => |t, _, i| {
            vector(t, i, |t, n| {
                let computed = convert::<Single>(operand::<u64>(t, i.xb(), n / 2), t.fpscr);
                (u32::of(computed.value), computed.status)
            })
        },
        Mnemonic::Xvcvspdp => |t, _, i| {
            vector(t, i, |t, n| {
                let computed = convert::<Double>(operand::<u32>(t, i.xb(), 2 * n), t.fpscr);
                (computed.value, computed.status)
            })
        },
        Mnemonic::Xvcvsphp => |t, _, i| {
            vector(t, i, |t, n| {
                let computed = convert::<Half>(operand::<u32>(t, i.xb(), n), t.fpscr);
                (u32::from(u16::of(computed.value)), computed.status)
            })
        },
        Mnemonic::Xvcvhpsp => |t, _, i| {
            vector(t, i, |t, n| {
                let computed = convert::<Single>(operand::<u16>(t, i.xb(), 2 * n + 1), t.fpscr);
                (u32::of(computed.value), computed.status)
            })
        },
        _ => return None,
    })
}

/// A word in both halves of a doubleword.
pub(super) fn twice(word: u32) -> u64 {
    u64::from(word) << 32 | u64::from(word)
}

fn put(thread: &mut Thread, i: Word, value: u64) -> Outcome {
    thread.vsr[i.xt()] = [value, 0];
    Ok(Flow::Next)
}
