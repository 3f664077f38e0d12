//! Addition, subtraction and negation.
//!
//! Every one of them is a sum of two doublewords and a carry; `subf` adds the complement of RA.

use arch::instruction::{Mnemonic, Word};
use arch::registers::{msr, xer};

use super::super::{Flow, Handler, Mode, Outcome};
use super::{carry, finish, set_carry, set_overflow, variant};
use crate::state::thread::Thread;

/// The handler of an addition or subtraction.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Addi if i.ra() == 0 => |t, _, i| finish::<false>(t, i.rt(), i.si() as u64),
        Mnemonic::Addi => |t, _, i| {
            let sum = t.gpr[i.ra()].wrapping_add_signed(i.si());
            finish::<false>(t, i.rt(), sum)
        },
        Mnemonic::Addis if i.ra() == 0 => |t, _, i| finish::<false>(t, i.rt(), shifted(i.si())),
        Mnemonic::Addis => |t, _, i| {
            let sum = t.gpr[i.ra()].wrapping_add(shifted(i.si()));
            finish::<false>(t, i.rt(), sum)
        },
        Mnemonic::Addpcis => |t, _, i| {
            let next = t.effective(t.cia.wrapping_add(4)).0;
            finish::<false>(t, i.rt(), next.wrapping_add(shifted(i.d_split())))
        },
        Mnemonic::Addic => |t, _, i| carrying_immediate::<false>(t, i, t.gpr[i.ra()], 0),
        Mnemonic::AddicRc => |t, _, i| carrying_immediate::<true>(t, i, t.gpr[i.ra()], 0),
        Mnemonic::Subfic => |t, _, i| carrying_immediate::<false>(t, i, !t.gpr[i.ra()], 1),
        Mnemonic::Add => variant!(oe rc i, plain, |a| a, |t, i| t.gpr[i.rb()], 0),
        Mnemonic::Subf => variant!(oe rc i, plain, |a| !a, |t, i| t.gpr[i.rb()], 1),
        Mnemonic::Neg => variant!(oe rc i, plain, |a| !a, |_, _| 0, 1),
        Mnemonic::Addc => variant!(oe rc i, carrying, |a| a, |t, i| t.gpr[i.rb()], |_| 0),
        Mnemonic::Subfc => variant!(oe rc i, carrying, |a| !a, |t, i| t.gpr[i.rb()], |_| 1),
        Mnemonic::Adde => variant!(oe rc i, carrying, |a| a, |t, i| t.gpr[i.rb()], carry),
        Mnemonic::Subfe => variant!(oe rc i, carrying, |a| !a, |t, i| t.gpr[i.rb()], carry),
        Mnemonic::Addme => variant!(oe rc i, carrying, |a| a, |_, _| u64::MAX, carry),
        Mnemonic::Subfme => variant!(oe rc i, carrying, |a| !a, |_, _| u64::MAX, carry),
        Mnemonic::Addze => variant!(oe rc i, carrying, |a| a, |_, _| 0, carry),
        Mnemonic::Subfze => variant!(oe rc i, carrying, |a| !a, |_, _| 0, carry),
        Mnemonic::Addex => |t, _, i| addex(t, i),
        _ => return None,
    })
}

fn shifted(immediate: i64) -> u64 {
    (immediate << 16) as u64
}

/// A sum with everything that XER may want to know of it.
struct Sum {
    value: u64,
    /// Carries out of the doubleword and out of its low word.
    carries: (bool, bool),
    /// Signed overflow of the doubleword and of its low word.
    overflows: (bool, bool),
}

#[inline(always)]
fn sum(a: u64, b: u64, carry: u64) -> Sum {
    let (partial, first) = a.overflowing_add(b);
    let (value, second) = partial.overflowing_add(carry);
    let signs = (a ^ value) & (b ^ value);
    Sum {
        value,
        carries: (first | second, (a ^ b ^ value) >> 32 & 1 != 0),
        overflows: (signs >> 63 != 0, signs >> 31 & 1 != 0),
    }
}

/// In 32-bit mode OV is the overflow of the low word.
#[inline(always)]
fn record_overflow(thread: &mut Thread, (overflow, overflow32): (bool, bool)) {
    let overflow = if thread.msr() & msr::SF == 0 { overflow32 } else { overflow };
    set_overflow(thread, overflow, overflow32);
}

/// RT = a(RA) + b + carry.
#[inline(always)]
fn plain<const OE: bool, const RC: bool>(
    thread: &mut Thread,
    i: Word,
    a: impl Fn(u64) -> u64,
    b: impl Fn(&Thread, Word) -> u64,
    carry: u64,
) -> Outcome {
    let sum = sum(a(thread.gpr[i.ra()]), b(thread, i), carry);
    if OE {
        record_overflow(thread, sum.overflows);
    }
    finish::<RC>(thread, i.rt(), sum.value)
}

/// RT = a(RA) + b + carry, and XER\[CA\].
#[inline(always)]
fn carrying<const OE: bool, const RC: bool>(
    thread: &mut Thread,
    i: Word,
    a: impl Fn(u64) -> u64,
    b: impl Fn(&Thread, Word) -> u64,
    carry: impl Fn(&Thread) -> u64,
) -> Outcome {
    let sum = sum(a(thread.gpr[i.ra()]), b(thread, i), carry(thread));
    set_carry(thread, sum.carries.0, sum.carries.1);
    if OE {
        record_overflow(thread, sum.overflows);
    }
    finish::<RC>(thread, i.rt(), sum.value)
}

#[inline(always)]
fn carrying_immediate<const RC: bool>(thread: &mut Thread, i: Word, a: u64, carry: u64) -> Outcome {
    let sum = sum(a, i.si() as u64, carry);
    set_carry(thread, sum.carries.0, sum.carries.1);
    finish::<RC>(thread, i.rt(), sum.value)
}

/// A second chain of carries: OV and OV32 in the place of CA and CA32. SO stays.
fn addex(thread: &mut Thread, i: Word) -> Outcome {
    let carry = u64::from(thread.xer & xer::OV != 0);
    let Sum { value, carries: (carry, carry32), .. } =
        sum(thread.gpr[i.ra()], thread.gpr[i.rb()], carry);
    let carry = if thread.msr() & msr::SF == 0 { carry32 } else { carry };
    thread.xer &= !(xer::OV | xer::OV32);
    thread.xer |= if carry { xer::OV } else { 0 } | if carry32 { xer::OV32 } else { 0 };
    thread.gpr[i.rt()] = value;
    Ok(Flow::Next)
}
