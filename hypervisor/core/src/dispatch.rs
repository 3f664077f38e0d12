//! A vCPU's stay on a hardware thread.
//!
//! It runs until something makes it leave: its slice is over, it waits, or it or its partition is over.
//! What it needs from the processor is decided here, just before it enters. It goes on at once if nobody
//! else comes before it; otherwise its registers go back to where any thread may take them from.

use alloc::boxed::Box;

use arch::interrupt::Vector;
use arch::papr::Hypercall;
use arch::registers::{lpcr, msr};

use crate::exit::{self, Action, Exit};
use crate::hal::Hal;
use crate::hypercall::{self, Answer};
use crate::interrupt::{Context, handler, save_status};
use crate::life::Pending;
use crate::load::{self, Piece, Progress};
use crate::meter::Stay;
use crate::partition::{Door, Outcome, Partition, StopReason};
use crate::presentation::Presentation;
use crate::registers::Registers;
use crate::schedule::VcpuId;
use crate::second_stage;
use crate::sync::Lock;
use crate::system::{self, System};
use crate::threads::{FAR, Schedule};
use crate::vcpu::{Activity, Next, Sleep, Vcpu};

/// Why a vCPU left the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Its time is over.
    Preempted,
    /// By what it did, what it runs with has changed, or who is ready: it goes on, or somebody else first.
    Changed,
    /// The same by what another hardware thread did.
    Called,
    /// It waits for an interrupt, with MSR\[EE\] set, or for H_PROD.
    Ceded,
    /// It waits for H_PROD.
    AwaitsProd,
    /// It gives the rest of its slice, if there is one, to this one, or lets whoever is next run first.
    Conferred(Option<VcpuId>),
    /// It stopped itself.
    Stopped,
    /// Its partition wants to start anew.
    Restarted,
    /// Its partition is over.
    Ended(Outcome),
}

/// How long a vCPU runs with an interrupt pending and MSR\[EE\]=0 before it is looked at again: 50 us
/// of a 512 MHz time base. LPCR\[MER\] makes it leave as soon as EE is set, but on QEMU, which has no
/// mediated interrupts.
const MEDIATION_TICKS: u64 = 25_600;

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
        Self { ends: now.saturating_add(schedule.queue.slice(id)), payer: id }
    }
}

/// Who runs next on the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Successor {
    /// Whoever is furthest behind, the one that ran among them.
    Anybody,
    /// The same, but not the one that ran.
    Another,
    /// This one, for what is left of the slice.
    Heir(VcpuId),
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
    /// Hypercalls, by [`Door`], since it entered.
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

/// A vCPU that runs, with what its hypercalls need: its partition is locked.
#[derive(Debug)]
pub struct Guest<'a, H: Hal> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a crate::console::Console,
    /// The partition.
    pub partition: &'a mut Partition<H>,
    /// Which of its vCPUs.
    pub vcpu: usize,
    /// All vCPUs of the machine.
    pub schedule: &'a Lock<Schedule>,
    /// LPCR\[MER\] is set: an external interrupt waits for the guest's MSR\[EE\].
    pub is_mediated: bool,
}

impl<H: Hal> Guest<'_, H> {
    /// Lets vCPU `index` run, which was stopped or sleeps; whether no hardware thread has to look for it: one was
    /// idle, or the partition is concluded and lets nobody run.
    pub fn start(&mut self, index: usize) -> bool {
        let Partition { life, vcpus, .. } = &mut *self.partition;
        let leave = life.may_run();
        leave.is_none_or(|leave| system::start(self.hal, self.schedule, &mut vcpus[index], leave))
    }

    /// Makes vCPU `index`, if it runs now on another hardware thread, look at what has changed.
    pub fn call_back(&self, index: usize) {
        if let Activity::Running { thread } = self.partition.vcpus[index].activity()
            && index != self.vcpu
        {
            self.hal.ring(thread);
        }
    }
}

