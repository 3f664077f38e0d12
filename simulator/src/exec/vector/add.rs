//! Sums: Power ISA 3.0B Book I 6.9.1.

use arch::instruction::{Mnemonic, Word};

use super::lane::zip;
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a sum.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vaddubm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u8::wrapping_add)),
        _ => return None,
    })
}
