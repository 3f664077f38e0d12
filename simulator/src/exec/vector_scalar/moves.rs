//! Moves between general-purpose and vector-scalar registers: Power ISA 3.0B Book I 7.6.
//!
//! A scalar leaves doubleword 1 of its target undefined; here it becomes zero, as with the FPRs.

use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a move.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mfvsrd => |t, _, i| to_gpr(t, i, t.vsr[i.xt()][0]),
        Mnemonic::Mfvsrwz => |t, _, i| to_gpr(t, i, t.vsr[i.xt()][0] & 0xFFFF_FFFF),
        Mnemonic::Mfvsrld => |t, _, i| to_gpr(t, i, t.vsr[i.xt()][1]),
        Mnemonic::Mtvsrd => |t, _, i| to_vsr(t, i, [t.gpr[i.ra()], 0]),
        Mnemonic::Mtvsrwa => |t, _, i| to_vsr(t, i, [i64::from(t.gpr[i.ra()] as i32) as u64, 0]),
        Mnemonic::Mtvsrwz => |t, _, i| to_vsr(t, i, [u64::from(t.gpr[i.ra()] as u32), 0]),
        Mnemonic::Mtvsrws => |t, _, i| {
            let word = u64::from(t.gpr[i.ra()] as u32);
            to_vsr(t, i, [word << 32 | word; 2])
        },
        Mnemonic::Mtvsrdd => |t, _, i| to_vsr(t, i, [t.gpr_or_zero(i.ra()), t.gpr[i.rb()]]),
        _ => return None,
    })
}

fn to_gpr(thread: &mut Thread, i: Word, value: u64) -> Outcome {
    thread.gpr[i.ra()] = value;
    Ok(Flow::Next)
}

fn to_vsr(thread: &mut Thread, i: Word, value: [u64; 2]) -> Outcome {
    thread.vsr[i.xt()] = value;
    Ok(Flow::Next)
}
