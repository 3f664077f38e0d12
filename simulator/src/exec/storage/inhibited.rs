//! Cache-inhibited loads and stores of hypervisor real mode: Power ISA 3.0B Book III section 4.4.
//!
//! The decode table keeps them from any other state than the hypervisor's. What has no cache in
//! between is the same here as what has one; no device answers to them yet.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};
use arch::interrupt::{Vector, storage};
use arch::registers::msr;

use super::super::{Flow, Handler, Mode, Outcome, stored};
use super::{aligned, x};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{Interrupt, StorageFault, Trap};

/// The handler of a cache-inhibited access.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lbzcix => |t, s, i| load(t, s, i, 0, |t, s, at| t.load_u8(s, at)),
        Mnemonic::Lhzcix => |t, s, i| load(t, s, i, 1, |t, s, at| t.load_u16(s, at)),
        Mnemonic::Lwzcix => |t, s, i| load(t, s, i, 2, |t, s, at| t.load_u32(s, at)),
        Mnemonic::Ldcix => |t, s, i| load(t, s, i, 3, |t, s, at| t.load_u64(s, at)),
        Mnemonic::Stbcix => |t, s, i| store(t, s, i, 0, |t, s, at, v| t.store_u8(s, at, v as u8)),
        Mnemonic::Sthcix => |t, s, i| store(t, s, i, 1, |t, s, at, v| t.store_u16(s, at, v as u16)),
        Mnemonic::Stwcix => |t, s, i| store(t, s, i, 2, |t, s, at, v| t.store_u32(s, at, v as u32)),
        Mnemonic::Stdcix => |t, s, i| store(t, s, i, 3, |t, s, at, v| t.store_u64(s, at, v)),
        _ => return None,
    })
}

/// DSISR: a cache-inhibited access with relocation on. Source: Linux's `reg.h`.
const NOT_REAL: u64 = 0x2;

/// The address, if relocation is off and the address aligned.
fn address(thread: &mut Thread, i: Word, log2: u32, store: u64) -> Result<EffectiveAddress, Trap> {
    let address = x(thread, i);
    if thread.msr() & msr::DR != 0 {
        let status = Some(NOT_REAL | store);
        let storage = Some(StorageFault { address, status, asdr: None });
        return Err(thread.interrupt(Interrupt { storage, ..Interrupt::new(Vector::DataStorage) }));
    }
    aligned(thread, address, log2)?;
    Ok(address)
}

fn load<T: Into<u64>>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    log2: u32,
    get: impl Fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<T, Trap>,
) -> Outcome {
    let address = address(thread, i, log2, 0)?;
    thread.gpr[i.rt()] = get(thread, shared, address)?.into();
    Ok(Flow::Next)
}

fn store(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    log2: u32,
    put: impl Fn(&mut Thread, &mut Shared, EffectiveAddress, u64) -> Result<(), Trap>,
) -> Outcome {
    let address = address(thread, i, log2, storage::STORE)?;
    put(thread, shared, address, thread.gpr[i.rs()])?;
    stored(shared)
}
