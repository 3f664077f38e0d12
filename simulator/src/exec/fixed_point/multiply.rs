//! Multiplication, and multiplication with addition.

use arch::instruction::{Mnemonic, Word};

use super::super::{Flow, Handler, Mode, Outcome};
use super::{finish, set_overflow, variant};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a multiplication.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mulli => |t, _, i| {
            let product = t.gpr[i.ra()].wrapping_mul(i.si() as u64);
            finish::<false>(t, i.rt(), product)
        },
        Mnemonic::Mullw => variant!(oe rc i, mullw),
        Mnemonic::Mulld => variant!(oe rc i, mulld),
        Mnemonic::Mulhw => variant!(rc i, high_word, |a, b| {
            (i64::from(a as i32) * i64::from(b as i32)) as u64
        }),
        Mnemonic::Mulhwu => variant!(rc i, high_word, |a, b| u64::from(a) * u64::from(b)),
        Mnemonic::Mulhd => variant!(rc i, high_doubleword, signed_product),
        Mnemonic::Mulhdu => variant!(rc i, high_doubleword, unsigned_product),
        Mnemonic::Maddhd => |t, s, i| {
            add_product(t, s, i, |a, b, c| {
                (signed_product(a, b).wrapping_add(i128::from(c as i64) as u128) >> 64) as u64
            })
        },
        Mnemonic::Maddhdu => |t, s, i| {
            add_product(t, s, i, |a, b, c| {
                (unsigned_product(a, b).wrapping_add(u128::from(c)) >> 64) as u64
            })
        },
        Mnemonic::Maddld => {
            |t, s, i| add_product(t, s, i, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        _ => return None,
    })
}

fn signed_product(a: u64, b: u64) -> u128 {
    (i128::from(a as i64) * i128::from(b as i64)) as u128
}

fn unsigned_product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[inline(always)]
fn mullw<const OE: bool, const RC: bool>(thread: &mut Thread, i: Word) -> Outcome {
    let product = i64::from(thread.gpr[i.ra()] as i32) * i64::from(thread.gpr[i.rb()] as i32);
    if OE {
        let overflow = i32::try_from(product).is_err();
        set_overflow(thread, overflow, overflow);
    }
    finish::<RC>(thread, i.rt(), product as u64)
}

#[inline(always)]
fn mulld<const OE: bool, const RC: bool>(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (thread.gpr[i.ra()] as i64, thread.gpr[i.rb()] as i64);
    let (product, overflow) = a.overflowing_mul(b);
    if OE {
        set_overflow(thread, overflow, overflow);
    }
    finish::<RC>(thread, i.rt(), product as u64)
}

/// The architecture leaves the upper word of RT undefined; here it has the result too, as in
/// Libre-SOC's pseudo-code.
#[inline(always)]
fn high_word<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    product: impl Fn(u32, u32) -> u64,
) -> Outcome {
    let high = product(thread.gpr[i.ra()] as u32, thread.gpr[i.rb()] as u32) >> 32;
    finish::<RC>(thread, i.rt(), high << 32 | high)
}

#[inline(always)]
fn high_doubleword<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    product: impl Fn(u64, u64) -> u128,
) -> Outcome {
    let high = product(thread.gpr[i.ra()], thread.gpr[i.rb()]) >> 64;
    finish::<RC>(thread, i.rt(), high as u64)
}

#[inline(always)]
fn add_product(
    thread: &mut Thread,
    _: &mut Shared,
    i: Word,
    operation: impl Fn(u64, u64, u64) -> u64,
) -> Outcome {
    let gpr = &thread.gpr;
    thread.gpr[i.rt()] = operation(gpr[i.ra()], gpr[i.rb()], gpr[i.rc_register()]);
    Ok(Flow::Next)
}
