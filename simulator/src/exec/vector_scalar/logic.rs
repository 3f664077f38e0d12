//! Logic: Power ISA 3.0B Book I 7.6.1.

use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::thread::Thread;

/// The handler of a logical operation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xxlor => |t, _, i| logical(t, i, |a, b| a | b),
        _ => return None,
    })
}

fn logical(thread: &mut Thread, i: Word, operation: fn(u128, u128) -> u128) -> Outcome {
    thread.set_vsr(i.xt(), operation(thread.vsr(i.xa()), thread.vsr(i.xb())));
    Ok(Flow::Next)
}
