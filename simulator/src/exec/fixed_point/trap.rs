//! Traps.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::marker::Mark;

use super::super::{Flow, Handler, Mode, Outcome, system};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a trap.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let is_trap = matches!(mnemonic, Mnemonic::Tdi | Mnemonic::Twi | Mnemonic::Td | Mnemonic::Tw);
    if is_trap && i.to() == 0 {
        // Never traps: a mark, the endian fix-up, or nothing.
        return Some(match Mark::from_word(i) {
            Some(_) => mark,
            None => |_, _, _| Ok(Flow::Next),
        });
    }
    Some(match mnemonic {
        Mnemonic::Tdi => |t, _, i| trap_if(t, i, t.gpr[i.ra()] as i64, i.si()),
        Mnemonic::Td => |t, _, i| trap_if(t, i, t.gpr[i.ra()] as i64, t.gpr[i.rb()] as i64),
        Mnemonic::Twi => |t, _, i| trap_if(t, i, word(t.gpr[i.ra()]), i.si()),
        Mnemonic::Tw => |t, _, i| trap_if(t, i, word(t.gpr[i.ra()]), word(t.gpr[i.rb()])),
        _ => return None,
    })
}

/// The machine may want to do something at a mark.
fn mark(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let mark = Mark::from_word(i).expect("the handler was chosen for a mark");
    shared.pass_mark(thread.index, mark);
    Ok(Flow::Synchronize)
}

/// A sign-extended word: sign extension keeps both the signed and the unsigned order of words.
fn word(value: u64) -> i64 {
    i64::from(value as i32)
}

#[inline(always)]
fn trap_if(thread: &mut Thread, i: Word, a: i64, b: i64) -> Outcome {
    let signed = match a.cmp(&b) {
        Ordering::Less => 0b10000,
        Ordering::Greater => 0b01000,
        Ordering::Equal => 0b00100,
    };
    let unsigned = match (a as u64).cmp(&(b as u64)) {
        Ordering::Less => 0b00010,
        Ordering::Greater => 0b00001,
        Ordering::Equal => 0,
    };
    if i.to() & (signed | unsigned) != 0 {
        return Err(system::trap(thread));
    }
    Ok(Flow::Next)
}
