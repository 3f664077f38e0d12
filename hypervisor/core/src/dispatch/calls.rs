//! A vCPU's calls and faults while it runs: what answers them has its partition locked.

use arch::papr::Hypercall;

use crate::exit::{self, Action, Door, Exit};
use crate::hal::Hal;
use crate::hypercall::{self, Answer, Guest};
use crate::report;
use crate::system::System;

use super::Running;

impl<H: Hal> Running<'_, H> {
    /// Answers a hypercall with the arguments r4 to r10.
    ///
    /// Inlined for the same reason as [`hypercall::answer`].
    #[inline(always)]
    pub fn hypercall(&mut self, call: Hypercall, arguments: [u64; 7]) -> Answer {
        let system = self.system;
        let mut partition = system.partitions()[self.place.0].lock();
        let mut guest = Guest {
            hal: system.hal,
            console: system.console,
            partition: &mut partition,
            vcpu: self.place.1,
            schedule: &system.schedule,
            is_mediated: self.is_mediated(),
        };
        hypercall::answer(&mut guest, call, arguments)
    }

    /// Handles any other exit.
    pub fn exit(&mut self, door: Door, exit: Exit) -> Action {
        let mut partition = self.system.partitions()[self.place.0].lock();
        let System { hal, console, .. } = self.system;
        self.has_demanded |= matches!(exit, Exit::FacilityUnavailable { .. });
        let action = exit::handle(&mut partition, self.place.1, *hal, door, exit);
        let vcpu = self.place.1;
        match (exit, &action) {
            (Exit::FacilityUnavailable { interrupted, facility }, Action::Interrupt { .. }) => {
                report::withheld(console, *hal, &mut partition, vcpu, interrupted.pc, facility);
            }
            (Exit::EmulationAssistance { interrupted, before }, Action::Interrupt { .. }) => {
                report::illegal(console, *hal, &mut partition, vcpu, interrupted.pc, before);
            }
            _ => {}
        }
        action
    }
}
