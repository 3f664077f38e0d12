//! Elements of two vectors merged, one element copied to all places: Power ISA 3.0B Book I 6.8.2 and 6.8.3.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get};
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a merge or splat.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vmrghb => |t, _, i| put(t, i, merge::<u8>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmrghh => |t, _, i| put(t, i, merge::<u16>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmrghw => |t, _, i| put(t, i, merge::<u32>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmrglb => |t, _, i| put(t, i, merge::<u8>(a(t, i), b(t, i), 8)),
        Mnemonic::Vmrglh => |t, _, i| put(t, i, merge::<u16>(a(t, i), b(t, i), 4)),
        Mnemonic::Vmrglw => |t, _, i| put(t, i, merge::<u32>(a(t, i), b(t, i), 2)),
        Mnemonic::Vmrgew => |t, _, i| put(t, i, merge_words(a(t, i), b(t, i), 0)),
        Mnemonic::Vmrgow => |t, _, i| put(t, i, merge_words(a(t, i), b(t, i), 1)),
        Mnemonic::Vspltb => |t, _, i| put(t, i, splat(get::<u8>(b(t, i), i.uim4()))),
        Mnemonic::Vsplth => |t, _, i| put(t, i, splat(get::<u16>(b(t, i), i.uim3()))),
        Mnemonic::Vspltw => |t, _, i| put(t, i, splat(get::<u32>(b(t, i), i.uim2()))),
        Mnemonic::Vspltisb => |t, _, i| put(t, i, splat(i.sim() as u8)),
        Mnemonic::Vspltish => |t, _, i| put(t, i, splat(i.sim() as u16)),
        Mnemonic::Vspltisw => |t, _, i| put(t, i, splat(i.sim() as u32)),
        _ => return None,
    })
}

/// The elements from `first` on, of `a` and `b` by turns.
pub(in crate::exec) fn merge<L: Lane>(a: u128, b: u128, first: u32) -> u128 {
    build(|index| get::<L>(if index % 2 == 0 { a } else { b }, first + index / 2))
}

/// Words `odd` and 2 + `odd`, of `a` and `b` by turns.
fn merge_words(a: u128, b: u128, odd: u32) -> u128 {
    build(|index| get::<u32>(if index % 2 == 0 { a } else { b }, (index & 2) + odd))
}

/// `element` at every place.
pub(in crate::exec) fn splat<L: Lane>(element: L) -> u128 {
    build(|_| element)
}
