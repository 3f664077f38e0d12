//! Facilities that the hypervisor (HFSCR) or the operating system (FSCR) has switched off.
//!
//! HFSCR holds with MSR\[HV\]=0, FSCR in problem state; where both refuse, the hypervisor is asked
//! first. Source: `docs/facts/special-registers.md#facilities`; the order is that of Linux's emulation of `rfebb`
//! and `tsr.` for guests.

use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use arch::registers::spr::Spr;

use crate::state::thread::Thread;
use crate::state::thread::trap::{Interrupt, Trap};

/// Refuses what HFSCR or FSCR does not let the thread's state use.
///
/// # Errors
/// [`Trap`] with the (hypervisor) facility unavailable interrupt.
pub fn require(thread: &mut Thread, facility: Facility) -> Result<(), Trap> {
    require_of_hypervisor(thread, facility)?;
    let is_fscr = matches!(facility, Facility::Dscr | Facility::Ebb | Facility::Tar);
    if is_fscr && thread.is_problem() && thread.spr(Spr::Fscr) & facility.bit() == 0 {
        return Err(unavailable(thread, facility));
    }
    Ok(())
}

/// Refuses what HFSCR does not let the thread's state use.
///
/// # Errors
/// [`Trap`] with the hypervisor facility unavailable interrupt.
pub fn require_of_hypervisor(thread: &mut Thread, facility: Facility) -> Result<(), Trap> {
    if thread.msr() & msr::HV == 0 && !thread.grants(facility) {
        return Err(unavailable_to_hypervisor(thread, facility));
    }
    Ok(())
}

/// The interrupt by which the operating system's switch refuses `facility`.
pub fn unavailable(thread: &mut Thread, facility: Facility) -> Trap {
    refuse(thread, Vector::FacilityUnavailable, facility)
}

/// The interrupt by which the hypervisor's switch refuses `facility`.
pub fn unavailable_to_hypervisor(thread: &mut Thread, facility: Facility) -> Trap {
    refuse(thread, Vector::HypervisorFacilityUnavailable, facility)
}

fn refuse(thread: &mut Thread, vector: Vector, facility: Facility) -> Trap {
    thread.interrupt(Interrupt { facility: Some(facility), ..Interrupt::new(vector) })
}

/// The facility that a special-purpose register belongs to.
#[must_use]
pub fn facility_of(spr: Spr) -> Option<Facility> {
    Some(match spr {
        Spr::Dscr => Facility::Dscr,
        Spr::Sier | Spr::Mmcr2 | Spr::Mmcra | Spr::Mmcr0 | Spr::Mmcr1 => Facility::Pm,
        Spr::Pmc1 | Spr::Pmc2 | Spr::Pmc3 | Spr::Pmc4 | Spr::Pmc5 | Spr::Pmc6 => Facility::Pm,
        Spr::Siar | Spr::Sdar => Facility::Pm,
        Spr::Tfhar | Spr::Tfiar | Spr::Texasr => Facility::Tm,
        Spr::Bescr | Spr::Ebbhr | Spr::Ebbrr => Facility::Ebb,
        Spr::Tar => Facility::Tar,
        Spr::Dpdes | Spr::Tir => Facility::Msgp,
        _ => return None,
    })
}
