//! A vCPU: its registers while it does not run, and whether it can run.

use crate::registers::Registers;
use crate::schedule::{RunQueue, Timers, VcpuId};

/// A vCPU of a partition.
#[derive(Debug)]
pub struct Vcpu {
    /// Its number in the machine.
    pub id: VcpuId,
    /// What it will go on with. Parts of it are in the processor while it runs.
    pub registers: Registers,
    /// What it does.
    pub activity: Activity,
}

/// What a vCPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Nothing: it was not started, or stopped itself, or its partition is over.
    Stopped,
    /// It runs or waits for a processor.
    Ready,
}

/// Which vCPUs of all partitions can run, and which have to be woken when.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Those that can run.
    pub queue: RunQueue,
    /// Those that sleep until a time.
    pub timers: Timers,
}

impl Schedule {
    /// Lets a vCPU run.
    pub fn start(&mut self, vcpu: &mut Vcpu) {
        vcpu.activity = Activity::Ready;
        self.queue.make_ready(vcpu.id);
    }

    /// Lets a vCPU run no more.
    pub fn stop(&mut self, vcpu: &mut Vcpu) {
        vcpu.activity = Activity::Stopped;
        self.queue.remove(vcpu.id);
    }
}
