//! Moves between GPRs and VSRs: Power ISA 3.0B Book I 7.6.1. What the architecture leaves undefined of the
//! target becomes zero.

use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler};

/// The handler of a move.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mfvsrd => |t, _, i| {
            t.gpr[i.ra()] = (t.vsr(i.xt()) >> 64) as u64;
            Ok(Flow::Next)
        },
        Mnemonic::Mtvsrd => |t, _, i| {
            t.set_vsr(i.xt(), u128::from(t.gpr[i.ra()]) << 64);
            Ok(Flow::Next)
        },
        _ => return None,
    })
}
