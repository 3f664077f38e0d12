//! Atomic memory operations: Power ISA 3.0B Book II section 4.5.
//!
//! The machine executes one instruction at a time, so atomicity is free; what is left is arithmetic.
//! Operands in registers follow RT: RT+1, and RT+2 for the compare and swap, around the end.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};
use arch::interrupt::{Vector, storage};

use super::super::{Handler, Mode, Outcome, stored};
use super::{aligned, base};
use crate::mmu::Access;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{Interrupt, StorageFault, Trap};

/// The handler of an atomic memory operation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lwat => |t, s, i| load(t, s, i, WORD),
        Mnemonic::Ldat => |t, s, i| load(t, s, i, DOUBLEWORD),
        Mnemonic::Stwat => |t, s, i| store(t, s, i, WORD),
        Mnemonic::Stdat => |t, s, i| store(t, s, i, DOUBLEWORD),
        _ => return None,
    })
}

const WORD: u64 = 4;
const DOUBLEWORD: u64 = 8;

/// log2 of the block that both operands of an operation on a pair lie in.
const BLOCK_LOG2: u32 = 5;

/// DSISR: the function code is not one of the instruction's. Source: Linux's `reg.h` for POWER9.
const BAD_FUNCTION: u64 = 0x4;

/// An operand of `bytes` bytes as a signed number.
fn signed(value: u64, bytes: u64) -> i64 {
    let unused = 64 - 8 * bytes;
    (value << unused) as i64 >> unused
}

/// The operand in a register, cut to `bytes` bytes.
fn operand(thread: &Thread, register: usize, bytes: u64) -> u64 {
    let value = thread.gpr[register % 32];
    if bytes == WORD { value & 0xFFFF_FFFF } else { value }
}

/// What operations 0 to 7 of both loads and stores leave in memory.
fn combine(function: u32, memory: u64, register: u64, bytes: u64) -> u64 {
    let (left, right) = (signed(memory, bytes), signed(register, bytes));
    match function {
        0 => memory.wrapping_add(register),
        1 => memory ^ register,
        2 => memory | register,
        3 => memory & register,
        4 => memory.max(register),
        5 => left.max(right) as u64,
        6 => memory.min(register),
        7 => left.min(right) as u64,
        _ => unreachable!("function {function} combines nothing"),
    }
}

fn load(thread: &mut Thread, shared: &mut Shared, i: Word, bytes: u64) -> Outcome {
    let address = base(thread, i);
    let function = i.fc();
    if !matches!(function, 0..=8 | 16 | 24 | 25 | 28) {
        return Err(bad_function(thread, address, 0));
    }
    aligned(thread, address, bytes.trailing_zeros())?;
    let first = operand(thread, i.rt() + 1, bytes);
    let second = operand(thread, i.rt() + 2, bytes);
    // Increment and decrement look at a neighbour; its place tells how far they may go.
    let neighbour = match function {
        24 | 25 => Some(address.wrapping_add(bytes)),
        28 => Some(address.wrapping_add(bytes.wrapping_neg())),
        _ => None,
    };
    if let Some(neighbour) = neighbour
        && neighbour.align_down(BLOCK_LOG2) != address.align_down(BLOCK_LOG2)
    {
        return Err(thread.alignment_interrupt(address));
    }
    thread.require_cached(shared, address, Access::Load)?;
    let memory = get(thread, shared, address, bytes)?;
    let bound = match neighbour {
        Some(neighbour) => get(thread, shared, neighbour, bytes)?,
        None => 0,
    };
    let most_negative = 1 << (8 * bytes - 1);
    let (new, result) = match function {
        0..=7 => (Some(combine(function, memory, first, bytes)), memory),
        8 => (Some(first), memory),
        16 => ((memory != first).then_some(second), memory),
        24 if memory != bound => (Some(memory.wrapping_add(1)), memory),
        25 if memory == bound => (Some(memory.wrapping_add(1)), memory),
        28 if memory != bound => (Some(memory.wrapping_sub(1)), memory),
        24 | 25 | 28 => (None, most_negative),
        _ => unreachable!("function {function} was refused above"),
    };
    // Even an operation that changes nothing needs the right to store.
    put(thread, shared, address, new.unwrap_or(memory), bytes)?;
    thread.gpr[i.rt()] = result;
    stored(shared)
}

fn store(thread: &mut Thread, shared: &mut Shared, i: Word, bytes: u64) -> Outcome {
    let address = base(thread, i);
    if !matches!(i.fc(), 0..=7 | STORE_TWIN) {
        return Err(bad_function(thread, address, storage::STORE));
    }
    aligned(thread, address, bytes.trailing_zeros())?;
    thread.require_cached(shared, address, Access::Store)?;
    let value = operand(thread, i.rs(), bytes);
    if i.fc() == STORE_TWIN {
        return store_twin(thread, shared, address, value, bytes);
    }
    let memory = get(thread, shared, address, bytes)?;
    put(thread, shared, address, combine(i.fc(), memory, value, bytes), bytes)?;
    stored(shared)
}

const STORE_TWIN: u32 = 24;

/// Stores into both of two neighbours, if they are equal.
fn store_twin(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    value: u64,
    bytes: u64,
) -> Outcome {
    let second = address.wrapping_add(bytes);
    if second.align_down(BLOCK_LOG2) != address.align_down(BLOCK_LOG2) {
        return Err(thread.alignment_interrupt(address));
    }
    let old = [get(thread, shared, address, bytes)?, get(thread, shared, second, bytes)?];
    let new = if old[0] == old[1] { [value; 2] } else { old };
    put(thread, shared, address, new[0], bytes)?;
    put(thread, shared, second, new[1], bytes)?;
    stored(shared)
}

fn get(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    bytes: u64,
) -> Result<u64, Trap> {
    if bytes == WORD {
        thread.load_u32(shared, address).map(u64::from)
    } else {
        thread.load_u64(shared, address)
    }
}

fn put(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    value: u64,
    bytes: u64,
) -> Result<(), Trap> {
    if bytes == WORD {
        thread.store_u32(shared, address, value as u32)
    } else {
        thread.store_u64(shared, address, value)
    }
}

fn bad_function(thread: &mut Thread, address: EffectiveAddress, store: u64) -> Trap {
    let status = Some(BAD_FUNCTION | store);
    let storage = Some(StorageFault { address, status, asdr: None });
    thread.interrupt(Interrupt { storage, ..Interrupt::new(Vector::DataStorage) })
}
