//! Comparisons into a condition-register field, and `setb`, which brings one back.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::super::{Flow, Handler, Mode, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a comparison.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let is_doubleword = i.l_cmp() == 1;
    Some(match mnemonic {
        Mnemonic::Cmpi if is_doubleword => |t, _, i| {
            let order = (t.gpr[i.ra()] as i64).cmp(&i.si());
            put(t, i, order)
        },
        Mnemonic::Cmpi => |t, _, i| {
            let order = (t.gpr[i.ra()] as i32).cmp(&(i.si() as i32));
            put(t, i, order)
        },
        Mnemonic::Cmpli if is_doubleword => |t, _, i| {
            let order = t.gpr[i.ra()].cmp(&i.ui());
            put(t, i, order)
        },
        Mnemonic::Cmpli => |t, _, i| {
            let order = (t.gpr[i.ra()] as u32).cmp(&(i.ui() as u32));
            put(t, i, order)
        },
        Mnemonic::Cmp if is_doubleword => |t, _, i| {
            let order = (t.gpr[i.ra()] as i64).cmp(&(t.gpr[i.rb()] as i64));
            put(t, i, order)
        },
        Mnemonic::Cmp => |t, _, i| {
            let order = (t.gpr[i.ra()] as i32).cmp(&(t.gpr[i.rb()] as i32));
            put(t, i, order)
        },
        Mnemonic::Cmpl if is_doubleword => |t, _, i| {
            let order = t.gpr[i.ra()].cmp(&t.gpr[i.rb()]);
            put(t, i, order)
        },
        Mnemonic::Cmpl => |t, _, i| {
            let order = (t.gpr[i.ra()] as u32).cmp(&(t.gpr[i.rb()] as u32));
            put(t, i, order)
        },
        Mnemonic::Cmprb => cmprb,
        Mnemonic::Cmpeqb => cmpeqb,
        Mnemonic::Setb => setb,
        _ => return None,
    })
}

#[inline(always)]
fn put(thread: &mut Thread, i: Word, order: Ordering) -> Outcome {
    let bits = match order {
        Ordering::Less => cr::LT,
        Ordering::Greater => cr::GT,
        Ordering::Equal => cr::EQ,
    };
    thread.set_cr_field(i.bf(), bits | thread.summary_overflow());
    Ok(Flow::Next)
}

/// Whether the low byte of RA lies in a range of RB: the low halfword's, or with L=1 either one of
/// the low word's. A range is its upper end followed by its lower end.
fn cmprb(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let byte = thread.gpr[i.ra()] as u8;
    let [.., high1, low1, high2, low2] = thread.gpr[i.rb()].to_be_bytes();
    let is_in_range =
        (low2..=high2).contains(&byte) || i.l_cmp() == 1 && (low1..=high1).contains(&byte);
    thread.set_cr_field(i.bf(), if is_in_range { cr::GT } else { 0 });
    Ok(Flow::Next)
}

/// Whether the low byte of RA is among the bytes of RB.
fn cmpeqb(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let byte = thread.gpr[i.ra()] as u8;
    let is_found = thread.gpr[i.rb()].to_be_bytes().contains(&byte);
    thread.set_cr_field(i.bf(), if is_found { cr::GT } else { 0 });
    Ok(Flow::Next)
}

/// -1, 1 or 0, as the field says less, greater or neither.
fn setb(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let field = thread.cr_field(i.bfa());
    thread.gpr[i.rt()] =
        if field & cr::LT != 0 { u64::MAX } else { u64::from(field & cr::GT != 0) };
    Ok(Flow::Next)
}