impl<H: Hal> Running<'_, H> {
    /// Answers a hypercall with the arguments r4 to r10.
    ///
    /// Inlined for the same reason as [`hypercall::answer`].
    #[inline(always)]
    pub fn hypercall(&mut self, call: Hypercall, arguments: [u64; 7]) -> Answer {
        let system = self.system;
        let mut partition = system.partitions()[self.place.0].lock();
        let mut guest = Guest {
            hal: system.hal,
            console: system.console,
            partition: &mut partition,
            vcpu: self.place.1,
            schedule: &system.schedule,
            is_mediated: self.lpcr & lpcr::MER != 0,
        };
        hypercall::answer(&mut guest, call, arguments)
    }

    /// Handles any other exit.
    pub fn exit(&mut self, door: Door, exit: Exit) -> Action {
        let mut partition = self.system.partitions()[self.place.0].lock();
        exit::handle(&mut partition, self.place.1, self.system.hal, door, exit)
    }
}

/// Runs the vCPU at `place`, which was taken from the queue, on `thread`, until it does not go on; for the
/// rest of a slice that was conferred on it, and then for its own. Who is to run next here, and for the rest of
/// whose slice, if that is decided by how it left.
pub(crate) fn run<H: Hal>(
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

impl<H: Hal> Running<'_, H> {
    /// Decides with what and until when the vCPU runs from now on.
    fn prepare(&mut self, partition: &mut Partition<H>) -> u64 {
        let (hal, now) = (self.system.hal, self.left);
        self.forget_stale(partition);
        let vcpu = &mut partition.vcpus[self.place.1];
        vcpu.areas.dispatched();
        let srr = [self.registers.pc, self.registers.msr];
        if let Some((address, entry)) = vcpu.areas.log_entry(now, srr)
            && second_stage::write(partition, hal, address, &entry).is_err()
        {
            // The log was checked when it was registered; what cannot be written is lost.
        }
        let presentation = &partition.vcpus[self.place.1].presentation;
        let is_mediated = deliver(presentation, &mut self.registers, partition.lpcr);
        self.lpcr = partition.lpcr | if is_mediated { lpcr::MER } else { 0 };
        now.saturating_add(self.ticks(partition, is_mediated, now))
    }

    /// Does a piece of loading the partition, which no other vCPU of it can be in the way of: all others are stopped.
    fn load(&mut self, partition: &mut Partition<H>, progress: Progress) -> Leave {
        let hal = self.system.hal;
        let loaded = load::load_piece(partition, hal, progress);
        // All of it is the hypervisor's work for the vCPU.
        self.left = hal.timebase();
        self.entered = self.left;
        match loaded {
            Ok(Piece::Next(progress)) => partition.life.loaded(Some(progress)),
            Ok(Piece::Last(registers)) => {
                *self.registers = registers;
                hal.load_floating(&self.registers.floating);
                partition.statistics.restarts += 1;
                partition.life.loaded(None);
            }
            Err(error) => return Leave::Ended(Outcome::Stopped(StopReason::Restart(error))),
        }
        Leave::Changed
    }

    /// A guest invalidates what only one of its vCPUs has used with `tlbiel`, in the core where that runs: what
    /// it used in another core before is left there. So the core that a vCPU leaves has to forget it before
    /// any vCPU of the partition uses it; it does when the next one comes, or at once if one is there.
    ///
    /// As KVM's `need_tlb_flush` does (Linux's `book3s_hv.c`); where it calls the vCPUs of that core back, this
    /// makes all cores forget, as that happens only where vCPUs of one partition share a core.
    fn forget_stale(&self, partition: &mut Partition<H>) {
        let core = self.system.core(self.thread);
        let vcpu = &mut partition.vcpus[self.place.1];
        let before = vcpu.last_thread.replace(self.thread).map(|thread| self.system.core(thread));
        if let Some(before) = before.filter(|before| *before != core) {
            let is_there = |vcpu: &Vcpu<H>| matches!(vcpu.activity(), Activity::Running { thread } if self.system.core(thread) == before);
            if partition.vcpus.iter().any(is_there) {
                partition.stale_cores.clear();
                self.system.hal.forget_translations(self.lpid);
            } else if !partition.stale_cores.contains(&before) {
                partition.stale_cores.push(before);
            }
        }
        if let Some(place) = partition.stale_cores.iter().position(|stale| *stale == core) {
            partition.stale_cores.swap_remove(place);
            self.system.hal.forget_in_core(self.lpid);
        }
    }

    /// How long the vCPU may run from `now` on. One whose slice is over on the way in comes out again at once.
    fn ticks(&mut self, partition: &Partition<H>, is_mediated: bool, now: u64) -> u64 {
        let mut schedule = self.system.schedule.lock();
        self.runs_on = schedule.queue.is_empty();
        schedule.set_runs_on(self.thread, self.runs_on);
        let slice = if self.runs_on { FAR } else { self.slice.ends.saturating_sub(now) };
        let timer = schedule.timer_to_watch().map_or(FAR, |time| time.saturating_sub(now));
        let mediation = if is_mediated { MEDIATION_TICKS } else { FAR };
        // All of its vCPUs that run may find the same time left: together they use a slice more at most.
        let together = partition.vcpus.len().min(schedule.threads()) as u64;
        let piece = (self.system.policy.slice / together).max(1);
        let limit = schedule.time_left(partition).map_or(FAR, |left| left.min(piece));
        slice.min(timer).min(mediation).min(limit)
    }

    /// Counts what the vCPU did since it entered.
    fn account(&mut self, partition: &mut Partition<H>, leave: &Leave) {
        let vcpu = &mut partition.vcpus[self.place.1];
        vcpu.areas.left();
        let stay = Stay {
            vcpu: vcpu.id,
            payer: self.slice.payer,
            entered: self.entered,
            left: self.left,
            is_interrupted: matches!(leave, Leave::Preempted | Leave::Called),
            runs_on: self.runs_on,
        };
        self.system.schedule.lock().stayed(self.thread, stay);
        for (exits, hypercalls) in partition.statistics.exits.iter_mut().zip(self.hypercalls) {
            exits.hypercalls += hypercalls;
        }
    }

    /// Decides what the vCPU does next that left; `None` if it goes on here at once.
    fn left(&mut self, partition: &mut Partition<H>, leave: Leave) -> Option<Next> {
        let caller = Some(self.thread);
        let index = self.place.1;
        let end = |outcome| Pending::End { outcome, vcpu: index };
        let is_out_of_time = partition.time_limit.is_some()
            && self.system.schedule.lock().time_left(partition) == Some(0);
        let vcpu = &mut partition.vcpus[index];
        let id = vcpu.id;
        match leave {
            Leave::Ended(outcome) => self.system.conclude(partition, end(outcome), caller),
            _ if is_out_of_time => {
                self.system.schedule.lock().owes(self.thread, id);
                let outcome = Outcome::Stopped(StopReason::TimeLimit);
                self.system.conclude(partition, end(outcome), caller);
            }
            Leave::Restarted => self.system.conclude(partition, Pending::Restart, caller),
            Leave::Ceded => {
                self.registers.msr |= msr::EE;
                let expires = self.registers.supervisor.decrementer_expires;
                let until = expires.wrapping_sub(self.timebase_offset);
                // The decrementer's sign says whether it has expired, not which of two numbers is greater.
                let has_expired = until.wrapping_sub(self.left) as i64 <= 0;
                let is_prodded = core::mem::take(&mut vcpu.is_prodded);
                if !is_prodded && !has_expired && !vcpu.presentation.is_pending() {
                    return Some(Next::Sleeps(Sleep::Ceded { until }));
                }
            }
            Leave::AwaitsProd => {
                if !core::mem::take(&mut vcpu.is_prodded) {
                    return Some(Next::Sleeps(Sleep::AwaitsProd));
                }
            }
            Leave::Stopped => return Some(Next::Stops),
            // A slice that is over is nobody's to give.
            Leave::Conferred(_) if self.left >= self.slice.ends => {}
            Leave::Conferred(to) => {
                let queue = &self.system.schedule.lock().queue;
                let heir = to.filter(|to| queue.is_ready(*to));
                self.successor = heir.map_or(Successor::Another, Successor::Heir);
            }
            Leave::Preempted => partition.statistics.preempted += 1,
            Leave::Changed | Leave::Called => {}
        }
        if partition.life.may_run().is_none() {
            return Some(Next::Stops);
        }
        let mut schedule = self.system.schedule.lock();
        // A timer that is due is seen to between two stays, before anybody gets a slice.
        if schedule.timers.next().is_some_and(|time| time <= self.left) {
            self.successor = Successor::Anybody;
            return Some(Next::Ready);
        }
        let has_time = self.left < self.slice.ends;
        let has_conferred_time = has_time && self.slice.payer != id;
        let goes_on = self.successor == Successor::Anybody
            && (has_conferred_time || schedule.queue.goes_on(id, self.thread));
        if goes_on && !has_time {
            self.slice = Slice::of(id, &schedule, self.left);
        }
        (!goes_on).then_some(Next::Ready)
    }

    /// Puts the vCPU back, from where any hardware thread may take it: who is to run next here, and for the rest
    /// of whose slice, if that is decided. One whose partition was concluded stops, whatever it left for.
    fn give_back(
        mut self,
        partition: &mut Partition<H>,
        next: Next,
    ) -> Option<(VcpuId, Option<Slice>)> {
        let Self { system, thread, place, slice, .. } = self;
        let mut successor = None;
        system.hal.save_floating(&mut self.registers.floating);
        system.hal.settle();
        let vcpu = &mut partition.vcpus[place.1];
        vcpu.registers = Some(self.registers);
        let leave = partition.life.may_run();
        match (next, leave) {
            (Next::Ready, Some(leave)) => {
                let mut schedule = system.schedule.lock();
                let queue = &mut schedule.queue;
                successor = match self.successor {
                    Successor::Anybody => None,
                    Successor::Another => queue.take(thread).map(|id| (id, None)),
                    Successor::Heir(id) => queue.take_this(id).then_some((id, Some(slice))),
                };
                schedule.start(vcpu, leave);
            }
            (Next::Sleeps(sleep), Some(leave)) => {
                system.schedule.lock().sleep(vcpu, sleep, leave);
            }
            (Next::Stops, _) | (_, None) => system.schedule.lock().stop(vcpu),
        }
        let is_stopped = |vcpu: &Vcpu<H>| vcpu.activity() == Activity::Stopped;
        if leave.is_some() && partition.vcpus.iter().all(is_stopped) {
            let outcome = Outcome::Stopped(StopReason::AllStopped);
            system.conclude(partition, Pending::End { outcome, vcpu: place.1 }, None);
        }
        system.finish(partition);
        successor
    }
}

/// Gives a vCPU its pending external interrupt, if it takes one now. If it does not, LPCR\[MER\] has to
/// be set so that it leaves when it would; that is the answer.
fn deliver(presentation: &Presentation, registers: &mut Registers, lpcr: u64) -> bool {
    if !presentation.is_pending() {
        return false;
    }
    if registers.msr & msr::EE == 0 {
        return true;
    }
    let interrupted = Context { pc: registers.pc, msr: registers.msr };
    let to = handler(interrupted, Vector::External, lpcr);
    registers.supervisor.srr0 = interrupted.pc;
    registers.supervisor.srr1 = save_status(interrupted.msr, 0);
    (registers.pc, registers.msr) = (to.pc, to.msr);
    false
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
