//! Floating-point loads: Power ISA 3.0B Book I 4.6.2 and 4.6.4.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lfs => |t, s, i| load(t, s, i, displaced(t, i), single),
        Mnemonic::Lfsx => |t, s, i| load(t, s, i, indexed(t, i), single),
        Mnemonic::Lfsu => |t, s, i| update(t, s, i, i.d() as u64, single),
        Mnemonic::Lfsux => |t, s, i| update(t, s, i, t.gpr[i.rb()], single),
        Mnemonic::Lfd => |t, s, i| load(t, s, i, displaced(t, i), Thread::load_u64),
        Mnemonic::Lfdx => |t, s, i| load(t, s, i, indexed(t, i), Thread::load_u64),
        Mnemonic::Lfdu => |t, s, i| update(t, s, i, i.d() as u64, Thread::load_u64),
        Mnemonic::Lfdux => |t, s, i| update(t, s, i, t.gpr[i.rb()], Thread::load_u64),
        Mnemonic::Lfiwax => |t, s, i| load(t, s, i, indexed(t, i), word_algebraic),
        Mnemonic::Lfiwzx => |t, s, i| load(t, s, i, indexed(t, i), word_zero),
        Mnemonic::Lfdp => {
            |t, s, i| pair(t, s, i, t.gpr_or_zero(i.ra()).wrapping_add(i.ds() as u64))
        }
        Mnemonic::Lfdpx => |t, s, i| pair(t, s, i, indexed(t, i)),
        _ => return None,
    })
}

/// (RA|0) + D.
pub(super) fn displaced(thread: &Thread, i: Word) -> u64 {
    thread.gpr_or_zero(i.ra()).wrapping_add(i.d() as u64)
}

/// (RA|0) + (RB).
pub(in crate::exec) fn indexed(thread: &Thread, i: Word) -> u64 {
    thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()])
}

/// How the value at an address comes into a register.
type Read = fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<u64, Trap>;

#[inline]
fn load(thread: &mut Thread, shared: &mut Shared, i: Word, address: u64, read: Read) -> Outcome {
    let value = read(thread, shared, thread.effective(address))?;
    thread.set_fpr(i.frt(), value);
    Ok(Flow::Next)
}

/// Loads from (RA) + `offset` and leaves that address in RA.
#[inline]
fn update(thread: &mut Thread, shared: &mut Shared, i: Word, offset: u64, read: Read) -> Outcome {
    let address = thread.effective(thread.gpr[i.ra()].wrapping_add(offset));
    load(thread, shared, i, address.0, read)?;
    thread.gpr[i.ra()] = address.0;
    Ok(Flow::Next)
}

/// Loads a quadword; its high-order half goes to the even register, in either byte order.
fn pair(thread: &mut Thread, shared: &mut Shared, i: Word, address: u64) -> Outcome {
    let value = thread.load_u128(shared, thread.effective(address))?;
    thread.set_fpr(i.frt(), (value >> 64) as u64);
    thread.set_fpr(i.frt() + 1, value as u64);
    Ok(Flow::Next)
}

#[inline]
fn single(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u64, Trap> {
    t.load_u32(s, address).map(double_from_single)
}

fn word_algebraic(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u64, Trap> {
    t.load_u32(s, address).map(|word| i64::from(word as i32) as u64)
}

fn word_zero(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u64, Trap> {
    t.load_u32(s, address).map(u64::from)
}

/// A number of single format in double format: the DOUBLE of the Power ISA. A NaN keeps its payload
/// and stays signalling if it is.
#[inline]
pub(in crate::exec) fn double_from_single(single: u32) -> u64 {
    const BIAS_DIFFERENCE: u64 = 1023 - 127;
    let sign = u64::from(single >> 31) << 63;
    let exponent = u64::from(single >> 23 & 0xFF);
    let fraction = u64::from(single & 0x007F_FFFF);
    let magnitude = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => {
            // The leading bit, moved to the place of the hidden one, adds one to the exponent.
            let zeros = fraction.leading_zeros() - 40;
            ((BIAS_DIFFERENCE - u64::from(zeros)) << 52) + (fraction << (zeros + 29))
        }
        (0xFF, _) => 0x7FF << 52 | fraction << 29,
        _ => (exponent + BIAS_DIFFERENCE) << 52 | fraction << 29,
    };
    sign | magnitude
}
