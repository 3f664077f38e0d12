//! Registers beyond the architecture (`docs/facts/special-registers.md#registers-of-the-implementation`).

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
        spr if is_unknown(spr) => Err(thread.stop(StopReason::RegisterNotModelled(row.name))),
        _ => kept::read(thread, shared, row),
    }
}

/// What is refused is the hypervisor's alone, so that no partition stops the machine.
fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let what = match row.spr {
        // They change no register and no storage: TRIG2 empties the L1 data cache.
        Spr::Trig1 | Spr::Trig2 => return Ok(()),
        Spr::Wort if !shared.processor.facts().has_wort => return Ok(()),
        spr if is_unknown(spr) => {
            return Err(thread.stop(StopReason::RegisterNotModelled(row.name)));
        }
        // A partition's kernel reaches these: they keep what it writes, and count nothing.
        Spr::Mmcrs | Spr::Spmc1 | Spr::Spmc2 => {
            shared.note_missing((value != 0).then_some(Missing::Supervisor));
            return kept::write(thread, shared, row, value);
        }
        Spr::Mmcrh if value != 0 => "the hypervisor's control of the performance monitor",
        Spr::Mmcrc if value != 0 => "the core's own performance monitor",
        Spr::Ldbar if value != 0 => "collecting of events in memory",
        _ => return kept::write(thread, shared, row, value),
    };
    Err(thread.stop(StopReason::SprNotModelled { register: row.spr.name(), value, what }))
}

/// What it does, and what it shows, is not modelled.
fn is_unknown(spr: Spr) -> bool {
    matches!(spr, Spr::Tfmr | Spr::Imc | Spr::L2qosr)
}
