//! Event-based branches: problem state goes to EBBHR when an exception that it asked for has occurred.
//!
//! A performance-monitor alert with MMCR0\[EBE\]=1 and BESCR\[PME\]=1 is such an exception: it sets
//! BESCR\[PMEO\]. Nothing here makes external ones; software may set EEO. While BESCR\[GE\]=1 in problem state, an
//! exception that has occurred branches. Neither happens where HFSCR or FSCR withholds the facility.
//! Source: QEMU's `excp_helper.c`; that PMEO alone is what branches, and not the moment at which it was
//! set, is our reading: BESCR is all that an operating system saves.

use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;
use arch::registers::{bescr, monitor, msr};

use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// Lets the event-based exception occur that is due, and takes the branch that is.
#[inline]
pub fn take(thread: &mut Thread, shared: &Shared) {
    if thread.spr(Spr::Bescr) & (bescr::GE | bescr::PME) != 0 {
        take_enabled(thread, shared);
    }
}

fn take_enabled(thread: &mut Thread, shared: &Shared) {
    let is_on = |spr: Spr| thread.spr(spr) & Facility::Ebb.bit() != 0;
    if !is_on(Spr::Fscr) || thread.msr() & msr::HV == 0 && !is_on(Spr::Hfscr) {
        return;
    }
    let mut events = thread.spr(Spr::Bescr);
    let alert = monitor::EBE | monitor::PMAO;
    if thread.spr(Spr::Mmcr0) & alert == alert && events & bescr::PME != 0 {
        events |= bescr::PMEO;
        if shared.switches.event_based_exception_disables_itself {
            events &= !bescr::PME;
        }
    }
    let has_occurred = events & (bescr::PMEO | bescr::EEO) != 0;
    let branches = thread.is_problem() && events & bescr::GE != 0 && has_occurred;
    if branches {
        events &= !(bescr::GE | bescr::TS.mask());
        thread.set_spr(Spr::Ebbrr, thread.nia & !3);
        thread.nia = thread.effective(thread.spr(Spr::Ebbhr) & !3).0;
        thread.cia = thread.nia;
        thread.run_start = thread.nia;
    }
    thread.set_spr(Spr::Bescr, events);
}
