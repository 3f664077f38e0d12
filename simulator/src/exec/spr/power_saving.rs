//! Power saving: what `stop` is asked for, and the performance state.

use arch::bits::Field;
use arch::registers::psscr;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| false };

const GUEST_PSSCR: u16 = 823;

/// The performance state that PMCR asks for. Of the others its version stays, and the rest reads as zero.
const PMCR_LOWER_STATE: Field = Field::new(8, 15);

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    if row.number == GUEST_PSSCR {
        return Ok(Some(guest_psscr(thread)));
    }
    kept::read(thread, shared, row)
}

/// What a guest sees of PSSCR (`docs/facts/special-registers.md#psscr`); SD hides the level that was reached.
fn guest_psscr(thread: &Thread) -> u64 {
    let value = thread.spr(Spr::Psscr);
    let hidden = if value & psscr::SD != 0 { psscr::PLS.mask() } else { 0 };
    value & psscr::PRIVILEGED & !hidden
}

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let value = match row.spr {
        // The clock has one frequency, as PMSR says: what is asked for is kept and not granted.
        Spr::Pmcr => value & PMCR_LOWER_STATE.mask() | Spr::Pmcr.reset(shared.processor),
        _ if row.number == GUEST_PSSCR => {
            thread.spr(Spr::Psscr) & !psscr::PRIVILEGED | value & psscr::PRIVILEGED
        }
        _ => value,
    };
    kept::write(thread, shared, row, value)
}
