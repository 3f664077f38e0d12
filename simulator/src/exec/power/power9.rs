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

pub(super) fn stop(thread: &mut Thread, shared: &mut Shared, _: Word) -> Outcome {
    let value = thread.spr(Spr::Psscr);
    let loses_state = value & psscr::ESL != 0;
    let has_criterion = value & psscr::EC != 0;
    let mut level = psscr::RL.get(value);
    if thread.msr() & msr::HV == 0 {
        facility::require(thread, Facility::Stop)?;
        let limit = psscr::PSLL.get(value);
        let is_too_deep = shared.switches.stop_above_psll_interrupts && level > limit;
        if loses_state || has_criterion || is_too_deep {
            return Err(facility::unavailable_to_hypervisor(thread, Facility::Stop));
        }
        level = level.min(limit);
    } else if loses_state && !has_criterion {
        // It would go on behind the `stop` without its registers, and no source says what becomes of it: Linux
        // refuses firmware's states that ask for it, skiboot has none, and QEMU loses nothing.
        return Err(thread
            .stop(StopReason::InstructionNotModelled("stop with PSSCR[ESL]=1 and PSSCR[EC]=0")));
    }
    save(thread, shared, Asked { level, loses_state, has_criterion })
}
