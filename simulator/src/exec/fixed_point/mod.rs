//! Fixed-point instructions other than loads and stores: Power ISA 3.0B Book I chapter 3.
//!
//! A file per family. Variants by Rc and OE are separate handlers, chosen at decode time, so that
//! the forms without them pay nothing. Results that the architecture leaves undefined but that
//! compiled code commonly produces and ignores (the upper word of `mulhw`, a quotient by zero) are
//! those of POWER9; each place says so.

mod add;
mod compare;
mod condition;
mod count;
mod decimal;
mod divide;
mod logical;
mod multiply;
mod random;
pub(super) mod rotate;
mod select;
mod shift;
mod trap;

use arch::instruction::{Mnemonic, Word};
use arch::registers::{msr, xer};

use super::{Flow, Handler, Mode, Outcome};
use crate::state::thread::Thread;

/// The handler of a fixed-point instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, mode: Mode) -> Option<Handler> {
    let families = [
        add::handler,
        logical::handler,
        compare::handler,
        rotate::handler,
        shift::handler,
        multiply::handler,
        divide::handler,
        count::handler,
        select::handler,
        trap::handler,
        condition::handler,
        decimal::handler,
        random::handler,
    ];
    families.iter().find_map(|family| family(mnemonic, i, mode))
}

/// The variant of a generic function by Rc, or by OE and Rc, that a word asks for, as a [`Handler`].
macro_rules! variant {
    (rc $i:ident, $function:ident $(, $argument:expr)*) => {
        if $i.rc() {
            |thread, _, i| $function::<true>(thread, i $(, $argument)*)
        } else {
            |thread, _, i| $function::<false>(thread, i $(, $argument)*)
        }
    };
    (oe rc $i:ident, $function:ident $(, $argument:expr)*) => {
        match ($i.oe(), $i.rc()) {
            (false, false) => |thread, _, i| $function::<false, false>(thread, i $(, $argument)*),
            (false, true) => |thread, _, i| $function::<false, true>(thread, i $(, $argument)*),
            (true, false) => |thread, _, i| $function::<true, false>(thread, i $(, $argument)*),
            (true, true) => |thread, _, i| $function::<true, true>(thread, i $(, $argument)*),
        }
    };
}
use variant;

/// Writes the result, and CR0 in a record form.
#[inline(always)]
fn finish<const RC: bool>(thread: &mut Thread, register: usize, result: u64) -> Outcome {
    thread.gpr[register] = result;
    if RC {
        thread.record(result);
    }
    Ok(Flow::Next)
}

/// XER\[CA\] as a number.
#[inline(always)]
fn carry(thread: &Thread) -> u64 {
    u64::from(thread.xer & xer::CA != 0)
}

/// Sets XER\[CA\] and XER\[CA32\] from the carries out of the doubleword and out of its low word;
/// in 32-bit mode CA is the latter.
#[inline(always)]
fn set_carry(thread: &mut Thread, carry: bool, carry32: bool) {
    let carry = if thread.msr() & msr::SF == 0 { carry32 } else { carry };
    thread.xer &= !(xer::CA | xer::CA32);
    thread.xer |= if carry { xer::CA } else { 0 } | if carry32 { xer::CA32 } else { 0 };
}

/// Sets XER\[OV\], XER\[OV32\] and, on overflow, XER\[SO\].
#[inline(always)]
fn set_overflow(thread: &mut Thread, overflow: bool, overflow32: bool) {
    thread.xer &= !(xer::OV | xer::OV32);
    thread.xer |= if overflow { xer::OV | xer::SO } else { 0 };
    thread.xer |= if overflow32 { xer::OV32 } else { 0 };
}

/// Sign-extends the low word of a register.
#[inline(always)]
fn sign_extend_word(value: u64) -> u64 {
    i64::from(value as i32) as u64
}

#[cfg(test)]
pub(super) mod tests;
