//! How a vCPU enters a hardware thread: what it finds there, and until when it may stay.

use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, msr};

use crate::hash_table::HashTable;
use crate::interrupts::handler::{Context, handler, save_status};
use crate::interrupts::presentation::{Delivery, Presentation};
use crate::partition::Partition;
use crate::scheduling::schedule::{FAR, Schedule};
use crate::system::System;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

use super::{Enter, LetIn, Running, Slice};

/// How long a vCPU runs with an interrupt pending and MSR\[EE\]=0 before it is looked at again: 50 us
/// of a 512 MHz time base. LPCR\[MER\] makes it leave as soon as EE is set, but on QEMU, which has no
/// mediated interrupts.
const MEDIATION_TICKS: u64 = 25_600;
/// The same of one that was given its interrupt as it entered: 1 ms. Any other guest accepts it within that time.
const ACCEPTANCE_TICKS: u64 = 512_000;

impl<H: Enter> Running<'_, H> {
    /// Goes on with loading the vCPU's registers, if they are not there yet.
    #[inline(always)]
    fn loads<const PART: usize>(&self, is_loading: bool) {
        if is_loading {
            self.system.hal.load_more::<PART>(&self.registers);
        }
    }

    /// Decides with what and until when the vCPU runs from now on, and goes on with loading its registers.
    #[inline(always)]
    pub(super) fn prepare(
        &mut self,
        partition: &mut Partition<H>,
        is_loading: bool,
        let_in: Option<LetIn>,
    ) -> u64 {
        let (hal, now) = (self.system.hal, self.left);
        self.loads::<1>(is_loading);
        self.forget_stale(partition);
        let vcpu = &mut partition.vcpus[self.place.1];
        vcpu.vpa.dispatched();
        let srr = [self.registers.pc, self.registers.msr];
        if let Some((address, entry)) = vcpu.vpa.log_entry(now, srr)
            && partition.memory.write(hal, address, &entry).is_err()
        {
            // The log was checked when it was registered; what cannot be written is lost.
        }
        self.loads::<2>(is_loading);
        let presentation = &partition.vcpus[self.place.1].presentation;
        let mediation = deliver(hal, presentation, &mut self.registers, partition.lpcr);
        self.lpcr = partition.lpcr | if mediation.is_some() { lpcr::MER } else { 0 };
        let demanded = partition.vcpus[self.place.1].demanded.as_ref();
        let has_stop = demanded.is_some_and(|demanded| demanded.has(Facility::Stop));
        let look = partition.memory.hash_table().and_then(HashTable::next_look);
        let look = look.map_or(FAR, |time| time.saturating_sub(now));
        let longest = mediation.unwrap_or(FAR).min(look);
        let ticks = self.ticks(partition, longest, has_stop, now, is_loading, let_in);
        let until = now.saturating_add(ticks);
        if has_stop {
            // Where somebody waits, a pause is the hypervisor's, which gives the hardware thread away meanwhile.
            hal.allow_stop(self.runs_on);
        }
        until
    }

    /// How long the vCPU may run from `now` on, at most `longest`. One whose slice is over on the way in comes out
    /// again at once.
    fn ticks(
        &mut self,
        partition: &Partition<H>,
        longest: u64,
        has_stop: bool,
        now: u64,
        is_loading: bool,
        let_in: Option<LetIn>,
    ) -> u64 {
        if let Some(LetIn { runs_on, ticks, .. }) = let_in
            && !(runs_on && has_stop)
        {
            self.loads::<3>(is_loading);
            self.loads::<4>(is_loading);
            self.loads::<5>(is_loading);
            self.runs_on = runs_on;
            return ticks.min(longest);
        }
        let mut schedule = self.system.schedule.lock();
        self.loads::<3>(is_loading);
        // It may have been stopped and started again since it was taken.
        schedule.queue.remove(self.id);
        let Self { system, thread, id, ref mut slice, .. } = *self;
        let LetIn { runs_on, ticks, .. } =
            admit(system, &mut schedule, thread, id, slice, now, has_stop);
        self.runs_on = runs_on;
        self.loads::<4>(is_loading);
        // Half of what is left is divided among all of its vCPUs that may run at a time, so that none runs on
        // when all have used it, with their ways in and out. Below a quarter of a slice they divide that: it is
        // less than a slice that they use too much.
        let together = partition.vcpus.len().min(schedule.threads()) as u64;
        let least = self.system.policy.slice / 4;
        let part = |left: u64| match together {
            1 => left,
            _ => left.min(((left / 2).max(least) / together).max(1)),
        };
        let limit = partition.time_limit.map_or(FAR, |_| {
            let begins = self.system.hal.timebase();
            schedule.pay_entry(self.thread, self.id, begins);
            let part = schedule.time_left(partition, begins).map_or(FAR, part);
            part.saturating_add(begins.saturating_sub(now))
        });
        self.loads::<5>(is_loading);
        let ticks = ticks.min(longest).min(limit);
        schedule.runs_until(self.thread, now.saturating_add(ticks));
        ticks
    }
}

