//! Causes of hypervisor maintenance interrupts, and which of them count.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read: kept::read, write, synchronizes: |_, _| true };

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    if row.spr == Spr::Hmer {
        // What is written can only clear causes.
        thread.set_spr(Spr::Hmer, thread.spr(Spr::Hmer) & value);
        return Ok(());
    }
    // HMEER is the whole core's: a thread that waits may have something to wake for.
    shared.call_attention();
    kept::write(thread, shared, row, value)
}
