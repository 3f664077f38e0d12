//! Bytes put elsewhere: Power ISA 3.0B Book I chapter 6, and `lvsl` and `lvsr`, which make the indices for it.

use arch::instruction::{Mnemonic, Word};

use super::lane::{build, get, map};
use super::{a, b, c, put};
use crate::exec::Handler;
use crate::state::thread::Thread;

/// The handler of a permutation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vperm => |t, _, i| put(t, i, select(a(t, i), b(t, i), c(t, i))),
        // Index 0 is the last byte.
        Mnemonic::Vpermr => |t, _, i| put(t, i, select(a(t, i), b(t, i), !c(t, i))),
        Mnemonic::Vpermxor => |t, _, i| put(t, i, select_and_add(a(t, i), b(t, i), c(t, i))),
        Mnemonic::Vsel => |t, _, i| put(t, i, a(t, i) & !c(t, i) | b(t, i) & c(t, i)),
        Mnemonic::Vsldoi => |t, _, i| put(t, i, shift_in(a(t, i), b(t, i), i.shb())),
        Mnemonic::Lvsl => |t, _, i| put(t, i, ascending(alignment(t, i))),
        Mnemonic::Lvsr => |t, _, i| put(t, i, ascending(16 - alignment(t, i))),
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

/// Of `a` the byte that the high half of each index names, exclusive-or that of `b` of the low half.
fn select_and_add(a: u128, b: u128, indices: u128) -> u128 {
    map(indices, |index: u8| get::<u8>(a, (index >> 4).into()) ^ get::<u8>(b, index.into()))
}

/// `a` shifted left by `bytes`, with bytes of `b` from the right.
pub(in crate::exec) fn shift_in(a: u128, b: u128, bytes: u32) -> u128 {
    match 8 * bytes {
        0 => a,
        bits => a << bits | b >> (128 - bits),
    }
}

/// How far the address is beyond a multiple of 16.
fn alignment(thread: &Thread, i: Word) -> u8 {
    (thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]) & 0xF) as u8
}

/// Sixteen bytes from `first` on.
fn ascending(first: u8) -> u128 {
    build(|index| first + index as u8)
}
