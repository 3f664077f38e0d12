//! Logical operations and the select on whole registers: Power ISA 3.0B Book I 7.6.

use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a logical operation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xxland => |t, _, i| dyadic(t, i, |a, b| a & b),
        Mnemonic::Xxlandc => |t, _, i| dyadic(t, i, |a, b| a & !b),
        Mnemonic::Xxlor => |t, _, i| dyadic(t, i, |a, b| a | b),
        Mnemonic::Xxlorc => |t, _, i| dyadic(t, i, |a, b| a | !b),
        Mnemonic::Xxlxor => |t, _, i| dyadic(t, i, |a, b| a ^ b),
        Mnemonic::Xxlnor => |t, _, i| dyadic(t, i, |a, b| !(a | b)),
        Mnemonic::Xxlnand => |t, _, i| dyadic(t, i, |a, b| !(a & b)),
        Mnemonic::Xxleqv => |t, _, i| dyadic(t, i, |a, b| !(a ^ b)),
        // A bit of XC that is one takes the bit of XB.
        Mnemonic::Xxsel => |t, _, i| {
            let c = t.vsr[i.xc()];
            let [a, b] = [t.vsr[i.xa()], t.vsr[i.xb()]];
            t.vsr[i.xt()] = std::array::from_fn(|n| a[n] & !c[n] | b[n] & c[n]);
            Ok(Flow::Next)
        },
        _ => return None,
    })
}

#[inline]
fn dyadic(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> u64) -> Outcome {
    let (a, b) = (thread.vsr[i.xa()], thread.vsr[i.xb()]);
    thread.vsr[i.xt()] = [operation(a[0], b[0]), operation(a[1], b[1])];
    Ok(Flow::Next)
}
