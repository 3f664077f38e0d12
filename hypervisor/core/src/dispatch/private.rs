//! Calls of a vCPU that concern nobody else: what answers them has no partition locked.
//!
//! The vCPU does not leave. Whoever concludes its partition meanwhile, or changes something that concerns it,
//! has rung the doorbell of its hardware thread, and that is not cleared here: the vCPU leaves as soon as it is
//! back in its own code.

use arch::bundle::RegisterPolicy;
use arch::papr::Hypercall;
use arch::registers::lpcr;

use crate::hypercall::{initialize_owned, is_all_others, set_priority};
use crate::life::outcome::Departure;
use crate::partition::Common;
use crate::scheduling::meter::Stay;
use crate::system::System;

use super::{Enter, Running};

/// What becomes of a call that may concern its vCPU alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Private {
    /// It is answered, with H_SUCCESS.
    Answered,
    /// It is answered, with H_SUCCESS, but the vCPU has to give up the processor with all of its registers in its
    /// record: [`Running::is_taken_back`] says then whether it goes on.
    Offered,
    /// It is answered, with H_SUCCESS, and the vCPU leaves before it returns from it.
    Departs,
    /// Nothing has happened, and [`Running::give_up`] answers it.
    GivesUp,
    /// Nothing has happened, and [`Running::initialize_page`] answers it, if the page is the partition's already.
    OfPage,
    /// Nothing has happened, and [`Running::device_hypercall`] answers it.
    OfDevice,
    /// Nothing has happened, and [`Running::set_priority`] answers it.
    OfPriority,
    /// Nothing has happened, and [`Running::interrupt_hypercall`] answers it.
    OfInterrupts,
    /// Nothing has happened, and [`Running::hypercall`] answers it.
    Shared,
}

impl<H: Enter> Running<'_, H> {
    /// Answers a call with the first argument `argument`, if it concerns the vCPU alone.
    pub fn private_hypercall(&mut self, call: Hypercall, argument: u64) -> Private {
        match call {
            Hypercall::SetSprg0 => {
                self.system.hal.set_sprg0(argument);
                Private::Answered
            }
            Hypercall::Confer if is_all_others(argument) => Private::GivesUp,
            Hypercall::PageInit => Private::OfPage,
            call if call.is_of_device() => Private::OfDevice,
            Hypercall::Cppr | Hypercall::Eoi => Private::OfPriority,
            call if call.is_of_interrupts() => Private::OfInterrupts,
            _ => Private::Shared,
        }
    }

    /// Answers H_CPPR with the priority, or H_EOI with XIRR, which has the priority in its upper byte. The vCPU leaves
    /// if it has an external interrupt then that it was not told of.
    pub fn set_priority(&mut self, call: Hypercall, argument: u64) -> Private {
        let own = &self.system.presentations(self.place.0)[self.place.1];
        match (self.is_mediated(), set_priority(own, call, argument)) {
            (false, true) => {
                self.registers.answer([0; 3]);
                self.departure = Some(Departure::Changed);
                return Private::Departs;
            }
            // It has accepted the one that it was told of. Whoever interrupts it from now on rings the doorbell.
            (true, false) => {
                self.lpcr &= !lpcr::MER;
                self.system.hal.set_control(self.lpcr, self.common.lpid);
            }
            _ => {}
        }
        Private::Answered
    }

    /// Answers H_PAGE_INIT with these arguments without the partition's lock: whether it is answered, with
    /// H_SUCCESS. Else nothing has happened, and [`Running::hypercall`] answers it.
    pub fn initialize_page(&self, flags: u64, to: u64, from: u64) -> bool {
        let given = self.system.given(self.place.0);
        initialize_owned(given, self.system.hal, flags, to, from)
    }

    /// Answers H_CONFER to all others: the vCPU gives up the processor.
    pub fn give_up(&mut self) -> Private {
        if !self.is_alone() {
            return self.departs();
        }
        match self.system.policy.registers {
            RegisterPolicy::Owned => {
                let now = self.system.hal.timebase();
                if self.goes_on(now) { Private::Answered } else { self.departs() }
            }
            _ if self.has_demanded => self.departs(),
            RegisterPolicy::Released | RegisterPolicy::Eager { .. } => {
                self.registers.answer([0; 3]);
                Private::Offered
            }
        }
    }

    /// The vCPU leaves, and the dispatcher chooses who has the rest of its slice.
    fn departs(&mut self) -> Private {
        self.registers.answer([0; 3]);
        self.departure = Some(Departure::ConferredToAll);
        Private::Departs
    }

    /// Whether the vCPU, whose record has all that is not in a special-purpose register, goes on behind its
    /// hypercall, after the rest is in the record too: any other hardware thread could take it there.
    pub fn is_taken_back(&mut self) -> bool {
        let System { hal, .. } = self.system;
        let eager = match self.system.policy.registers {
            RegisterPolicy::Eager { without } => Some(without),
            RegisterPolicy::Owned | RegisterPolicy::Released => None,
        };
        let registers = &mut *self.registers;
        let now = if let Some(without) = eager {
            hal.save_eagerly(registers, self.common, without)
        } else {
            hal.read_ahead::<1>(registers);
            hal.read_ahead::<2>(registers);
            hal.read_ahead::<3>(registers);
            hal.read_ahead::<4>(registers);
            hal.read_ahead::<5>(registers);
            hal.read_ahead::<6>(registers);
            hal.read_ahead::<7>(registers);
            hal.save_registers(registers, None, self.common)
        };
        let stay = self.stay_alone(now);
        let mut schedule = self.system.schedule.lock();
        if eager.is_none() {
            // While the lock is awaited; nobody chooses before it is given back.
            hal.read_ahead::<0>(&mut self.registers);
        }
        let registers = &mut *self.registers;
        // A hypercall is an interrupt that saves there where the vCPU goes on.
        (registers.pc, registers.msr) = (registers.supervisor.srr0, registers.supervisor.srr1);
        // Its invalidations need not be complete: if it does not go on here, `residence::save` waits for them.
        let goes_on = schedule.goes_on_alone(self.thread, stay);
        drop(schedule);
        if goes_on {
            self.entered = now;
        }
        if let Some(without) = eager {
            let common = Common { lpcr: self.lpcr, ..self.common };
            hal.load_eagerly(&self.registers, common, self.until, without);
        }
        goes_on
    }

    /// Whether nobody waited for the processor when the vCPU got it, and nobody gave it the time. If its
    /// partition may not run for ever, the vCPU has to leave when it has used its part, whether it goes on or
    /// not.
    fn is_alone(&self) -> bool {
        self.runs_on && self.slice.payer == self.id
    }

    /// Gives up the processor `now`: what the vCPU used is accounted, and the dispatcher chooses among those
    /// that are ready, this one among them. Whether it chooses this one, which goes on then; otherwise nothing
    /// has happened, and the vCPU has to leave for it.
    fn goes_on(&mut self, now: u64) -> bool {
        let goes_on = self.system.schedule.lock().goes_on_alone(self.thread, self.stay_alone(now));
        if goes_on {
            self.entered = now;
        }
        goes_on
    }

    /// The stay of the vCPU, for which nobody waits, until `now`.
    const fn stay_alone(&self, now: u64) -> Stay {
        Stay {
            vcpu: self.id,
            payer: self.id,
            entered: self.entered,
            left: now,
            is_interrupted: false,
            runs_on: true,
        }
    }
}
