//! Who calls a device: a vCPU that runs, whose partition is not locked.

use core::cell::Cell;

use crate::console::Console;
use crate::devices::Devices;
use crate::devices::dma::Dma;
use crate::devices::tce::Window;
use crate::guest_memory::given::Given;
use crate::guest_memory::unlocked::Unlocked;
use crate::hal::Hal;
use crate::partition::Partition;
use crate::scheduling::schedule::Schedule;
use crate::sync::Lock;

use super::Guest;

/// A vCPU that runs, with what its calls of devices need.
#[derive(Debug)]
pub(crate) struct Caller<'a, H: Hal> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a Console,
    /// All vCPUs of the machine.
    pub schedule: &'a Lock<Schedule>,
    /// Its partition.
    pub partition: &'a Lock<Partition<H>>,
    /// What of its memory the partition has.
    pub given: &'a Given,
    /// What the partition has of devices, if it has any.
    pub devices: Option<&'a Devices>,
    /// Which of the partition's vCPUs.
    pub vcpu: usize,
    /// LPCR\[MER\] is set: the vCPU was told of an external interrupt.
    pub is_mediated: bool,
    /// When it has to leave.
    pub until: u64,
}

impl<H: Hal> Caller<'_, H> {
    /// Does what concerns other vCPUs, with the partition locked.
    pub(crate) fn locked<R>(&self, act: impl FnOnce(&mut Guest<'_, H>) -> R) -> R {
        let Self { hal, console, schedule, vcpu, is_mediated, .. } = *self;
        let partition = &mut *self.partition.lock();
        act(&mut Guest { hal, console, partition, vcpu, schedule, is_mediated })
    }

    /// Whether the vCPU has to leave: its time is over, or somebody has rung for it.
    pub(crate) fn has_to_leave(&self) -> bool {
        self.hal.is_rung() || self.hal.timebase() >= self.until
    }

    /// Lends the partition's memory.
    pub(crate) fn memory<R>(&self, act: impl FnOnce(Unlocked<'_, H>) -> R) -> R {
        let give = |address, bytes| self.partition.lock().memory.filled(self.hal, address, bytes);
        act(Unlocked { hal: self.hal, given: self.given, give: &give, gave: Cell::new(0) })
    }

    /// Lends what a device sees of it.
    pub(crate) fn dma<R>(&self, window: &Window, act: impl FnOnce(&Dma<'_, H>) -> R) -> R {
        self.memory(|memory| act(&Dma { memory, window }))
    }
}
