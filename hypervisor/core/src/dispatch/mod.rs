//! A vCPU's stay on a hardware thread.
//!
//! It runs until something makes it leave: its slice is over, it waits, or it or its partition is over.
//! What it needs from the processor is decided just before it enters ([`enter`]), what comes next when it has
//! left ([`departure`]). It goes on at once if nobody else comes before it; otherwise it is any thread's to take, and
//! [`residence`] says where its registers are then.

mod calls;
mod departure;
mod device;
mod enter;
mod hashed;
mod private;
pub(crate) mod residence;
mod translations;

pub use private::Private;

use alloc::boxed::Box;

use arch::excess::Excesses;

use crate::facilities::Demanded;
use crate::hal::Hal;
use crate::life::outcome::{Departure, Outcome, StopReason};
use crate::life::progress::Progress;
use crate::partition::image::{self, Saved};
use crate::partition::{Common, Partition, load};
use crate::scheduling::schedule::Schedule;
use crate::sync::spin_loop;
use crate::system::System;
use crate::vcpu::Claimed;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

use departure::Successor;
use residence::Resident;

/// Until when a vCPU runs while others wait, and whose virtual time pays for it: its own, or that of a vCPU
/// that conferred the rest of its slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    ends: u64,
    payer: VcpuId,
    /// Ticks that the payer has lent to who runs.
    lent: u64,
}

impl Slice {
    /// One of so many ticks that begins `now`, of `id`'s own.
    const fn of(id: VcpuId, ticks: u64, now: u64) -> Self {
        Self { ends: now.saturating_add(ticks), payer: id, lent: 0 }
    }

    /// So much of it is lent from now on.
    #[inline]
    fn lend(&mut self, schedule: &mut Schedule, lent: u64) {
        if self.lent != lent {
            schedule.queue.lend(self.payer, self.lent, lent);
            self.lent = lent;
        }
    }
}

/// A vCPU that was taken from the queue and is to run next on a hardware thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chosen {
    id: VcpuId,
    /// A slice that was conferred on it, for whose rest it runs before it has its own; its own, if it was let in.
    slice: Option<Slice>,
    /// The time base, if it was read when the vCPU before had left.
    now: Option<u64>,
    /// It was let in when it was chosen, with the schedule locked once for both.
    let_in: Option<LetIn>,
}

/// What the schedule grants a vCPU that it was told of as entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LetIn {
    /// The time of it.
    at: u64,
    /// Nobody waits for the thread.
    runs_on: bool,
    /// How long it may run, as far as slice and timers say.
    ticks: u64,
    /// How often it was stopped before.
    stops: u64,
    /// No doorbell was cleared since, for whose sake it has to be let in anew.
    holds: bool,
}

impl Chosen {
    /// One that runs for a slice of its own.
    pub(crate) const fn of(id: VcpuId) -> Self {
        Self { id, slice: None, now: None, let_in: None }
    }

