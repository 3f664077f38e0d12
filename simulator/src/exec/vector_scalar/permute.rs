//! Permutations: doublewords, words and bytes of registers in other places. Power ISA 3.0B Book I
//! 7.6.
//!
//! `xxextractuw` and `xxinsertw` with a byte number above 12 are undefined; here byte 0 follows byte 15.

use arch::instruction::{Mnemonic, Word};

use crate::exec::vector::lane::{Lane, build, get, map};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a permutation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xxpermdi => |t, _, i| {
            let from_a = t.vsr[i.xa()][i.dm() as usize >> 1];
            let from_b = t.vsr[i.xb()][i.dm() as usize & 1];
            t.vsr[i.xt()] = [from_a, from_b];
            Ok(Flow::Next)
        },
        Mnemonic::Xxsldwi => |t, _, i| {
            let (a, b) = (t.vsr(i.xa()), t.vsr(i.xb()));
            put(t, i, build(|n| word_of_both(a, b, n + i.shw())))
        },
        Mnemonic::Xxmrghw => |t, _, i| merge(t, i, 0),
        Mnemonic::Xxmrglw => |t, _, i| merge(t, i, 2),
        Mnemonic::Xxspltw => |t, _, i| {
            let word: u32 = get(t.vsr(i.xb()), i.uim2());
            put(t, i, build(|_| word))
        },
        Mnemonic::Xxspltib => |t, _, i| put(t, i, build(|_| i.imm8())),
        Mnemonic::Xxextractuw => |t, _, i| {
            let rotated = t.vsr(i.xb()).rotate_left(8 * i.uim4());
            put(t, i, rotated >> 96 << 64)
        },
        Mnemonic::Xxinsertw => |t, _, i| {
            let place = 8 * i.uim4();
            let word: u32 = get(t.vsr(i.xb()), 1);
            let kept = t.vsr(i.xt()).rotate_left(place) & u128::MAX >> 32;
            put(t, i, (kept | u128::from(word) << 96).rotate_right(place))
        },
        Mnemonic::Xxperm => |t, _, i| permute(t, i, |index| index),
        Mnemonic::Xxpermr => |t, _, i| permute(t, i, |index| !index),
        Mnemonic::Xxbrh => |t, _, i| reverse(t, i, u16::swap_bytes),
        Mnemonic::Xxbrw => |t, _, i| reverse(t, i, u32::swap_bytes),
        Mnemonic::Xxbrd => |t, _, i| reverse(t, i, u64::swap_bytes),
        Mnemonic::Xxbrq => |t, _, i| reverse(t, i, u128::swap_bytes),
        _ => return None,
    })
}

fn put(thread: &mut Thread, i: Word, value: u128) -> Outcome {
    thread.set_vsr(i.xt(), value);
    Ok(Flow::Next)
}

/// Word `index` of `a` and then `b`.
fn word_of_both(a: u128, b: u128, index: u32) -> u32 {
    get(if index < 4 { a } else { b }, index)
}

/// Words `first` and the next of both, in turns.
fn merge(thread: &mut Thread, i: Word, first: u32) -> Outcome {
    let (a, b) = (thread.vsr(i.xa()), thread.vsr(i.xb()));
    let word = |n: u32| get::<u32>(if n.is_multiple_of(2) { a } else { b }, first + n / 2);
    put(thread, i, build(word))
}

/// Bytes out of XA and then XT, by the low five bits of what `which` makes of the bytes of XB.
fn permute(thread: &mut Thread, i: Word, which: impl Fn(u8) -> u8) -> Outcome {
    let (a, b, t) = (thread.vsr(i.xa()), thread.vsr(i.xb()), thread.vsr(i.xt()));
    let byte = |n: u32| {
        let index = u32::from(which(get(b, n)) & 0x1F);
        get::<u8>(if index < 16 { a } else { t }, index)
    };
    put(thread, i, build(byte))
}

fn reverse<L: Lane>(thread: &mut Thread, i: Word, swap: fn(L) -> L) -> Outcome {
    put(thread, i, map(thread.vsr(i.xb()), swap))
}
