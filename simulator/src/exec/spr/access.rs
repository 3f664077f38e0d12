//! Whether a thread's state may use a number at all.

use arch::instruction::Word;
use arch::interrupt::program;
use arch::registers::hfscr::Facility;
use arch::registers::pcr::Level;
use arch::registers::spr::{Access, Spr, SprRow};
use arch::registers::{lpcr, msr, pcr};

use super::monitor;
use crate::exec::{facility, hypervisor_privileged};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The row for the instruction's number, if the thread's state may use it in this direction; `None` where
/// the access does nothing.
pub(super) fn find(
    thread: &mut Thread,
    shared: &Shared,
    i: Word,
    is_write: bool,
) -> Result<Option<&'static SprRow>, Trap> {
    let number = i.spr();
    let row = SprRow::find(number, shared.processor).filter(|row| is_left(thread, row.spr));
    let access = row.map_or(Access::None, |row| if is_write { row.write } else { row.read });
    match (row, access) {
        (Some(row), Access::Problem) => Ok(Some(row)),
        (Some(row), Access::Privileged) if !thread.is_problem() => Ok(Some(row)),
        (Some(row), Access::Hypervisor) if thread.is_hypervisor() => Ok(Some(row)),
        (Some(_), Access::Hypervisor) if !thread.is_problem() => {
            Err(hypervisor_privileged(thread, i))
        }
        _ => without_register(thread, i, is_write).map(|()| None),
    }
}

/// Whether PCR leaves a register to the thread's state. From problem state a level before ISA 2.07 takes those that
/// FSCR can withhold, which is new there, and those of transactions.
fn is_left(thread: &Thread, spr: Spr) -> bool {
    let pcr = thread.spr(Spr::Pcr);
    if pcr == 0 || !thread.is_problem() {
        return true;
    }
    let has_2_07 = Level::left_by(pcr) >= Level::V2_07;
    match facility::facility_of(spr) {
        Some(Facility::Tm) => has_2_07 && pcr & pcr::TM == 0,
        Some(Facility::Dscr | Facility::Ebb | Facility::Tar) => has_2_07,
        _ => true,
    }
}

/// An access to a number that has no register, or none for this direction: Power ISA 3.0B Book III, Move
/// To and From System Register Instructions, as QEMU reads it; what LPCR\[EVIRT\] does is from the name
/// of the bit, Enhanced Virtualization, alone. In hypervisor state the no-operation stops the machine.
fn without_register(thread: &mut Thread, i: Word, is_write: bool) -> Result<(), Trap> {
    let number = i.spr();
    if RESERVED_NUMBERS.contains(&number) {
        return Ok(());
    }
    if thread.is_problem() && number & PRIVILEGED_NUMBER != 0 {
        return Err(thread.program_interrupt(program::PRIVILEGED));
    }
    let is_never_nothing = number == 0 || !is_write && matches!(number, 4..=6);
    let is_virtualized = !thread.is_hypervisor() && thread.spr(Spr::Lpcr) & lpcr::EVIRT != 0;
    if thread.is_problem() || is_never_nothing || is_virtualized {
        return Err(thread.emulation_assistance(i));
    }
    if thread.is_hypervisor() {
        return Err(thread.stop(StopReason::NoSuchSpr { number, is_write }));
    }
    Ok(())
}

/// Numbers that ISA 2.07 set aside for later registers, and that do nothing to any state until then. Source:
/// QEMU.
const RESERVED_NUMBERS: std::ops::RangeInclusive<u16> = 808..=811;
/// Numbers with this bit are for privileged software.
const PRIVILEGED_NUMBER: u16 = 0x10;

/// Refuses a register whose facility is switched off.
pub(super) fn require_facility(
    thread: &mut Thread,
    shared: &Shared,
    row: &SprRow,
    i: Word,
    is_write: bool,
) -> Result<(), Trap> {
    let facts = shared.processor.facts();
    let Some(facility) =
        facility::facility_of(row.spr).filter(|facility| facts.switches(*facility))
    else {
        return Ok(());
    };
    facility::require(thread, facility)?;
    match facility {
        Facility::Tm if thread.msr() & msr::TM == 0 => {
            Err(facility::unavailable(thread, Facility::Tm))
        }
        Facility::Pm => monitor::require(thread, row, i, is_write),
        _ => Ok(()),
    }
}
