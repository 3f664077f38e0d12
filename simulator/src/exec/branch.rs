//! Branches and condition-register logic: Power ISA 3.0B Book I chapter 2.

use arch::instruction::{Mnemonic, Word};
use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;

use super::{Flow, Handler, Mode, Outcome, facility};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a branch or condition-register instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::B => b,
        Mnemonic::Bc => conditional(i),
        Mnemonic::Bclr => bclr,
        Mnemonic::Bcctr => bcctr,
        Mnemonic::Bctar => bctar,
        Mnemonic::Crand => |t, _, i| logic(t, i, |a, b| a & b),
        Mnemonic::Crandc => |t, _, i| logic(t, i, |a, b| a & !b),
        Mnemonic::Cror => |t, _, i| logic(t, i, |a, b| a | b),
        Mnemonic::Crorc => |t, _, i| logic(t, i, |a, b| a | !b),
        Mnemonic::Crxor => |t, _, i| logic(t, i, |a, b| a ^ b),
        Mnemonic::Creqv => |t, _, i| logic(t, i, |a, b| a == b),
        Mnemonic::Crnand => |t, _, i| logic(t, i, |a, b| !(a & b)),
        Mnemonic::Crnor => |t, _, i| logic(t, i, |a, b| !(a | b)),
        Mnemonic::Mcrf => mcrf,
        _ => return None,
    })
}

fn b(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let base = if i.aa() { 0 } else { thread.cia };
    go(thread, base.wrapping_add(i.li() as u64), i)
}

/// The commonest branches have handlers of their own, for which BO is a constant.
fn conditional(i: Word) -> Handler {
    match i.bo() {
        IF_FALSE..=7 => |t, _, i| bc(t, i, IF_FALSE),
        IF_TRUE..=15 => |t, _, i| bc(t, i, IF_TRUE),
        IF_COUNTER => |t, _, i| bc(t, i, IF_COUNTER),
        _ => |t, _, i| bc(t, i, i.bo()),
    }
}

/// BO without its hint bits: branch if the condition is false, or true, or the counter is not zero.
const IF_FALSE: u32 = 0b00100;
const IF_TRUE: u32 = 0b01100;
const IF_COUNTER: u32 = 0b10000;

#[inline(always)]
fn bc(thread: &mut Thread, i: Word, bo: u32) -> Outcome {
    let base = if i.aa() { 0 } else { thread.cia };
    go_if(thread, base.wrapping_add(i.bd() as u64), i, bo)
}

fn bclr(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    go_if(thread, thread.lr & !3, i, i.bo())
}

fn bcctr(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    go_if(thread, thread.ctr & !3, i, i.bo())
}

fn bctar(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    facility::require(thread, Facility::Tar)?;
    go_if(thread, thread.spr(Spr::Tar) & !3, i, i.bo())
}

/// Branches if BO and BI say so; CTR is decremented first where BO asks for it.
#[inline(always)]
fn go_if(thread: &mut Thread, target: u64, i: Word, bo: u32) -> Outcome {
    let counts = bo & 0b00100 == 0;
    if counts {
        thread.ctr = thread.ctr.wrapping_sub(1);
    }
    let is_zero = thread.effective(thread.ctr).0 == 0;
    let counter_allows = !counts || is_zero == (bo & 0b00010 != 0);
    let condition_allows = bo & 0b10000 != 0 || thread.cr_bit(i.bi()) == (bo & 0b01000 != 0);
    if counter_allows && condition_allows {
        return go(thread, target, i);
    }
    if i.lk() {
        link(thread);
    }
    Ok(Flow::Next)
}

#[inline(always)]
fn go(thread: &mut Thread, target: u64, i: Word) -> Outcome {
    if i.lk() {
        link(thread);
    }
    thread.nia = thread.effective(target).0;
    thread.set_spr(Spr::Cfar, thread.cia);
    Ok(Flow::Branch)
}

fn link(thread: &mut Thread) {
    thread.lr = thread.effective(thread.cia.wrapping_add(4)).0;
}

fn logic(thread: &mut Thread, i: Word, operation: impl Fn(bool, bool) -> bool) -> Outcome {
    let result = operation(thread.cr_bit(i.ba()), thread.cr_bit(i.bb()));
    let shift = 31 - i.bt();
    thread.cr = thread.cr & !(1 << shift) | u32::from(result) << shift;
    Ok(Flow::Next)
}

fn mcrf(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    thread.set_cr_field(i.bf(), thread.cr_field(i.bfa()));
    Ok(Flow::Next)
}
