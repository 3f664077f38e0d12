//! Loads and stores with a length, of at most 16 bytes, in the top byte of RB: Power ISA 3.0B Book I
//! 7.6.
//!
//! With a length of zero nothing is accessed. A load makes the bytes that it does not read zero.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome, stored};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        // As of a quadword: in little-endian mode the first byte of storage is byte 15.
        Mnemonic::Lxvl => |t, s, i| load(t, s, i, t.is_little_endian()),
        Mnemonic::Stxvl => |t, s, i| store(t, s, i, t.is_little_endian()),
        // Left-justified: the first byte of storage is byte 0.
        Mnemonic::Lxvll => |t, s, i| load(t, s, i, false),
        Mnemonic::Stxvll => |t, s, i| store(t, s, i, false),
        _ => return None,
    })
}

/// The number of bytes.
fn length(thread: &Thread, i: Word) -> usize {
    (thread.gpr[i.rb()] >> 56).min(16) as usize
}

/// (RA|0) + `index`.
fn place(thread: &Thread, i: Word, index: usize) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add(index as u64))
}

fn load(thread: &mut Thread, shared: &mut Shared, i: Word, is_reversed: bool) -> Outcome {
    let mut loaded = [0; 16];
    for (index, byte) in loaded[..length(thread, i)].iter_mut().enumerate() {
        *byte = thread.load_u8(shared, place(thread, i, index))?;
    }
    if is_reversed {
        loaded.reverse();
    }
    thread.set_vsr(i.xt(), u128::from_be_bytes(loaded));
    Ok(Flow::Next)
}

fn store(thread: &mut Thread, shared: &mut Shared, i: Word, is_reversed: bool) -> Outcome {
    let mut bytes = thread.vsr(i.xt()).to_be_bytes();
    if is_reversed {
        bytes.reverse();
    }
    store_all(thread, shared, i, &bytes[..length(thread, i)])?;
    stored(shared)
}

fn store_all(thread: &mut Thread, shared: &mut Shared, i: Word, bytes: &[u8]) -> Result<(), Trap> {
    for (index, &byte) in bytes.iter().enumerate() {
        thread.store_u8(shared, place(thread, i, index), byte)?;
    }
    Ok(())
}
