//! Whose address space it is, and how its addresses are translated.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read: kept::read, write, synchronizes: |_, _| true };

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let kept = match row.spr {
        Spr::Lpcr => shared.processor.facts().lpcr,
        _ => u64::MAX,
    };
    kept::write(thread, shared, row, value & kept)
}
