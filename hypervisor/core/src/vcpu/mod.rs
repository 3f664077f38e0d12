//! A vCPU: its registers while it does not run, whether it can run, and what waits for it.
//!
//! What it does changes here only, and but for the end of it with the partition's permission: see [`crate::life`].

pub mod registers;
pub mod vpa;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::offset_of;

use arch::address::GuestRealAddress;
use arch::registers::hfscr::Facility;
use arch::registers::monitor;
use arch::vcpus::residence;

use crate::devices::transfer::{Pending, Transfer};
use crate::facilities::Demanded;
use crate::hal::Windows;
use crate::interrupts::presentation::Presentation;
use crate::life::MayRun;
use crate::life::activity::{Activity, Next, Sleep};
use crate::vcpu::registers::Registers;
use crate::vcpu::vpa::Vpa;
use crate::vcpu_id::VcpuId;

/// Where the registers of a vCPU are that does not run. A debugger reads it where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
enum Residence {
    /// All in its record.
    Record = residence::RECORD,
    /// All in its record, and what stays in a processor until another vCPU enters is also there still.
    RecordAndProcessor {
        /// Of this hardware thread.
        thread: usize,
    } = residence::RECORD_AND_PROCESSOR,
    /// With this hardware thread, which puts them into the record before it does anything but run the vCPU.
    Thread {
        /// Which.
        thread: usize,
    } = residence::THREAD,
}

/// Registers with which a vCPU runs.
#[derive(Debug)]
pub struct Claimed {
    /// They.
    pub registers: Box<Registers>,
    /// Whether what stays in the processor is there.
    pub is_resident: bool,
}

/// A vCPU of a partition.
#[derive(Debug)]
pub struct Vcpu<H: Windows> {
    /// Its number in the machine.
    pub id: VcpuId,
    /// What it will go on with. While it runs, whoever runs it has them, and while it does not, the hardware
    /// thread that ran it last may keep them ([`Vcpu::leave_with`]).
    pub registers: Option<Box<Registers>>,
    residence: Residence,
    /// What it has used beyond what every vCPU has.
    pub demanded: Option<Box<Demanded>>,
    activity: Activity,
    /// How often it was stopped, which the run queue counts too.
    pub stops: u64,
    /// H_PROD was called for it and H_CEDE has not seen it yet.
    pub is_prodded: bool,
    /// Its external interrupts, which calls change with its partition unlocked.
    pub presentation: Arc<Presentation>,
    /// Data of a command that it sent, and that it moves before it goes on.
    pub transfer: Option<Pending>,
    /// What it shares with the hypervisor.
    pub vpa: Vpa<H>,
    /// The hardware thread that ran it last.
    pub last_thread: Option<usize>,
    /// The last page on which it faulted though it was mapped: by another vCPU, a moment before.
    pub stale_fault: Option<GuestRealAddress>,
}

impl<H: Windows> Vcpu<H> {
    /// Where a debugger finds its record, its registers on demand, what it does and where its registers are.
    pub const PLACES: [usize; 4] = [
        offset_of!(Self, registers),
        offset_of!(Self, demanded),
        offset_of!(Self, activity),
        offset_of!(Self, residence),
    ];

    /// A vCPU that was not started.
    #[must_use]
    pub fn new(id: VcpuId, registers: Registers) -> Self {
        Self {
            id,
            registers: Some(Box::new(registers)),
            residence: Residence::Record,
            demanded: None,
            activity: Activity::Stopped,
            stops: 0,
            is_prodded: false,
            presentation: Arc::default(),
            transfer: None,
            vpa: Vpa::default(),
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
        self.thread().is_some()
    }

    /// The hardware thread that it runs on now, if it runs.
    #[must_use]
    pub const fn thread(&self) -> Option<usize> {
        match self.activity {
            Activity::Running { thread } => Some(thread),
            _ => None,
        }
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

    /// It runs on `thread`, with the registers that thread has kept, `kept`, or with its record, unless it is
    /// not ready any more. With nothing, and `kept` as it was, while another thread keeps the registers.
    pub fn claim(
        &mut self,
        thread: usize,
        kept: &mut Option<Box<Registers>>,
        permission: MayRun<'_>,
    ) -> Option<Claimed> {
        let before = self.residence;
        let registers = match before {
            Residence::Thread { thread: owner } if owner != thread => return None,
            Residence::Thread { .. } if self.activity == Activity::Ready => kept.take()?,
            _ => self.run(thread, permission)?,
        };
        self.activity = Activity::Running { thread };
        self.residence = Residence::Record;
        let is_resident = match before {
            Residence::Record => false,
            Residence::RecordAndProcessor { thread: owner }
            | Residence::Thread { thread: owner } => owner == thread,
        };
        Some(Claimed { registers, is_resident })
    }

    /// Whether it is ready, and a hardware thread other than `thread` has its registers yet.
    #[must_use]
    pub fn is_kept_from(&self, thread: usize) -> bool {
        self.activity == Activity::Ready
            && matches!(self.residence, Residence::Thread { thread: owner } if owner != thread)
    }

    /// `thread`, which has run it, keeps its registers.
    pub fn leave_with(&mut self, thread: usize) {
        self.registers = None;
        self.residence = Residence::Thread { thread };
    }

    /// Its record is whole; a copy of what stays in a processor is in that of `thread`, if one is named.
    pub fn leave_whole(&mut self, registers: Box<Registers>, thread: Option<usize>) {
        self.registers = Some(registers);
        self.residence =
            thread.map_or(Residence::Record, |thread| Residence::RecordAndProcessor { thread });
    }

    /// Whether what `thread` has kept of it is what it goes on with: nobody has given it other registers since.
    #[must_use]
    pub fn is_kept_by(&self, thread: usize) -> bool {
        self.residence == Residence::Thread { thread }
    }

    /// It starts anew with these registers and facilities, as bits of HFSCR, whatever it had.
    pub fn start_with(&mut self, registers: Registers, facilities: u64) {
        self.leave_whole(registers.into(), None);
        self.demanded = Demanded::from_start(facilities);
    }

    /// Whether an alert of its performance monitor waits to interrupt it. Its record is whole.
    #[must_use]
    pub fn is_alerted(&self) -> bool {
        let used = self.demanded.as_ref();
        used.is_some_and(|used| used.is_given(Facility::Pm) && monitor::alerts(used.monitor.mmcr0))
    }

    /// It sleeps.
    pub const fn fall_asleep(&mut self, sleep: Sleep, _: MayRun<'_>) {
        self.activity = sleep.activity();
    }

    /// The data that it moves before it goes on, to move a piece of it.
    pub fn takes_transfer(&mut self) -> Option<Transfer> {
        self.transfer.as_mut()?.take()
    }

    /// Whether a hardware thread has its registers yet, though it does not run there.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self.residence, Residence::Thread { .. })
    }

    /// It has left a processor, its partition is to be suspended, and this is what it would do. This needs no
    /// permission: it does it on another machine.
    pub const fn rest(&mut self, next: Next) {
        self.activity = match next {
            Next::Ready => Activity::Ready,
            Next::Sleeps(sleep) => sleep.activity(),
            Next::Stops => Activity::Stopped,
        };
    }

    /// It runs no more, and forgets what it shares with the hypervisor. This needs no permission.
    pub fn stop(&mut self) {
        self.activity = Activity::Stopped;
        self.vpa = Vpa::default();
        self.transfer = None;
        self.demanded = None;
    }
}
