//! Floating-point stores: Power ISA 3.0B Book I 4.6.3 and 4.6.4.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::load::{displaced, indexed};
use crate::exec::{Handler, Outcome, stored};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stfs => |t, s, i| store(t, s, i, displaced(t, i), single),
        Mnemonic::Stfsx => |t, s, i| store(t, s, i, indexed(t, i), single),
        Mnemonic::Stfsu => |t, s, i| update(t, s, i, i.d() as u64, single),
        Mnemonic::Stfsux => |t, s, i| update(t, s, i, t.gpr[i.rb()], single),
        Mnemonic::Stfd => |t, s, i| store(t, s, i, displaced(t, i), Thread::store_u64),
        Mnemonic::Stfdx => |t, s, i| store(t, s, i, indexed(t, i), Thread::store_u64),
        Mnemonic::Stfdu => |t, s, i| update(t, s, i, i.d() as u64, Thread::store_u64),
        Mnemonic::Stfdux => |t, s, i| update(t, s, i, t.gpr[i.rb()], Thread::store_u64),
        Mnemonic::Stfiwx => |t, s, i| store(t, s, i, indexed(t, i), low_word),
        Mnemonic::Stfdp => {
            |t, s, i| pair(t, s, i, t.gpr_or_zero(i.ra()).wrapping_add(i.ds() as u64))
        }
        Mnemonic::Stfdpx => |t, s, i| pair(t, s, i, indexed(t, i)),
        _ => return None,
    })
}

/// How the value of a register comes to an address.
type Write = fn(&mut Thread, &mut Shared, EffectiveAddress, u64) -> Result<(), Trap>;

#[inline]
fn store(thread: &mut Thread, shared: &mut Shared, i: Word, address: u64, write: Write) -> Outcome {
    write(thread, shared, thread.effective(address), thread.fpr(i.frs()))?;
    stored(shared)
}

/// Stores at (RA) + `offset` and leaves that address in RA.
#[inline]
fn update(thread: &mut Thread, shared: &mut Shared, i: Word, offset: u64, write: Write) -> Outcome {
    let address = thread.effective(thread.gpr[i.ra()].wrapping_add(offset));
    let flow = store(thread, shared, i, address.0, write)?;
    thread.gpr[i.ra()] = address.0;
    Ok(flow)
}

/// Stores a quadword whose high-order half is the even register, in either byte order.
fn pair(thread: &mut Thread, shared: &mut Shared, i: Word, address: u64) -> Outcome {
    let (high, low) = (thread.fpr(i.frs()), thread.fpr(i.frs() + 1));
    let value = u128::from(high) << 64 | u128::from(low);
    thread.store_u128(shared, thread.effective(address), value)?;
    stored(shared)
}

#[inline]
fn single(
    t: &mut Thread,
    s: &mut Shared,
    address: EffectiveAddress,
    value: u64,
) -> Result<(), Trap> {
    t.store_u32(s, address, single_from_double(value))
}

fn low_word(
    t: &mut Thread,
    s: &mut Shared,
    address: EffectiveAddress,
    value: u64,
) -> Result<(), Trap> {
    t.store_u32(s, address, value as u32)
}

/// A number of double format in single format: the SINGLE of the Power ISA. No rounding: bits that do
/// not fit are lost. Below the denormal numbers the result is undefined; here it is a zero.
#[inline]
pub(in crate::exec) fn single_from_double(double: u64) -> u32 {
    /// Exponent field of 2^-127: it and lesser ones are denormal in single format.
    const GREATEST_DENORMAL: u64 = 1023 - 127;
    let sign = (double >> 63) as u32;
    let exponent = double >> 52 & 0x7FF;
    if exponent > GREATEST_DENORMAL {
        let (top, rest) = ((double >> 62) as u32, (double >> 29) as u32);
        return top << 30 | rest & 0x3FFF_FFFF;
    }
    let significand = double & 0x000F_FFFF_FFFF_FFFF | 1 << 52;
    let distance = GREATEST_DENORMAL + 30 - exponent;
    let fraction =
        if exponent == 0 { 0 } else { significand.checked_shr(distance as u32).unwrap_or(0) };
    sign << 31 | fraction as u32
}
