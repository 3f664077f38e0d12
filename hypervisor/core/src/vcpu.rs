//! A vCPU: its registers while it does not run, whether it can run, and what waits for it.

use alloc::boxed::Box;

use arch::address::GuestRealAddress;

use crate::areas::Areas;
use crate::hal::Hal;
use crate::presentation::Presentation;
use crate::registers::Registers;
use crate::schedule::VcpuId;

/// A vCPU of a partition.
#[derive(Debug)]
pub struct Vcpu<H: Hal> {
    /// Its number in the machine.
    pub id: VcpuId,
    /// What it will go on with. While it runs, whoever runs it has them.
    pub registers: Option<Box<Registers>>,
    /// What it does.
    pub activity: Activity,
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
            activity: Activity::Stopped,
            is_prodded: false,
            presentation: Presentation::default(),
            areas: Areas::default(),
            last_thread: None,
            stale_fault: None,
        }
    }

    /// Whether it runs on a hardware thread now.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.activity, Activity::Running { .. })
    }
}

/// What a vCPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Nothing: it was not started, or stopped itself, or its partition is over.
    Stopped,
    /// It waits for a processor.
    Ready,
    /// It runs.
    Running {
        /// On this hardware thread.
        thread: usize,
    },
    /// It sleeps until an interrupt or H_PROD comes.
    Ceded {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    },
    /// It sleeps until H_PROD comes.
    AwaitsProd,
}
