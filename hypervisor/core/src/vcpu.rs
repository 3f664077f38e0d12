//! A vCPU: its registers while it does not run, whether it can run, and what waits for it.

use crate::areas::Areas;
use crate::hal::Hal;
use crate::presentation::Presentation;
use crate::registers::Registers;
use crate::schedule::{RunQueue, Timers, VcpuId};

/// A vCPU of a partition.
#[derive(Debug)]
pub struct Vcpu<H: Hal> {
    /// Its number in the machine.
    pub id: VcpuId,
    /// What it will go on with. Parts of it are in the processor while it runs.
    pub registers: Registers,
    /// What it does.
    pub activity: Activity,
    /// H_PROD was called for it and H_CEDE has not seen it yet.
    pub is_prodded: bool,
    /// Its external interrupts.
    pub presentation: Presentation,
    /// What it shares with the hypervisor.
    pub areas: Areas<H>,
}

impl<H: Hal> Vcpu<H> {
    /// A vCPU that was not started.
    #[must_use]
    pub fn new(id: VcpuId, registers: Registers) -> Self {
        Self {
            id,
            registers,
            activity: Activity::Stopped,
            is_prodded: false,
            presentation: Presentation::default(),
            areas: Areas::default(),
        }
    }
}

/// What a vCPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Nothing: it was not started, or stopped itself, or its partition is over.
    Stopped,
    /// It runs or waits for a processor.
    Ready,
    /// It sleeps until an interrupt or H_PROD comes.
    Ceded {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    },
    /// It sleeps until H_PROD comes.
    AwaitsProd,
}

/// Virtual processor areas that may be registered: the others of the hal's windows are for everything
/// else.
pub const PINNED_WINDOWS_MAX: usize = 48;

/// Which vCPUs of all partitions can run, and which have to be woken when.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Those that can run.
    pub queue: RunQueue,
    /// Those that sleep until a time.
    pub timers: Timers,
    /// Windows that stay open, at most [`PINNED_WINDOWS_MAX`].
    pub pinned_windows: usize,
}

impl Schedule {
    /// Lets a vCPU run that was stopped.
    pub fn start<H: Hal>(&mut self, vcpu: &mut Vcpu<H>) {
        self.leave_sleep(vcpu);
        vcpu.activity = Activity::Ready;
        self.queue.make_ready(vcpu.id);
    }

    /// Lets a vCPU run no more, and forgets what it shares with the hypervisor.
    pub fn stop<H: Hal>(&mut self, vcpu: &mut Vcpu<H>) {
        self.leave_sleep(vcpu);
        vcpu.activity = Activity::Stopped;
        self.queue.remove(vcpu.id);
        self.forget_areas(vcpu);
    }

    /// Forgets what a vCPU shares with the hypervisor.
    pub fn forget_areas<H: Hal>(&mut self, vcpu: &mut Vcpu<H>) {
        if vcpu.areas.clear_area() {
            self.pinned_windows -= 1;
        }
        vcpu.areas = Areas::default();
    }

    /// Puts a vCPU to sleep that was taken from the queue.
    pub fn sleep<H: Hal>(&mut self, vcpu: &mut Vcpu<H>, activity: Activity) {
        if let Activity::Ceded { until } = activity {
            self.timers.set(vcpu.id, until);
        }
        vcpu.activity = activity;
    }

    /// Wakes a vCPU that sleeps; whether it did.
    pub fn wake<H: Hal>(&mut self, vcpu: &mut Vcpu<H>) -> bool {
        let slept = matches!(vcpu.activity, Activity::Ceded { .. } | Activity::AwaitsProd);
        if slept {
            self.start(vcpu);
        }
        slept
    }

    fn leave_sleep<H: Hal>(&mut self, vcpu: &Vcpu<H>) {
        if let Activity::Ceded { until } = vcpu.activity {
            self.timers.cancel(vcpu.id, until);
        }
    }
}
