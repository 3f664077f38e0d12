//! A vCPU's stay on a hardware thread.
//!
//! It runs until something makes it leave: its slice is over, it waits, or it or its partition is over.
//! What it needs from the processor is decided just before it enters ([`enter`]), what comes next when it has
//! left ([`leave`]). It goes on at once if nobody else comes before it; otherwise its registers go back to where
//! any thread may take them from.

mod calls;
mod enter;
mod leave;
mod translations;

use alloc::boxed::Box;

use crate::hal::Hal;
use crate::partition::outcome::{Leave, Outcome, StopReason};
use crate::partition::payload::Progress;
use crate::partition::{Partition, load};
use crate::scheduling::queue::VcpuId;
use crate::scheduling::schedule::Schedule;
use crate::system::System;
use crate::vcpu::registers::{Floating, Registers};

use leave::Successor;

/// Until when a vCPU runs while others wait, and whose virtual time pays for it: its own, or that of a vCPU
/// that conferred the rest of its slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    ends: u64,
    payer: VcpuId,
}

impl Slice {
    /// One that begins `now`, of `id`'s own.
    fn of(id: VcpuId, schedule: &Schedule, now: u64) -> Self {
        Self { ends: now.saturating_add(schedule.queue.slice()), payer: id }
    }
}

/// A vCPU that runs.
#[derive(Debug)]
pub struct Running<'a, H: Hal> {
    /// Everything else.
    pub system: &'a System<'a, H>,
    /// The hardware thread.
    pub thread: usize,
    /// Which partition, and which of its vCPUs.
    pub place: (usize, usize),
    /// The vCPU's registers, but for what is in the processor.
    pub registers: Box<Registers>,
    /// The partition's number to the processor.
    pub lpid: u32,
    /// What is added to the machine's time base for the guest's own.
    pub timebase_offset: u64,
    /// LPCR that it runs with.
    pub lpcr: u64,
    /// Hypercalls, by [`Door`](crate::exit::Door), since it entered.
    pub hypercalls: [u64; 2],
    /// The time base when the guest was entered last.
    pub entered: u64,
    /// The time base when the guest had left; before it was entered, when it was chosen. It is the time of all that
    /// is decided until the next entry.
    pub left: u64,
    /// Set by the exit with which the vCPU leaves.
    pub leave: Option<Leave>,
    slice: Slice,
    /// Nobody waited for the thread when the guest was entered.
    runs_on: bool,
    successor: Successor,
}

/// A machine that runs guests.
pub trait Enter: Hal {
    /// Runs a vCPU until it leaves, at the time `until` at the latest. Between, [`Running::hypercall`] and
    /// [`Running::exit`] are called for its exits. [`Running::entered`] and [`Running::left`] say then when that
    /// was. No lock may be held.
    fn enter_guest(&self, running: &mut Running<'_, Self>, until: u64) -> Leave;

    /// Copies the floating-point registers out of the processor.
    fn save_floating(&self, into: &mut Floating);

    /// Copies them into the processor.
    fn load_floating(&self, from: &Floating);
}

/// Runs the vCPU at `place`, which was taken from the queue, on `thread`, until it does not go on; for the
/// rest of a slice that was conferred on it, and then for its own. Who is to run next here, and for the rest of
/// whose slice, if that is decided by how it left.
pub(crate) fn run<H: Enter>(
    system: &System<'_, H>,
    thread: usize,
    place: (usize, usize),
    conferred: Option<Slice>,
) -> Option<(VcpuId, Option<Slice>)> {
    let hal = system.hal;
    let mut partition = system.partitions()[place.0].lock();
    let now = hal.timebase();
    let (registers, own) = claim(system, &mut partition, place.1, thread, now)?;
    hal.load_floating(&registers.floating);
    if let Some(demanded) = &partition.vcpus[place.1].demanded {
        hal.load_facilities(demanded);
    }
    let mut running = Running {
        system,
        thread,
        place,
        registers,
        lpid: partition.lpid,
        timebase_offset: partition.timebase_offset,
        lpcr: 0,
        hypercalls: [0; 2],
        entered: 0,
        left: now,
        leave: None,
        slice: conferred.unwrap_or(own),
        runs_on: false,
        successor: Successor::Anybody,
    };
    loop {
        let until = running.prepare(&mut partition);
        let leave = if let Some(progress) = partition.life.progress() {
            running.load(&mut partition, progress)
        } else {
            drop(partition);
            let leave = hal.enter_guest(&mut running, until);
            partition = system.partitions()[place.0].lock();
            leave
        };
        running.account(&mut partition, &leave);
        if let Some(next) = running.left(&mut partition, leave) {
            return running.give_back(&mut partition, next);
        }
        hal.clear_doorbell();
    }
}

/// The registers of a vCPU that runs from `now` on, with a slice of its own, unless it was stopped or its partition
/// concluded since it was taken.
fn claim<H: Hal>(
    system: &System<'_, H>,
    partition: &mut Partition<H>,
    vcpu: usize,
    thread: usize,
    now: u64,
) -> Option<(Box<Registers>, Slice)> {
    let vcpu = &mut partition.vcpus[vcpu];
    let registers = vcpu.run(thread, partition.life.may_run()?)?;
    let mut schedule = system.schedule.lock();
    // It may have been stopped and started again meanwhile.
    schedule.queue.remove(vcpu.id);
    let slice = Slice::of(vcpu.id, &schedule, now);
    Some((registers, slice))
}

impl<H: Enter> Running<'_, H> {
    /// Does a piece of loading the partition, which no other vCPU of it can be in the way of: all others are stopped.
    fn load(&mut self, partition: &mut Partition<H>, progress: Progress) -> Leave {
        let hal = self.system.hal;
        let loaded = load::load_piece(partition, hal, progress);
        // All of it is the hypervisor's work for the vCPU.
        self.left = hal.timebase();
        self.entered = self.left;
        match loaded {
            Ok(progress) => {
                if progress.is_none() {
                    *self.registers = load::first_registers(partition, hal);
                    hal.load_floating(&self.registers.floating);
                    partition.statistics.restarts += 1;
                }
                partition.life.loaded(progress);
            }
            Err(error) => return Leave::Ended(Outcome::Stopped(StopReason::Restart(error))),
        }
        Leave::Changed
    }
}

#[cfg(test)]
mod tests;
