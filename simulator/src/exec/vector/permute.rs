//! Bytes put elsewhere: Power ISA 3.0B Book I 6.8.

use arch::instruction::{Mnemonic, Word};

use super::lane::{get, map};
use super::{a, b, c, put};
use crate::exec::Handler;

/// The handler of a permutation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vperm => |t, _, i| put(t, i, select(a(t, i), b(t, i), c(t, i))),
        _ => return None,
    })
}

/// The bytes of `a` and `b`, one after the other, that `indices` name in the low five bits of each byte.
pub(in crate::exec) fn select(a: u128, b: u128, indices: u128) -> u128 {
    map(indices, |index: u8| {
        let source = if index & 16 == 0 { a } else { b };
        get::<u8>(source, index.into())
    })
}
