//! The program's priority among the threads of its core.

use arch::registers::ppr::PRIORITY;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

const PPR32: u16 = 898;

fn read(thread: &mut Thread, _: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    let value = thread.spr(Spr::Ppr);
    Ok(Some(if row.number == PPR32 { value >> 32 } else { value }))
}

fn write(thread: &mut Thread, _: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let value = if row.number == PPR32 { value << 32 } else { value };
    if may_set(thread, PRIORITY.get(value)) {
        thread.set_spr(Spr::Ppr, value & PRIORITY.mask());
    }
    Ok(())
}

/// Whether the thread's state may set the program priority; a value that it may not set is ignored.
/// Problem state gets medium high only while PSPB counts down, which it never does here.
fn may_set(thread: &Thread, priority: u64) -> bool {
    match priority {
        2..=4 => true,
        1 | 5 | 6 => !thread.is_problem(),
        7 => thread.is_hypervisor(),
        _ => false,
    }
}
