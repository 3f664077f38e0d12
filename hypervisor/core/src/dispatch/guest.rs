//! A vCPU's calls and faults while it runs: what answers them has its partition locked.

use arch::papr::Hypercall;
use arch::registers::lpcr;

use crate::exit::{self, Action, Exit};
use crate::hal::Hal;
use crate::hypercall::{self, Answer};
use crate::partition::{Door, Partition};
use crate::report;
use crate::sync::Lock;
use crate::system::{self, System};
use crate::threads::Schedule;
use crate::vcpu::Activity;

use super::Running;

/// A vCPU that runs, with what its hypercalls need: its partition is locked.
#[derive(Debug)]
pub struct Guest<'a, H: Hal> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a crate::console::Console,
    /// The partition.
    pub partition: &'a mut Partition<H>,
    /// Which of its vCPUs.
    pub vcpu: usize,
    /// All vCPUs of the machine.
    pub schedule: &'a Lock<Schedule>,
    /// LPCR\[MER\] is set: an external interrupt waits for the guest's MSR\[EE\].
    pub is_mediated: bool,
}

impl<H: Hal> Guest<'_, H> {
    /// Lets vCPU `index` run, which was stopped or sleeps; whether no hardware thread has to look for it: one was
    /// idle, or the partition is concluded and lets nobody run.
    pub fn start(&mut self, index: usize) -> bool {
        let Partition { life, vcpus, .. } = &mut *self.partition;
        let leave = life.may_run();
        leave.is_none_or(|leave| system::start(self.hal, self.schedule, &mut vcpus[index], leave))
    }

    /// Makes vCPU `index`, if it runs now on another hardware thread, look at what has changed.
    pub fn call_back(&self, index: usize) {
        if let Activity::Running { thread } = self.partition.vcpus[index].activity()
            && index != self.vcpu
        {
            self.hal.ring(thread);
        }
    }
}

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
            is_mediated: self.lpcr & lpcr::MER != 0,
        };
        hypercall::answer(&mut guest, call, arguments)
    }

    /// Handles any other exit.
    pub fn exit(&mut self, door: Door, exit: Exit) -> Action {
        let mut partition = self.system.partitions()[self.place.0].lock();
        let System { hal, console, .. } = self.system;
        let action = exit::handle(&mut partition, self.place.1, *hal, door, exit);
        if let (Exit::FacilityUnavailable { interrupted, facility }, Action::Interrupt { .. }) =
            (exit, &action)
        {
            report::withheld(console, *hal, &mut partition, self.place.1, interrupted.pc, facility);
        }
        action
    }
}
