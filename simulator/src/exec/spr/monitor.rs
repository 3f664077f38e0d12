//! The performance monitor's registers: who may use them, and what writing them begins.
//!
//! `state::thread::counters` counts. An event that the machine does not have never happens, and the machine says
//! so; sampling and the time base as a source of events are such too. Alerts: software sets MMCR0\[PMAO\], or a
//! counter that is enabled becomes negative. What becomes of an alert is in `interrupt` (MMCR0\[EBE\]=0) and
//! `interrupt::event`.
//! Source: `arch::registers::monitor`; what problem state may do is QEMU's `power8-pmu-regs.c.inc`.

use arch::instruction::Word;
use arch::registers::hfscr::Facility;
use arch::registers::monitor::{self, mmcr2};
use arch::registers::spr::{Access, Spr, SprRow};

use super::family::Family;
use super::kept::{self, stored};
use crate::exec::facility::unavailable;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| true };

/// CTRL has the run latch, which lets counters count.
pub(super) static RUN_LATCH: Family =
    Family { read: kept::read, write: write_run_latch, synchronizes: |thread, _| thread.counts() };

/// What MMCR0\[PMCC\] leaves to problem state of the registers that it could ever write: 0 reading, 1 nothing,
/// 2 all, 3 all but PMC5 and PMC6. The others are there to be read.
pub(super) fn require(
    thread: &mut Thread,
    row: &SprRow,
    i: Word,
    is_write: bool,
) -> Result<(), Trap> {
    if !thread.is_problem() || row.write != Access::Problem {
        return Ok(());
    }
    match control(thread) {
        0 if is_write => Err(thread.emulation_assistance(i)),
        1 => Err(unavailable(thread, Facility::Pm)),
        3 if matches!(row.spr, Spr::Pmc5 | Spr::Pmc6) => Err(unavailable(thread, Facility::Pm)),
        _ => Ok(()),
    }
}

fn control(thread: &Thread) -> u64 {
    monitor::PMCC.get(thread.spr(Spr::Mmcr0))
}

/// The bits that a register's number shows and changes. A number that problem state may write hides bits from problem
/// state alone.
fn visible(thread: &Thread, row: &SprRow) -> u64 {
    if !thread.is_problem() {
        return row.mask();
    }
    match (row.spr, row.write) {
        (Spr::Mmcr0, Access::Problem) => monitor::PROBLEM_MMCR0,
        (Spr::Mmcr2, Access::Problem) => mmcr2::PROBLEM,
        _ => row.mask(),
    }
}

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    thread.count();
    Ok(Some(stored(thread, shared, row.spr) & visible(thread, row)))
}

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    thread.count();
    let (old, changes) = (thread.spr(row.spr), visible(thread, row));
    thread.set_spr(row.spr, old & !changes | value & changes);
    thread.count_anew();
    thread.alert();
    shared.note_missing(thread.missing_of_monitor(shared.is_timed));
    Ok(())
}

fn write_run_latch(
    thread: &mut Thread,
    _: &mut Shared,
    _: &SprRow,
    value: u64,
) -> Result<(), Trap> {
    thread.count();
    thread.set_spr(Spr::Ctrl, value);
    if !thread.has_all_frozen() {
        thread.count_anew();
    }
    Ok(())
}
