//! TEXASR, and the number of its upper half.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

const TEXASRU: u16 = 131;

fn read(thread: &mut Thread, _: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    let value = thread.spr(Spr::Texasr);
    Ok(Some(if row.number == TEXASRU { value >> 32 } else { value }))
}

fn write(thread: &mut Thread, _: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let lower = thread.spr(Spr::Texasr) & 0xFFFF_FFFF;
    let value = if row.number == TEXASRU { value << 32 | lower } else { value };
    thread.set_spr(Spr::Texasr, value);
    Ok(())
}
