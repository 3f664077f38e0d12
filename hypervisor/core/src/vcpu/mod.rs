//! A vCPU: its registers while it does not run, whether it can run, and what waits for it.
//!
//! What it does changes here only, and but for the end of it with the partition's leave: see [`crate::partition::life`].

pub mod activity;
pub mod areas;
pub mod registers;

use alloc::boxed::Box;

use arch::address::GuestRealAddress;

use crate::facilities::Demanded;
use crate::hal::Hal;
use crate::interrupts::presentation::Presentation;
use crate::partition::life::MayRun;
use crate::scheduling::queue::VcpuId;
use crate::vcpu::activity::{Activity, Sleep};
use crate::vcpu::areas::Areas;
use crate::vcpu::registers::Registers;

/// A vCPU of a partition.
#[derive(Debug)]
pub struct Vcpu<H: Hal> {
    /// Its number in the machine.
    pub id: VcpuId,
    /// What it will go on with. While it runs, whoever runs it has them.
    pub registers: Option<Box<Registers>>,
    /// What it has used beyond what every vCPU has.
    pub demanded: Option<Box<Demanded>>,
    activity: Activity,
    /// H_PROD was called for it and H_CEDE has not seen it yet.
    pub is_prodded: bool,
    /// Its external interrupts.
    pub presentation: Presentation,
    /// What it shares with the hypervisor.
    pub areas: Areas<H>,
    /// The hardware thread that ran it last.
    pub last_thread: Option<usize>,
    /// The last page on which it faulted though it was mapped: by another vCPU, a moment before.
    pub stale_fault: Option<GuestRealAddress>,
}

impl<H: Hal> Vcpu<H> {
    /// A vCPU that was not started.
    #[must_use]
    pub fn new(id: VcpuId, registers: Registers) -> Self {
        Self {
            id,
            registers: Some(Box::new(registers)),
            demanded: None,
            activity: Activity::Stopped,
            is_prodded: false,
            presentation: Presentation::default(),
            areas: Areas::default(),
            last_thread: None,
            stale_fault: None,
        }
    }

    /// What it does.
    #[must_use]
    pub const fn activity(&self) -> Activity {
        self.activity
    }

    /// Whether it runs on a hardware thread now.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.activity, Activity::Running { .. })
    }

    /// It can run: it was started, woken, or has to wait for a processor.
    pub const fn become_ready(&mut self, _: MayRun<'_>) {
        self.activity = Activity::Ready;
    }

    /// It runs on `thread` with the registers that are the answer, unless it is not ready any more.
    pub const fn run(&mut self, thread: usize, _: MayRun<'_>) -> Option<Box<Registers>> {
        if !matches!(self.activity, Activity::Ready) {
            return None;
        }
        self.activity = Activity::Running { thread };
        self.registers.take()
    }

    /// It sleeps.
    pub const fn fall_asleep(&mut self, sleep: Sleep, _: MayRun<'_>) {
        self.activity = match sleep {
            Sleep::Ceded { until } => Activity::Ceded { until },
            Sleep::AwaitsProd => Activity::AwaitsProd,
        };
    }

    /// It runs no more, and forgets what it shares with the hypervisor. This needs nobody's leave.
    pub fn stop(&mut self) {
        self.activity = Activity::Stopped;
        self.areas = Areas::default();
        self.demanded = None;
    }
}
