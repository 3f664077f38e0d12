//! Rotations under a mask.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode, Outcome};
use super::{finish, variant};
use crate::state::thread::Thread;

/// The handler of a rotation.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Rlwinm => variant!(rc i, and_mask, |t, i| rotate_word(t, i, i.sh()), word_mask),
        Mnemonic::Rlwnm => {
            variant!(rc i, and_mask, |t, i| rotate_word(t, i, t.gpr[i.rb()] as u32 & 31), word_mask)
        }
        Mnemonic::Rlwimi => variant!(rc i, insert, |t, i| rotate_word(t, i, i.sh()), word_mask),
        Mnemonic::Rldicl => variant!(rc i, and_mask, immediate, |i| mask(i.mb6(), 63)),
        Mnemonic::Rldicr => variant!(rc i, and_mask, immediate, |i| mask(0, i.me6())),
        Mnemonic::Rldic => variant!(rc i, and_mask, immediate, |i| mask(i.mb6(), 63 - i.sh6())),
        Mnemonic::Rldimi => variant!(rc i, insert, immediate, |i| mask(i.mb6(), 63 - i.sh6())),
        Mnemonic::Rldcl => variant!(rc i, and_mask, register, |i| mask(i.mb6(), 63)),
        Mnemonic::Rldcr => variant!(rc i, and_mask, register, |i| mask(0, i.me6())),
        _ => return None,
    })
}

/// Ones from bit `first` to bit `last`, around the end where `first` is the greater.
#[inline(always)]
pub(in crate::exec) fn mask(first: u32, last: u32) -> u64 {
    let (from_first, to_last) = (u64::MAX >> first, u64::MAX << (63 - last));
    if first <= last { from_first & to_last } else { from_first | to_last }
}

/// The mask of a word rotation. One that wraps covers the upper word too.
#[inline(always)]
fn word_mask(i: Word) -> u64 {
    mask(i.mb() + 32, i.me() + 32)
}

/// The low word of RS rotated, in both words of the result.
#[inline(always)]
fn rotate_word(thread: &Thread, i: Word, count: u32) -> u64 {
    let rotated = u64::from((thread.gpr[i.rs()] as u32).rotate_left(count));
    rotated << 32 | rotated
}

#[inline(always)]
fn immediate(thread: &Thread, i: Word) -> u64 {
    thread.gpr[i.rs()].rotate_left(i.sh6())
}

#[inline(always)]
fn register(thread: &Thread, i: Word) -> u64 {
    thread.gpr[i.rs()].rotate_left(thread.gpr[i.rb()] as u32 & 63)
}

#[inline(always)]
fn and_mask<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    rotated: impl Fn(&Thread, Word) -> u64,
    mask: impl Fn(Word) -> u64,
) -> Outcome {
    finish::<RC>(thread, i.ra(), rotated(thread, i) & mask(i))
}

#[inline(always)]
fn insert<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    rotated: impl Fn(&Thread, Word) -> u64,
    mask: impl Fn(Word) -> u64,
) -> Outcome {
    let mask = mask(i);
    let result = rotated(thread, i) & mask | thread.gpr[i.ra()] & !mask;
    finish::<RC>(thread, i.ra(), result)
}
