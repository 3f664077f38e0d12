//! Load and reserve, store conditional: Power ISA 3.0B Book II section 4.6.
//!
//! Operands must be aligned. The architecture leaves open what a store conditional does that is not
//! of the reservation's size, or to another place in its granule: the former does not store here,
//! the latter does. The reservation is gone after every store conditional.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::super::{Flow, Handler, Mode, Outcome, stored};
use super::quadword::{pair, set_pair};
use super::{aligned, x};
use crate::mmu::Access;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load and reserve or of a store conditional.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lbarx => |t, s, i| load(t, s, i, u8::from_le_bytes, u8::from_be_bytes),
        Mnemonic::Lharx => |t, s, i| load(t, s, i, u16::from_le_bytes, u16::from_be_bytes),
        Mnemonic::Lwarx => |t, s, i| load(t, s, i, u32::from_le_bytes, u32::from_be_bytes),
        Mnemonic::Ldarx => |t, s, i| load(t, s, i, u64::from_le_bytes, u64::from_be_bytes),
        Mnemonic::Lqarx => lqarx,
        Mnemonic::Stbcx => |t, s, i| {
            let value = t.gpr[i.rs()] as u8;
            store(t, s, i, value.to_le_bytes(), value.to_be_bytes())
        },
        Mnemonic::Sthcx => |t, s, i| {
            let value = t.gpr[i.rs()] as u16;
            store(t, s, i, value.to_le_bytes(), value.to_be_bytes())
        },
        Mnemonic::Stwcx => |t, s, i| {
            let value = t.gpr[i.rs()] as u32;
            store(t, s, i, value.to_le_bytes(), value.to_be_bytes())
        },
        Mnemonic::Stdcx => |t, s, i| {
            let value = t.gpr[i.rs()];
            store(t, s, i, value.to_le_bytes(), value.to_be_bytes())
        },
        Mnemonic::Stqcx => |t, s, i| {
            let value = pair(t, i.rs());
            store(t, s, i, value.to_le_bytes(), value.to_be_bytes())
        },
        _ => return None,
    })
}

/// The bytes at the instruction's address, reserved.
#[inline(always)]
fn reserve<const N: usize>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
) -> Result<[u8; N], Trap> {
    let address = x(thread, i);
    aligned(thread, address, N.trailing_zeros())?;
    thread.require_cached(shared, address, Access::Load)?;
    let offset = thread.locate(shared, address, Access::Load)?;
    shared.reserve(thread, offset, N as u8);
    Ok(shared.memory.read(offset))
}

#[inline(always)]
fn load<T: Into<u64>, const N: usize>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    from_little: impl Fn([u8; N]) -> T,
    from_big: impl Fn([u8; N]) -> T,
) -> Outcome {
    let bytes = reserve(thread, shared, i)?;
    let value = if thread.is_little_endian() { from_little(bytes) } else { from_big(bytes) };
    thread.gpr[i.rt()] = value.into();
    Ok(Flow::Next)
}

fn lqarx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let bytes = reserve(thread, shared, i)?;
    let is_little = thread.is_little_endian();
    let value = if is_little { u128::from_le_bytes(bytes) } else { u128::from_be_bytes(bytes) };
    set_pair(thread, i.rt(), value);
    Ok(Flow::Next)
}

#[inline(always)]
fn store<const N: usize>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    little: [u8; N],
    big: [u8; N],
) -> Outcome {
    let address: EffectiveAddress = x(thread, i);
    aligned(thread, address, N.trailing_zeros())?;
    thread.require_cached(shared, address, Access::Store)?;
    let offset = thread.locate(shared, address, Access::Store)?;
    let is_stored = shared.take_reservation(thread, offset, N as u8);
    if is_stored {
        let bytes = if thread.is_little_endian() { little } else { big };
        shared.store(thread, offset, bytes);
    }
    let result = if is_stored { cr::EQ } else { 0 };
    thread.set_cr_field(0, result | thread.summary_overflow());
    stored(shared)
}
