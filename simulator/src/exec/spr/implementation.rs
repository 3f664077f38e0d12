//! Registers beyond the architecture (`docs/facts/special-registers.md#registers-of-the-implementation`).

use arch::bits::bit;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::counters::Missing;
use crate::state::thread::trap::{StopReason, Trap};

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    match row.spr {
        // Only writes do something.
        Spr::Trig1 | Spr::Trig2 => Ok(None),
        _ => kept::read(thread, shared, row),
    }
}

/// What is refused is the hypervisor's alone, so that no partition stops the machine.
fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let what = match row.spr {
        // They change no register and no storage: TRIG2 empties the L1 data cache.
        Spr::Trig1 | Spr::Trig2 => return Ok(()),
        Spr::Wort if !shared.processor.facts().has_wort => return Ok(()),
        // The processor's own trace, which no software of its threads sees.
        Spr::Trace => return Ok(()),
        // They keep what is written, and what they are for never happens.
        Spr::Imc => return keep(thread, shared, row, value, Missing::InMemory),
        Spr::Mmcrc => return keep(thread, shared, row, value, Missing::CoreMonitor),
        Spr::L2qosr => return keep(thread, shared, row, value, Missing::CacheService),
        // A partition's kernel reaches these: they keep what it writes, and count nothing.
        Spr::Mmcrs | Spr::Spmc1 | Spr::Spmc2 => {
            return keep(thread, shared, row, value, Missing::Supervisor);
        }
        Spr::Mmcrh if value != 0 => "the hypervisor's control of the performance monitor",
        Spr::Ldbar if value & COLLECTS != 0 => "collecting of events in memory",
        _ => return kept::write(thread, shared, row, value),
    };
    Err(thread.stop(StopReason::SprNotModelled { register: row.spr.name(), value, what }))
}

/// Keeps what was written; if it asks for something, that is noted as missing.
fn keep(
    thread: &mut Thread,
    shared: &mut Shared,
    row: &SprRow,
    value: u64,
    missing: Missing,
) -> Result<(), Trap> {
    shared.note_missing((value != 0).then_some(missing));
    kept::write(thread, shared, row, value)
}

/// LDBAR: collect counts, or a trace, where the rest says.
const COLLECTS: u64 = bit(0) | bit(1);
