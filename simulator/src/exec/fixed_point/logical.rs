//! Logical operations and sign extension, and the forms of `or` that set the program priority.

use arch::instruction::{Mnemonic, Word};
use arch::registers::ppr::PRIORITY;
use arch::registers::spr::Spr;

use super::super::{Flow, Handler, Mode, Outcome};
use super::{finish, sign_extend_word, variant};
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// The handler of a logical operation.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, mode: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Ori if i.ui() == 0 && i.rs() == i.ra() => |_, _, _| Ok(Flow::Next),
        Mnemonic::Ori => |t, _, i| finish::<false>(t, i.ra(), t.gpr[i.rs()] | i.ui()),
        Mnemonic::Oris => |t, _, i| finish::<false>(t, i.ra(), t.gpr[i.rs()] | i.ui() << 16),
        Mnemonic::Xori => |t, _, i| finish::<false>(t, i.ra(), t.gpr[i.rs()] ^ i.ui()),
        Mnemonic::Xoris => |t, _, i| finish::<false>(t, i.ra(), t.gpr[i.rs()] ^ i.ui() << 16),
        Mnemonic::AndiRc => |t, _, i| finish::<true>(t, i.ra(), t.gpr[i.rs()] & i.ui()),
        Mnemonic::AndisRc => |t, _, i| finish::<true>(t, i.ra(), t.gpr[i.rs()] & i.ui() << 16),
        Mnemonic::Or if i.rs() == i.rb() => {
            if let Some(handler) = priority_hint(i, mode) {
                return Some(handler);
            }
            variant!(rc i, unary, |a| a)
        }
        Mnemonic::Or => variant!(rc i, binary, |a, b| a | b),
        Mnemonic::And => variant!(rc i, binary, |a, b| a & b),
        Mnemonic::Andc => variant!(rc i, binary, |a, b| a & !b),
        Mnemonic::Orc => variant!(rc i, binary, |a, b| a | !b),
        Mnemonic::Xor => variant!(rc i, binary, |a, b| a ^ b),
        Mnemonic::Eqv => variant!(rc i, binary, |a, b| !(a ^ b)),
        Mnemonic::Nand => variant!(rc i, binary, |a, b| !(a & b)),
        Mnemonic::Nor => variant!(rc i, binary, |a, b| !(a | b)),
        Mnemonic::Extsb => variant!(rc i, unary, |a| i64::from(a as i8) as u64),
        Mnemonic::Extsh => variant!(rc i, unary, |a| i64::from(a as i16) as u64),
        Mnemonic::Extsw => variant!(rc i, unary, sign_extend_word),
        _ => return None,
    })
}

/// RA = operation(RS).
#[inline(always)]
pub(super) fn unary<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    operation: impl Fn(u64) -> u64,
) -> Outcome {
    finish::<RC>(thread, i.ra(), operation(thread.gpr[i.rs()]))
}

/// RA = operation(RS, RB).
#[inline(always)]
pub(super) fn binary<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    operation: impl Fn(u64, u64) -> u64,
) -> Outcome {
    finish::<RC>(thread, i.ra(), operation(thread.gpr[i.rs()], thread.gpr[i.rb()]))
}

/// `or rx,rx,rx` sets the program priority for some rx, as far as the state may; elsewhere it does
/// nothing, as every `or rx,rx,rx` does. Book II section 3.1.
fn priority_hint(i: Word, mode: Mode) -> Option<Handler> {
    if i.rs() != i.ra() || i.rc() {
        return None;
    }
    let (is_privileged, is_hypervisor) = (!mode.is_problem(), mode.is_hypervisor());
    let nop: Handler = |_, _, _| Ok(Flow::Next);
    Some(match i.rs() {
        31 if is_privileged => |t, _, _| set_priority(t, 1),
        1 => |t, _, _| set_priority(t, 2),
        6 => |t, _, _| set_priority(t, 3),
        2 => |t, _, _| set_priority(t, 4),
        5 if is_privileged => |t, _, _| set_priority(t, 5),
        5 => medium_high_in_problem_state,
        3 if is_privileged => |t, _, _| set_priority(t, 6),
        7 if is_hypervisor => |t, _, _| set_priority(t, 7),
        _ => nop,
    })
}

fn set_priority(thread: &mut Thread, priority: u64) -> Outcome {
    let value = PRIORITY.set(thread.spr(Spr::Ppr), priority);
    thread.set_spr(Spr::Ppr, value);
    Ok(Flow::Next)
}

/// Problem state has medium high only while PSPB counts down, which is not modelled.
fn medium_high_in_problem_state(
    thread: &mut Thread,
    _: &mut crate::state::shared::Shared,
    _: Word,
) -> Outcome {
    if thread.spr(Spr::Pspb) != 0 {
        return Err(thread.stop(StopReason::InstructionNotModelled("or 5,5,5 with PSPB above 0")));
    }
    Ok(Flow::Next)
}
