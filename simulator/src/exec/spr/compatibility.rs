//! Registers that withhold facilities and levels of the architecture from software.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read: kept::read, write, synchronizes: |_, _| true };

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    if row.spr != Spr::Pcr {
        return kept::write(thread, shared, row, value);
    }
    // Software sets the reserved bits too (Linux's PCR_MASK); they read as zero.
    kept::write(thread, shared, row, value & shared.processor.facts().pcr)
}
