//! Registers behind a register: SPRC has the address of one, and SPRD reads and writes it
//! (`docs/facts/special-registers.md#sprc-and-sprd`).

use arch::processor::Processor;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::counters::Missing;
use crate::state::thread::trap::{StopReason, Trap};

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

/// The bits of an address.
const ADDRESS: u64 = 0x3F8;
/// Where the state of the core's threads is. Its bit 63 says that two cores are fused, and these are not.
const THREAD_STATE: u64 = 0x1E0;

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    require(thread, shared, row)?;
    if row.spr == Spr::Sprc {
        return kept::read(thread, shared, row);
    }
    let address = thread.spr(Spr::Sprc);
    match shared.cores[thread.core].scratch.get(place(address)) {
        Some(value) => Ok(Some(*value)),
        None if address == THREAD_STATE => Ok(Some(0)),
        None => Err(stop(thread, address, "what SPRD shows then")),
    }
}

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    require(thread, shared, row)?;
    if row.spr == Spr::Sprc {
        return match value & !ADDRESS {
            0 => kept::write(thread, shared, row, value),
            // As on QEMU.
            _ => {
                shared.note_missing([Missing::Address]);
                Ok(())
            }
        };
    }
    let address = thread.spr(Spr::Sprc);
    match shared.cores[thread.core].scratch.get_mut(place(address)) {
        Some(register) => *register = value,
        None => return Err(stop(thread, address, "what a write of SPRD does then")),
    }
    Ok(())
}

/// The number of the scratch register at an address; there may be none.
const fn place(address: u64) -> usize {
    address as usize / 8
}

/// Stops where no source says what lies behind the registers.
fn require(thread: &mut Thread, shared: &Shared, row: &SprRow) -> Result<(), Trap> {
    match shared.processor {
        Processor::Power9 => Ok(()),
        Processor::Power8 => Err(thread.stop(StopReason::RegisterNotModelled(row.name))),
    }
}

fn stop(thread: &mut Thread, value: u64, what: &'static str) -> Trap {
    thread.stop(StopReason::SprNotModelled { register: Spr::Sprc.name(), value, what })
}
