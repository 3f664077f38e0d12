//! `stop`: Power ISA 3.0B Book III, Power-Saving Mode; `docs/facts/idle.md#stop`.

use arch::instruction::Word;
use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;
use arch::registers::{msr, psscr};

use super::save;
use crate::exec::{Outcome, facility};
use crate::state::power_saving::Asked;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// What the thread's PSSCR asks for: of a partition at most the level in PSLL.
#[must_use]
pub fn asked(thread: &Thread) -> Asked {
    let value = thread.spr(Spr::Psscr);
    let (requested, limit) = (psscr::RL.get(value), psscr::PSLL.get(value));
    let is_partition = thread.msr() & msr::HV == 0;
    Asked {
        level: if is_partition { requested.min(limit) } else { requested },
        loses_state: value & psscr::ESL != 0,
        has_criterion: value & psscr::EC != 0,
    }
}

pub(super) fn stop(thread: &mut Thread, shared: &mut Shared, _: Word) -> Outcome {
    let asked = asked(thread);
    let Asked { loses_state, has_criterion, .. } = asked;
    if thread.msr() & msr::HV == 0 {
        let value = thread.spr(Spr::Psscr);
        // It may go on to MTL.
        let deepest = psscr::RL.get(value).max(psscr::MTL.get(value));
        let is_too_deep =
            shared.switches.stop_above_psll_interrupts && deepest > psscr::PSLL.get(value);
        if loses_state || has_criterion || is_too_deep {
            return Err(facility::unavailable_to_hypervisor(thread, Facility::Stop));
        }
    } else if loses_state && !has_criterion {
        // It would go on behind the `stop` without its registers, and no source says what becomes of it: Linux
        // refuses firmware's states that ask for it, skiboot has none, and QEMU loses nothing.
        return Err(thread
            .stop(StopReason::InstructionNotModelled("stop with PSSCR[ESL]=1 and PSSCR[EC]=0")));
    }
    save(thread, shared, asked)
}
