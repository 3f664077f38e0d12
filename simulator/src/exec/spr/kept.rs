//! Registers keep a value: that is all there is to most of them.

use arch::registers::spr::{Scope, Spr, SprRow};

use super::family::Family;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

pub(super) fn read(
    thread: &mut Thread,
    shared: &mut Shared,
    row: &SprRow,
) -> Result<Option<u64>, Trap> {
    Ok(Some(stored(thread, shared, row.spr)))
}

pub(super) fn write(
    thread: &mut Thread,
    shared: &mut Shared,
    row: &SprRow,
    value: u64,
) -> Result<(), Trap> {
    let is_kept = store(thread, shared, row.spr, value);
    debug_assert!(is_kept, "no chip-scope register but the time base is written");
    Ok(())
}

/// What a register holds now, those that count with the time or with the instructions included.
#[must_use]
pub fn counted(thread: &Thread, shared: &Shared, spr: Spr) -> u64 {
    match spr {
        Spr::Tb => shared.timebase(thread),
        // These count as the time base does, from where they were set.
        Spr::Purr | Spr::Spurr | Spr::Vtb => {
            shared.ticks(thread).wrapping_add(stored(thread, shared, spr))
        }
        Spr::Ic => thread.completed_now().wrapping_add(thread.spr(Spr::Ic)),
        spr => stored(thread, shared, spr),
    }
}

/// What a register keeps, without any effect of reading it.
#[must_use]
pub fn stored(thread: &Thread, shared: &Shared, spr: Spr) -> u64 {
    match spr.row().scope {
        Scope::Thread | Scope::Subcore => thread.spr(spr),
        Scope::Core => shared.cores[thread.core].spr(spr),
        Scope::Chip => spr.reset(shared.processor),
    }
}

/// Changes what a register keeps, without any effect of writing it: `false` if nothing keeps it.
pub fn store(thread: &mut Thread, shared: &mut Shared, spr: Spr, value: u64) -> bool {
    match spr.row().scope {
        Scope::Thread => thread.set_spr(spr, value),
        Scope::Subcore => {
            thread.set_spr(spr, value);
            shared.tell_siblings(thread, spr);
        }
        Scope::Core => shared.cores[thread.core].set_spr(spr, value),
        Scope::Chip => return false,
    }
    true
}
