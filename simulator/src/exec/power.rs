//! `stop`: Power ISA 3.0B Book III, Power-Saving Mode; `docs/facts/idle.md#stop`. `wait`: Book II.
//!
//! The instruction completes and the thread waits: how deep it sleeps is in `machine::power`, what ends
//! the wait in `interrupt::wake`, and what was lost then in `power_saving`.

use arch::instruction::{Mnemonic, Word};
use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;
use arch::registers::{msr, psscr};

use super::{Flow, Handler, Mode, Outcome, facility};
use crate::state::power_saving::Reached;
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::state::thread::{Activity, Thread};

/// The handler of an instruction that waits.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stop => stop,
        Mnemonic::Wait => wait,
        _ => return None,
    })
}

/// With WC=0, the only kind that ISA 3.0 defines.
fn wait(thread: &mut Thread, shared: &mut Shared, _: Word) -> Outcome {
    thread.activity = Activity::Waiting;
    shared.call_attention();
    Ok(Flow::Synchronize)
}

fn stop(thread: &mut Thread, shared: &mut Shared, _: Word) -> Outcome {
    let value = thread.spr(Spr::Psscr);
    let loses_state = value & psscr::ESL != 0;
    let has_criterion = value & psscr::EC != 0;
    if thread.msr() & msr::HV == 0 {
        facility::require(thread, Facility::Stop)?;
        let is_too_deep = shared.switches.stop_above_psll_interrupts
            && psscr::RL.get(value) > psscr::PSLL.get(value);
        if loses_state || has_criterion || is_too_deep {
            return Err(facility::unavailable_to_hypervisor(thread, Facility::Stop));
        }
    } else if loses_state && !has_criterion {
        // It would go on behind the `stop` without its registers, and no source says what becomes of it: Linux
        // refuses firmware's states that ask for it, skiboot has none, and QEMU loses nothing.
        return Err(thread
            .stop(StopReason::InstructionNotModelled("stop with PSSCR[ESL]=1 and PSSCR[EC]=0")));
    }
    thread.activity = Activity::Stopped;
    thread.reached = Reached::default();
    shared.call_attention();
    Ok(Flow::Synchronize)
}