/// Lets a vCPU in on `thread` at the time `now`, on which it may wait in a `stop` if it `has_stop`: the schedule takes
/// it for entered.
#[inline(always)]
pub(super) fn admit<H: Enter>(
    system: &System<'_, H>,
    schedule: &mut Schedule,
    thread: usize,
    id: VcpuId,
    slice: &mut Slice,
    now: u64,
    has_stop: bool,
) -> LetIn {
    let runs_on = schedule.queue.is_empty();
    schedule.enters(thread, id, runs_on, now);
    schedule.may_pause(thread, runs_on && has_stop);
    let has_no_end =
        runs_on || schedule.threads() > 1 && others_wait(system, schedule, thread, id, *slice, now);
    if H::SHARES_CORES {
        slice.ends = schedule.slice_in_core(thread, slice.ends, now);
    }
    let ticks = if H::SHARES_CORES && schedule.is_core_wanted(thread) {
        0
    } else if has_no_end {
        FAR
    } else {
        slice.ends.saturating_sub(now)
    };
    let timer = schedule.timer_to_watch(thread).map_or(FAR, |time| time.saturating_sub(now));
    LetIn { at: now, runs_on, ticks: ticks.min(timer), stops: 0, holds: true }
}

/// Calls back who runs on though somebody waits `now`; whether the slice of `id` has no end all the same.
///
/// Not inlined: on one hardware thread it does nothing, and costs nothing.
#[inline(never)]
fn others_wait<H: Enter>(
    system: &System<'_, H>,
    schedule: &mut Schedule,
    thread: usize,
    id: VcpuId,
    slice: Slice,
    now: u64,
) -> bool {
    schedule.call_back(None, now, |thread| system.hal.ring(thread));
    slice.payer == id && schedule.goes_before_others(thread, id, now)
}

/// Gives a vCPU its pending interrupt, if it takes one now. While one is pending, LPCR\[MER\] has to be set: the
/// request is a level, so that the vCPU leaves and gets it as soon as it sets MSR\[EE\], for the first time or again.
/// For how long it may run then, if one is.
fn deliver<H: Enter>(
    hal: &H,
    presentation: &Presentation,
    registers: &mut Registers,
    lpcr: u64,
) -> Option<u64> {
    if !presentation.is_pending() {
        return None;
    }
    if registers.msr & msr::EE == 0 {
        return Some(MEDIATION_TICKS);
    }
    let interrupted = Context { pc: registers.pc, msr: registers.msr };
    let (vector, longest) = match presentation.deliver()? {
        Delivery::External => (Vector::External, Some(ACCEPTANCE_TICKS)),
        Delivery::Doorbell => (Vector::DirectedPrivilegedDoorbell, None),
    };
    let to = handler(interrupted, vector, lpcr);
    hal.set_save_registers(registers, interrupted.pc, save_status(interrupted.msr, 0));
    (registers.pc, registers.msr) = (to.pc, to.msr);
    longest
}
