//! Logic: Power ISA 3.0B Book I 6.10.

use arch::instruction::{Mnemonic, Word};

use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a logical operation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vand => |t, _, i| put(t, i, a(t, i) & b(t, i)),
        Mnemonic::Vandc => |t, _, i| put(t, i, a(t, i) & !b(t, i)),
        Mnemonic::Veqv => |t, _, i| put(t, i, !(a(t, i) ^ b(t, i))),
        Mnemonic::Vnand => |t, _, i| put(t, i, !(a(t, i) & b(t, i))),
        Mnemonic::Vor => |t, _, i| put(t, i, a(t, i) | b(t, i)),
        Mnemonic::Vorc => |t, _, i| put(t, i, a(t, i) | !b(t, i)),
        Mnemonic::Vnor => |t, _, i| put(t, i, !(a(t, i) | b(t, i))),
        Mnemonic::Vxor => |t, _, i| put(t, i, a(t, i) ^ b(t, i)),
        _ => return None,
    })
}