    /// The thread's doorbell was rung since it was chosen, and is cleared: what it was rung for is seen as the vCPU is
    /// let in anew.
    pub(crate) fn is_rung(&mut self) {
        if let Some(let_in) = &mut self.let_in {
            let_in.holds = false;
        }
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
    /// The vCPU's number in the machine.
    id: VcpuId,
    /// It has used a facility that it gets on demand.
    has_demanded: bool,
    common: Common,
    /// When it has to leave.
    until: u64,
    /// LPCR that it runs with.
    pub lpcr: u64,
    /// Hypercalls, by [`Door`](crate::exit::Door), since it entered.
    pub hypercalls: [u64; 2],
    /// The time base when the guest was entered last, or gave up the processor and went on.
    pub entered: u64,
    /// The time base when the guest had left; before it was entered, when it was chosen. It is the time of all that
    /// is decided until the next entry.
    pub left: u64,
    /// Set by the exit with which the vCPU leaves.
    pub departure: Option<Departure>,
    slice: Slice,
    /// Nobody waited for the thread when the guest was entered.
    runs_on: bool,
    /// The vCPU has left its guest, for whose thread somebody waited: another one may come, and what stays in the
    /// processor is read ahead.
    may_be_last: bool,
    successor: Successor,
}

/// A machine that runs guests.
pub trait Enter: Hal {
    /// Runs a vCPU until it leaves, at the time `until` at the latest. Between, the machine asks `running` what
    /// comes of each exit: of a hypercall [`Running::private_hypercall`], which says who answers it
    /// ([`Running::give_up`], [`Running::initialize_page`], [`Running::device_hypercall`] or
    /// [`Running::hypercall`]), and of all others [`Running::exit`]. [`Running::entered`] says when it was
    /// entered, from before its first instruction on, and [`Running::left`] when it had left. No lock may be
    /// held.
    fn enter_guest(&self, running: &mut Running<'_, Self>, until: u64) -> Departure;

    /// Copies what stays in the processor until another vCPU enters into the vCPU's record; the time base
    /// meanwhile, or when the vCPU left.
    fn save_registers(
        &self,
        into: &mut Registers,
        demanded: Option<&mut Demanded>,
        common: Common,
    ) -> u64;

    /// Reads a part of that, 0 to 7, into the record of the vCPU, which was entered since it was loaded. The processor
    /// reads one such register at a time, but what comes behind a read does not wait for it: so the parts are read
    /// where the dispatcher has something else to do, or waits for a lock. Once part 7 is read,
    /// [`Enter::save_registers`] reads none of them.
    fn read_ahead<const PART: usize>(&self, _: &mut Registers) {}

    /// Begins to copy that from the record of a vCPU into the processor, which has another one's there that was saved,
    /// or nobody's. [`Enter::load_more`] goes on with it: part 1, and so on to part 5, before it is entered or saved.
    fn load_registers(&self, from: &Registers, demanded: Option<&Demanded>, common: Common);

    /// Copies more of it, for the same reason as [`Enter::read_ahead`].
    fn load_more<const PART: usize>(&self, _: &Registers) {}

    /// As [`Enter::save_registers`] of a vCPU that uses no facility on demand, with all that KVM moved here
    /// before its optimisation, but for `without`. [`Enter::load_eagerly`] with the same has to follow.
    fn save_eagerly(&self, into: &mut Registers, common: Common, without: Excesses) -> u64;

    /// Copies all of that back, for a guest that has to leave at the time `until`.
    fn load_eagerly(&self, from: &Registers, common: Common, until: u64, without: Excesses);

    /// When the decrementer of the vCPU that has left expires, in the partition's time base.
    fn decrementer_expires(&self, registers: &Registers, common: Common) -> u64;

    /// Makes the vCPU that has left find these in SRR0 and SRR1.
    fn set_save_registers(&self, registers: &mut Registers, srr0: u64, srr1: u64);
}

/// Runs a vCPU on `thread` until it does not go on. Who is to run next here, if that is decided by how it left.
#[inline(always)]
pub(crate) fn run<H: Enter>(
    system: &System<'_, H>,
    thread: usize,
    resident: &mut Resident,
    chosen: Chosen,
) -> Option<Chosen> {
    let hal = system.hal;
    let place = system.place(chosen.id);
    resident.make_way(system, thread, Some(place));
    let mut partition = system.partitions()[place.0].lock();
    let mut now = chosen.now;
    while partition.vcpus[place.1].is_kept_from(thread) {
        drop(partition);
        spin_loop();
        now = None;
        partition = system.partitions()[place.0].lock();
    }
    let now = now.unwrap_or_else(|| hal.timebase());
    let Some(claimed) = claim(&mut partition, place, thread, resident) else {
        if let Some(mut slice) = chosen.slice {
            let mut schedule = system.schedule.lock();
            slice.lend(&mut schedule, 0);
            if chosen.let_in.is_some() {
                schedule.does_not_enter(thread);
            }
        }
        return None;
    };
    let Claimed { registers, is_resident } = claimed;
    // One that was stopped and started since may be in the queue again.
    let stops = partition.vcpus[place.1].stops;
    let holds = |let_in: &LetIn| let_in.holds && let_in.at == now && let_in.stops == stops;
    let mut let_in = chosen.let_in.filter(holds);
    if !is_resident {
        let (common, always) = (partition.common(), partition.from_start);
        let mut demanded = partition.vcpus[place.1].demanded.as_deref_mut();
        if let Some(demanded) = demanded.as_deref_mut() {
            demanded.age(always);
        }
        hal.load_registers(&registers, demanded.as_deref(), common);
    }
    let mut is_loading = !is_resident;
    let mut running = Running {
        system,
        thread,
        place,
        id: chosen.id,
        has_demanded: partition.vcpus[place.1].demanded.is_some(),
        common: partition.common(),
        until: now,
        registers,
        lpcr: 0,
        hypercalls: [0; 2],
        entered: 0,
        left: now,
        departure: None,
        slice: chosen.slice.unwrap_or_else(|| Slice::of(chosen.id, system.policy.slice, now)),
        runs_on: false,
        may_be_last: false,
        successor: Successor::Anybody,
    };
    loop {
        running.may_be_last = false;
        let until = running.prepare(
            &mut partition,
            core::mem::take(&mut is_loading),
            core::mem::take(&mut let_in),
        );
        let departure = if let Some(progress) = partition.life.progress() {
            running.load(&mut partition, progress)
        } else if let Some(transfer) = partition.vcpus[place.1].takes_transfer() {
            drop(partition);
            let (transfer, moved) = running.moves(transfer);
            partition = system.partitions()[place.0].lock();
            running.moved(&mut partition, transfer, moved)
        } else if running.has_to_look(&partition) {
            let departure = running.look(&mut partition);
            drop(partition);
            // Others that come out want the lock.
            spin_loop();
            partition = system.partitions()[place.0].lock();
            departure
        } else {
            partition.inside += 1;
            drop(partition);
            running.until = until;
            let departure = hal.enter_guest(&mut running, until);
            running.may_be_last = !running.runs_on;
            partition = system.partitions()[place.0].lock();
            partition.inside -= 1;
            departure
        };
        if let Some(left) = running.left(&mut partition, departure) {
            return running.give_back(&mut partition, resident, left);
        }
        hal.clear_doorbell();
    }
}

/// The registers of a vCPU that runs, unless it was stopped or its partition concluded since it was taken.
fn claim<H: Hal>(
    partition: &mut Partition<H>,
    place: (usize, usize),
    thread: usize,
    resident: &mut Resident,
) -> Option<Claimed> {
    let vcpu = &mut partition.vcpus[place.1];
    let claimed = vcpu.claim(thread, &mut resident.kept, partition.life.may_run()?)?;
    let is_resident = claimed.is_resident && resident.is(place);
    resident.forget();
    Some(Claimed { is_resident, ..claimed })
}

impl<H: Hal> Running<'_, H> {
    /// The partition's number to the processor.
    #[must_use]
    pub const fn lpid(&self) -> u32 {
        self.common.lpid
    }

