//! The performance monitor: its registers are there, and its counters are frozen.
//!
//! A write that would let a counter count, in a state that the processor can be in, stops the machine, and so
//! do sampling and the time base as a source of events. Alerts are there: software sets MMCR0\[PMAO\], or makes
//! a counter negative that is enabled. What becomes of an alert is in `interrupt` (MMCR0\[EBE\]=0) and
//! `interrupt::event`. Source: `arch::registers::monitor`; which counter counts when is Microwatt's
//! `pmu.vhdl`, and what problem state may do is QEMU's `power8-pmu-regs.c.inc`.

use arch::instruction::Word;
use arch::registers::hfscr::Facility;
use arch::registers::monitor::{self, mmcr2};
use arch::registers::spr::{Access, Spr, SprRow};

use super::family::Family;
use super::kept::stored;
use crate::exec::facility::unavailable;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// CTRL is here because it has the run latch, which lets counters count.
pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_| true };

const COUNTERS: [Spr; 6] = [Spr::Pmc1, Spr::Pmc2, Spr::Pmc3, Spr::Pmc4, Spr::Pmc5, Spr::Pmc6];
const COUNTING: [&str; 6] = [
    "counting by PMC1",
    "counting by PMC2",
    "counting by PMC3",
    "counting by PMC4",
    "counting by PMC5",
    "counting by PMC6",
];

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

/// The bits that a register's number shows and changes.
fn visible(row: &SprRow) -> u64 {
    match (row.spr, row.write) {
        (Spr::Mmcr0, Access::Problem) => monitor::PROBLEM_MMCR0,
        (Spr::Mmcr2, Access::Problem) => mmcr2::PROBLEM,
        _ => row.mask(),
    }
}

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    Ok(Some(stored(thread, shared, row.spr) & visible(row)))
}

fn write(thread: &mut Thread, _: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let (old, changes) = (thread.spr(row.spr), visible(row));
    thread.set_spr(row.spr, old & !changes | value & changes);
    if let Some(what) = not_modelled(thread) {
        thread.set_spr(row.spr, old);
        return Err(thread.stop(StopReason::SprNotModelled {
            register: row.spr.name(),
            value,
            what,
        }));
    }
    alert(thread);
    Ok(())
}

/// What the registers ask for that this machine does not do.
fn not_modelled(thread: &Thread) -> Option<&'static str> {
    let mmcr0 = thread.spr(Spr::Mmcr0);
    let has = |bits: u64| mmcr0 & bits != 0;
    let event_matters = has(monitor::PMAE | monitor::TRIGGER)
        || mmcr0 & (monitor::FCECE | monitor::FC) == monitor::FCECE;
    if has(monitor::TBEE) && event_matters {
        return Some("the time base as a source of performance-monitor events");
    }
    if thread.spr(Spr::Mmcra) & monitor::SAMPLE_ENABLE != 0 {
        return Some("sampling of instructions");
    }
    (1..=6).find(|&number| counts(thread, number)).map(|number| COUNTING[number as usize - 1])
}

/// Whether counter `number`, 1 to 6, would count in some state of the processor.
fn counts(thread: &Thread, number: u32) -> bool {
    let (mmcr0, mmcr2) = (thread.spr(Spr::Mmcr0), thread.spr(Spr::Mmcr2));
    let runs = thread.spr(Spr::Ctrl) & 1 != 0;
    let is_set = |bits: u64, field: u32| mmcr0 & bits != 0 || mmcr2 & mmcr2::of(number, field) != 0;
    if number > 4 && control(thread) == 3 {
        // Outside of the performance monitor: nothing freezes it but the run latch.
        return runs;
    }
    let is_off = match monitor::EVENTS.get(number as usize - 1) {
        Some(event) => {
            let event = event.get(thread.spr(Spr::Mmcr1));
            // Event 0xF0 of PMC1, cycles, is not asked for the run latch.
            let waits = mmcr0 & monitor::FC1_4WAIT != 0 && !runs && (number, event) != (1, 0xF0);
            mmcr0 & monitor::FC1_4 != 0 || waits || event == 0
        }
        None => mmcr0 & monitor::FC5_6 != 0 || !runs && mmcr0 & monitor::CC56RUN == 0,
    };
    if mmcr0 & monitor::FC != 0 || is_off || !runs && is_set(0, mmcr2::WAIT) {
        return false;
    }
    let problem = if mmcr0 & monitor::FCPC == 0 { monitor::FCP } else { 0 };
    let is_frozen_everywhere = is_set(problem, mmcr2::P0)
        && is_set(monitor::FCS, mmcr2::S)
        && is_set(monitor::FCH, mmcr2::H);
    let is_frozen_always = is_set(monitor::FCM0, mmcr2::M0) && is_set(monitor::FCM1, mmcr2::M1);
    !(is_frozen_everywhere || is_frozen_always)
}

/// What negative counters do. An alert samples nothing: SIER says that SIAR and SDAR are not valid.
fn alert(thread: &mut Thread) {
    let mut mmcr0 = thread.spr(Spr::Mmcr0);
    let monitored = if control(thread) == 3 { &COUNTERS[..4] } else { &COUNTERS };
    let is_negative = |spr: &Spr| thread.spr(*spr) & monitor::NEGATIVE != 0;
    let first = is_negative(&Spr::Pmc1);
    let others = monitored[1..].iter().any(is_negative);
    let condition = first && mmcr0 & monitor::PMC1CE != 0 || others && mmcr0 & monitor::PMCJCE != 0;
    if condition && mmcr0 & monitor::PMAE != 0 {
        mmcr0 = mmcr0 & !monitor::PMAE | monitor::PMAO;
        thread.set_spr(Spr::Sier, 0);
    }
    if condition && mmcr0 & (monitor::FCECE | monitor::TRIGGER) == monitor::FCECE {
        mmcr0 |= monitor::FC;
    }
    if condition || first {
        mmcr0 &= !monitor::TRIGGER;
    }
    thread.set_spr(Spr::Mmcr0, mmcr0);
}
