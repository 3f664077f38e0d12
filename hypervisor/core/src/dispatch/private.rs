//! Calls of a vCPU that concern nobody else: what answers them has no partition locked.
//!
//! The vCPU does not leave. Whoever concludes its partition meanwhile, or changes something that concerns it, has rung the
//! doorbell of its hardware thread, and that is not cleared here: the vCPU leaves as soon as it is back in its own code.

use arch::papr::Hypercall;
use arch::papr::status::H_SUCCESS;

use crate::hypercall::is_all_others;
use crate::scheduling::meter::Stay;

use super::{Enter, Running};

impl<H: Enter> Running<'_, H> {
    /// The status of a call with the first argument `argument`; nothing has happened yet if there is none, and
    /// [`Running::hypercall`] answers.
    pub fn private_hypercall(&mut self, call: Hypercall, argument: u64) -> Option<i64> {
        match call {
            Hypercall::SetSprg0 => {
                self.system.hal.set_sprg0(argument);
                Some(H_SUCCESS)
            }
            Hypercall::Confer if is_all_others(argument) => self.goes_on().then_some(H_SUCCESS),
            _ => None,
        }
    }

    /// Gives up the processor, with all that belongs to it but that no register moves: what the vCPU used is accounted, and
    /// the dispatcher chooses, with the vCPU among those that are ready. Whether it chooses this one, which goes on
    /// then; otherwise nothing has happened, and the vCPU has to leave for it.
    fn goes_on(&mut self) -> bool {
        if !self.runs_on || self.has_time_limit || self.slice.payer != self.id {
            return false;
        }
        let now = self.system.hal.timebase();
        let stay = Stay {
            vcpu: self.id,
            payer: self.id,
            entered: self.entered,
            left: now,
            is_interrupted: false,
            runs_on: true,
        };
        let goes_on = self.system.schedule.lock().goes_on_alone(self.thread, stay);
        if goes_on {
            self.entered = now;
        }
        goes_on
    }
}
