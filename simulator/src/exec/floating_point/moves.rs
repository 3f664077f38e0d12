//! Moves, sign manipulation, select and merge: Power ISA 3.0B Book I 4.6.5 and 4.6.9. Bits go as they
//! are; a NaN is not quieted, and FPSCR is not touched.

use arch::instruction::{Mnemonic, Word};

use super::deliver::record;
use super::number::{SIGN, is_nan, is_negative, is_zero};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

const LOW: u64 = 0xFFFF_FFFF;

/// The handler of a move.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fmr => |t, _, i| put(t, i, b(t, i)),
        Mnemonic::Fneg => |t, _, i| put(t, i, b(t, i) ^ SIGN),
        Mnemonic::Fabs => |t, _, i| put(t, i, b(t, i) & !SIGN),
        Mnemonic::Fnabs => |t, _, i| put(t, i, b(t, i) | SIGN),
        Mnemonic::Fcpsgn => |t, _, i| put(t, i, a(t, i) & SIGN | b(t, i) & !SIGN),
        Mnemonic::Fsel => {
            |t, _, i| put(t, i, if is_at_least_zero(a(t, i)) { t.fpr(i.frc()) } else { b(t, i) })
        }
        Mnemonic::Fmrgew => |t, _, i| put(t, i, a(t, i) & !LOW | b(t, i) >> 32),
        Mnemonic::Fmrgow => |t, _, i| put(t, i, a(t, i) << 32 | b(t, i) & LOW),
        _ => return None,
    })
}

fn a(thread: &Thread, i: Word) -> u64 {
    thread.fpr(i.fra())
}

fn b(thread: &Thread, i: Word) -> u64 {
    thread.fpr(i.frb())
}

fn is_at_least_zero(bits: u64) -> bool {
    is_zero(bits) || !is_negative(bits) && !is_nan(bits)
}

fn put(thread: &mut Thread, i: Word, value: u64) -> Outcome {
    thread.set_fpr(i.frt(), value);
    record(thread, i);
    Ok(Flow::Next)
}
