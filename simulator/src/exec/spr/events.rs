//! Event-based branches: BESCR and the numbers that set and reset its bits.

use arch::registers::bescr;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| true };

const BESCRS: u16 = 800;
const BESCRSU: u16 = 801;
const BESCRR: u16 = 802;
const BESCRRU: u16 = 803;

fn read(thread: &mut Thread, _: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    let value = thread.spr(Spr::Bescr);
    Ok(Some(if matches!(row.number, BESCRSU | BESCRRU) { value >> 32 } else { value }))
}

fn write(thread: &mut Thread, _: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let old = thread.spr(Spr::Bescr);
    let new = match row.number {
        BESCRS => old | value,
        BESCRSU => old | value << 32,
        BESCRR => old & !value,
        BESCRRU => old & !(value << 32),
        _ => value,
    };
    thread.set_spr(Spr::Bescr, new & bescr::KEPT);
    Ok(())
}
