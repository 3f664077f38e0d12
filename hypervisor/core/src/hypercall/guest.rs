//! Who calls: a vCPU that runs, its partition, and what is shared by all.

use crate::console::Console;
use crate::hal::{Hal, Memory, Threads};
use crate::life::activity::Activity;
use crate::partition::Partition;
use crate::scheduling::schedule::{Schedule, start};
use crate::sync::Lock;

/// A vCPU that runs, with what its hypercalls need: its partition is locked.
#[derive(Debug)]
pub struct Guest<'a, H: Memory> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a Console,
    /// The partition.
    pub partition: &'a mut Partition<H>,
    /// Which of its vCPUs.
    pub vcpu: usize,
    /// All vCPUs of the machine.
    pub schedule: &'a Lock<Schedule>,
    /// LPCR\[MER\] is set: the vCPU was told of an external interrupt.
    pub is_mediated: bool,
}

impl<H: Hal> Guest<'_, H> {
    /// Lets vCPU `index` run, which was stopped or sleeps; whether no hardware thread has to look for it: one was
    /// idle, or the partition is concluded and lets nobody run.
    pub fn start(&mut self, index: usize) -> bool {
        let Partition { life, vcpus, .. } = &mut *self.partition;
        let permission = life.may_run();
        permission
            .is_none_or(|permission| start(self.hal, self.schedule, &mut vcpus[index], permission))
    }
}

impl<H: Memory + Threads> Guest<'_, H> {
    /// Makes vCPU `index`, if it runs now on another hardware thread, look at what has changed.
    pub fn call_back(&self, index: usize) {
        if let Activity::Running { thread } = self.partition.vcpus[index].activity()
            && index != self.vcpu
        {
            self.hal.ring(thread);
        }
    }
}