    /// The vCPU's number in the machine.
    #[must_use]
    pub const fn vcpu(&self) -> VcpuId {
        self.id
    }

    /// Until now the hypervisor has worked for the vCPU, which was in no guest: what its stay is accounted by.
    #[cold]
    fn was_not_entered(&mut self) {
        self.left = self.system.hal.timebase();
        self.entered = self.left;
        self.hypercalls = [0; 2];
    }

    /// What is added to the machine's time base for the partition's own.
    #[must_use]
    pub const fn timebase_offset(&self) -> u64 {
        self.common.timebase_offset
    }
}

impl<H: Enter> Running<'_, H> {
    /// Does a piece of loading the partition, or of suspending it, which no other vCPU of it can be in the way of: all
    /// others are stopped.
    fn load(&mut self, partition: &mut Partition<H>, progress: Progress) -> Departure {
        let hal = self.system.hal;
        self.system.schedule.lock().pay_entry(self.thread, self.id, hal.timebase());
        if let Progress::Saved { from, to } = progress {
            let saved = image::save_piece(partition, hal, from, to);
            self.was_not_entered();
            return match saved {
                Ok(Saved::SoFar(progress)) => {
                    partition.life.loaded(Some(progress));
                    Departure::Changed
                }
                Ok(Saved::Whole(image)) => Departure::Ended(Outcome::Suspended(image)),
                Err(error) => Departure::Ended(Outcome::Stopped(StopReason::Suspension(error))),
            };
        }
        let loaded = load::load_piece(partition, hal, progress);
        self.was_not_entered();
        match loaded {
            Ok(progress) => {
                if progress.is_none() {
                    *self.registers = load::first_registers(partition, hal);
                    let demanded = partition.vcpus[self.place.1].demanded.as_deref();
                    hal.load_registers(&self.registers, demanded, partition.common());
                    hal.load_more::<1>(&self.registers);
                    hal.load_more::<2>(&self.registers);
                    hal.load_more::<3>(&self.registers);
                    hal.load_more::<4>(&self.registers);
                    hal.load_more::<5>(&self.registers);
                    partition.statistics.restarts += 1;
                }
                partition.life.loaded(progress);
            }
            Err(error) => return Departure::Ended(Outcome::Stopped(StopReason::Restart(error))),
        }
        Departure::Changed
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
