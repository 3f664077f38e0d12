//! Load and store multiple, and strings of bytes.
//!
//! In little-endian mode each of them takes an alignment interrupt. A load changes no register
//! before all its bytes have been read.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};
use arch::registers::xer;

use super::super::{Flow, Handler, Mode, Outcome, stored};
use super::{base, d, x};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// The handler of a multiple or string access.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, mode: Mode) -> Option<Handler> {
    let is_little = mode.is_little_endian();
    Some(match mnemonic {
        Mnemonic::Lmw | Mnemonic::Stmw if is_little => |t, _, i| refuse(t, d(t, i)),
        Mnemonic::Lswi | Mnemonic::Stswi if is_little => |t, _, i| refuse(t, base(t, i)),
        Mnemonic::Lswx | Mnemonic::Stswx if is_little => |t, _, i| refuse(t, x(t, i)),
        Mnemonic::Lmw => lmw,
        Mnemonic::Stmw => stmw,
        Mnemonic::Lswi => |t, s, i| load_string(t, s, i, base(t, i), i.nb() as usize),
        Mnemonic::Lswx => lswx,
        Mnemonic::Stswi => |t, s, i| store_string(t, s, i, base(t, i), i.nb() as usize),
        Mnemonic::Stswx => |t, s, i| store_string(t, s, i, x(t, i), xer_bytes(t)),
        _ => return None,
    })
}

fn refuse(thread: &mut Thread, address: EffectiveAddress) -> Outcome {
    Err(thread.alignment_interrupt(address))
}

/// The address `bytes` further, in the thread's mode.
fn after(thread: &Thread, address: EffectiveAddress, bytes: usize) -> EffectiveAddress {
    thread.effective(address.0.wrapping_add(bytes as u64))
}

fn lmw(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let mut words = [0; 32];
    for (index, register) in (i.rt()..32).enumerate() {
        let address = after(thread, d(thread, i), 4 * index);
        words[register] = thread.load_u32(shared, address)?.into();
    }
    thread.gpr[i.rt()..].copy_from_slice(&words[i.rt()..]);
    Ok(Flow::Next)
}

fn stmw(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    for (index, register) in (i.rs()..32).enumerate() {
        let address = after(thread, d(thread, i), 4 * index);
        thread.store_u32(shared, address, thread.gpr[register] as u32)?;
    }
    stored(shared)
}

/// The count of `lswx` and `stswx`.
fn xer_bytes(thread: &Thread) -> usize {
    (thread.xer & xer::BYTES) as usize
}

/// RA=0 names no register, so that r0 may be among those loaded: as QEMU, and as kvm-unit-tests expects of processors.
fn lswx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let count = xer_bytes(thread);
    let is_loaded = |register: usize| (register + 32 - i.rt()) % 32 < count.div_ceil(4);
    if i.ra() != 0 && is_loaded(i.ra()) || is_loaded(i.rb()) {
        return Err(thread.stop(StopReason::InvalidForm("lswx (RA or RB among those loaded)")));
    }
    let address = x(thread, i);
    load_string(thread, shared, i, address, count)
}

/// Four bytes to a register, the first byte in the highest place of the low word; what is left over
/// in the last register is zero. With no bytes at all RT is undefined; here it stays.
fn load_string(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: EffectiveAddress,
    count: usize,
) -> Outcome {
    let mut bytes = [0; 128];
    for (index, byte) in bytes[..count].iter_mut().enumerate() {
        *byte = thread.load_u8(shared, after(thread, address, index))?;
    }
    let (words, _) = bytes.as_chunks();
    for (index, &word) in words[..count.div_ceil(4)].iter().enumerate() {
        thread.gpr[(i.rt() + index) % 32] = u32::from_be_bytes(word).into();
    }
    Ok(Flow::Next)
}

fn store_string(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: EffectiveAddress,
    count: usize,
) -> Outcome {
    let byte = |thread: &Thread, index: usize| -> u8 {
        let word = thread.gpr[(i.rs() + index / 4) % 32] as u32;
        word.to_be_bytes()[index % 4]
    };
    for index in 0..count {
        let at = after(thread, address, index);
        thread.store_u8(shared, at, byte(thread, index))?;
    }
    stored(shared)
}
