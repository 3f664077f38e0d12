//! The branch history buffer: it is there and records nothing, as the performance monitor is frozen.

use arch::instruction::{Mnemonic, Word};
use arch::registers::hfscr::Facility;
use arch::registers::monitor;
use arch::registers::spr::Spr;

use super::{Flow, Handler, Mode, Outcome, facility};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a branch-history instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Clrbhrb => clrbhrb,
        Mnemonic::Mfbhrbe => mfbhrbe,
        _ => return None,
    })
}

fn require(thread: &mut Thread) -> Result<(), Trap> {
    facility::require_of_hypervisor(thread, Facility::Bhrb)?;
    if thread.is_problem() && thread.spr(Spr::Mmcr0) & monitor::BHRBA == 0 {
        return Err(facility::unavailable(thread, Facility::Bhrb));
    }
    Ok(())
}

fn clrbhrb(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    require(thread)?;
    Ok(Flow::Next)
}

fn mfbhrbe(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    require(thread)?;
    thread.gpr[i.rt()] = 0;
    Ok(Flow::Next)
}
