//! A vCPU's calls of its partition's devices and of external interrupts, and the data that it moves for a device before
//! it goes on: the partition is not locked, but for what concerns others.

use arch::papr::Hypercall;
use arch::registers::lpcr;

use crate::devices::transfer::Transfer;
use crate::guest_memory::AccessError;
use crate::hal::Hal;
use crate::hypercall::{
    Answer, Caller, Guest, go_on, of_device, of_interrupts, went_on, with_others,
};
use crate::life::outcome::{Departure, Outcome, StopReason};
use crate::partition::Partition;
use crate::system::System;

use super::Running;

impl<H: Hal> Running<'_, H> {
    /// Answers a call of a device with the arguments r4 to r7.
    pub fn device_hypercall(&mut self, call: Hypercall, arguments: [u64; 4]) -> Answer {
        of_device(&self.caller(self.is_mediated()), call, arguments)
    }

    /// Answers a call of external interrupts with the arguments r4 and r5.
    pub fn interrupt_hypercall(&mut self, call: Hypercall, arguments: [u64; 2]) -> Answer {
        let is_mediated = self.is_mediated();
        let presentations = self.system.presentations(self.place.0);
        of_interrupts(presentations, self.place.1, is_mediated, call, arguments)
            .unwrap_or_else(|| with_others(&self.caller(is_mediated), call, arguments[0]))
    }

    /// LPCR\[MER\] is set: the vCPU was told of an external interrupt.
    pub(super) const fn is_mediated(&self) -> bool {
        self.lpcr & lpcr::MER != 0
    }

    fn caller(&self, is_mediated: bool) -> Caller<'_, H> {
        let System { hal, console, schedule, .. } = self.system;
        let (partition, vcpu) = self.place;
        Caller {
            hal: *hal,
            console,
            schedule,
            partition: &self.system.partitions()[partition],
            given: self.system.given(partition),
            devices: self.system.devices(partition),
            vcpu,
            is_mediated,
            until: self.until,
        }
    }

    /// Moves a piece of the data of a command that the vCPU has sent: whether that was all.
    #[inline(never)]
    pub(super) fn moves(
        &mut self,
        mut transfer: Transfer,
    ) -> (Transfer, Result<bool, AccessError>) {
        let System { hal, schedule, .. } = self.system;
        schedule.lock().pay_entry(self.thread, self.id, hal.timebase());
        let moved = go_on(&self.caller(false), &mut transfer);
        (transfer, moved)
    }

    /// What comes of that.
    #[inline(never)]
    pub(super) fn moved(
        &mut self,
        partition: &mut Partition<H>,
        transfer: Transfer,
        moved: Result<bool, AccessError>,
    ) -> Departure {
        let System { hal, console, schedule, .. } = self.system;
        let (index, vcpu) = self.place;
        let mut guest = Guest { hal: *hal, console, partition, vcpu, schedule, is_mediated: false };
        let given = self.system.given(index);
        let moved = match (moved, self.system.devices(index)) {
            (Ok(all), Some(devices)) => went_on(&mut guest, given, devices, transfer, all),
            (moved, _) => moved.map(|_| ()),
        };
        self.was_not_entered();
        match moved {
            Ok(()) => Departure::Changed,
            Err(error) => Departure::Ended(Outcome::Stopped(StopReason::Access(error))),
        }
    }
}
