//! How a vCPU leaves a hardware thread: why, who pays for its stay, and what becomes of it then.

use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;
use arch::registers::msr;

use crate::interrupts::handler::{Context, TRACED, handler, save_status};
use crate::life::Pending;
use crate::life::activity::{self, Activity, Sleep};
use crate::life::outcome::{Departure, Outcome, StopReason};
use crate::partition::{Common, Partition};
use crate::scheduling::meter::Stay;
use crate::scheduling::schedule::Schedule;
use crate::vcpu::Vcpu;
use crate::vcpu_id::VcpuId;

use super::enter::admit;
use super::residence::{Resident, save};
use super::{Chosen, Enter, Running, Slice};

/// Who runs next on the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Successor {
    /// Whom the queue chooses, the one that ran among them.
    Anybody,
    /// The same, but not the one that ran.
    Another,
    /// This one, for what is left of the slice.
    Heir(VcpuId),
}

/// What becomes of a vCPU that does not go on here at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Left {
    /// It waits for a processor, or sleeps; who runs next here, if that is decided.
    GoesOn(Option<Chosen>),
    /// It is to run no more.
    Stops,
    /// Its partition is to be suspended; what it would do.
    Rests(activity::Next),
}

impl<H: Enter> Running<'_, H> {
    /// Counts what the vCPU did since it entered.
    fn account(
        &mut self,
        partition: &mut Partition<H>,
        schedule: &mut Schedule,
        departure: &Departure,
    ) {
        partition.vcpus[self.place.1].vpa.left();
        let mut stay = Stay {
            vcpu: self.id,
            payer: self.slice.payer,
            entered: self.entered,
            left: self.left,
            is_interrupted: matches!(departure, Departure::Preempted | Departure::Called),
            runs_on: self.runs_on,
        };
        if let Some(end) = partition.end {
            stay = stay.until(end);
        }
        if H::SHARES_CORES && !stay.runs_on {
            schedule.pays_for_core(self.thread, stay.payer, stay.left.saturating_sub(stay.entered));
        }
        schedule.stayed(self.thread, stay);
        self.reads_ahead::<2>();
        schedule.leaves(self.thread, self.id);
        let rest = self.slice.ends.saturating_sub(self.left);
        self.slice.lend(schedule, rest.min(self.slice.lent));
        self.reads_ahead::<3>();
        for (exits, hypercalls) in partition.statistics.exits.iter_mut().zip(self.hypercalls) {
            exits.hypercalls += hypercalls;
        }
        partition.statistics.preempted += u64::from(*departure == Departure::Preempted);
    }

    /// Accounts for the stay of the vCPU, which has left, and decides what it does next and, where that follows
    /// from how it left, who runs next here; `None` if it goes on here at once. All of it with the schedule
    /// locked once.
    #[inline(always)]
    pub(super) fn left(
        &mut self,
        partition: &mut Partition<H>,
        departure: Departure,
    ) -> Option<Left> {
        self.reads_ahead::<0>();
        let mut locked = self.system.schedule.lock();
        let schedule = &mut *locked;
        self.reads_ahead::<1>();
        self.account(partition, schedule, &departure);
        self.reads_ahead::<4>();
        // What it waited for the partition's lock since it left counts too. Who comes when a restart is decided
        // pays for its way.
        let is_concluded = partition.life.may_run().is_none();
        let out_of_time = if partition.end.is_none() && partition.time_limit.is_some() {
            // The way in may take as long again, as others of the partition want its lock too.
            let now = self.system.hal.timebase();
            schedule.out_of_time(
                partition,
                self.entered,
                now.saturating_add(now.saturating_sub(self.left)),
            )
        } else {
            None
        };
        if is_concluded {
            schedule.owes(self.thread, self.id);
        }
        let end = |outcome| Pending::End { outcome, vcpu: self.place.1 };
        if let Some(since) = out_of_time
            && !matches!(departure, Departure::Ended(_))
        {
            // In one hold of the lock: meanwhile another end may be decided, which takes back what waits for it.
            schedule.forgive(partition, since);
            drop(locked);
            let pending = end(Outcome::Stopped(StopReason::TimeLimit));
            self.system.conclude_since(partition, pending, Some(self.thread), since);
            return Some(Left::Stops);
        }
        let pending = match &departure {
            Departure::Ended(outcome) => Some(end(outcome.clone())),
            Departure::Restarted => Some(Pending::Restart),
            _ => None,
        };
        if let Some(pending) = pending {
            drop(locked);
            self.system.conclude(partition, pending, Some(self.thread));
            return Some(Left::Stops);
        }
        // A slice that is over is nobody's to give.
        let has_time = self.left < self.slice.ends;
        match departure {
            // Nobody else of the partition can be its heir.
            Departure::ConferredToAll if has_time && partition.vcpus.len() == 1 => {
                self.successor = Successor::Another;
            }
            Departure::ConferredToAll if has_time => {
                let heir = schedule.queue.first_of(partition.vcpus.iter().map(|vcpu| vcpu.id));
                self.successor = heir.map_or(Successor::Another, Successor::Heir);
            }
            Departure::Conferred(to) if has_time => {
                let heir = to.filter(|to| schedule.queue.is_ready(*to));
                self.successor = heir.map_or(Successor::Another, Successor::Heir);
            }
            _ => {}
        }
        if partition.life.comes_to_rest() {
            return Some(Left::Rests(self.next(partition, departure)));
        }
        if partition.life.may_run().is_none() {
            return Some(Left::Stops);
        }
        let sleep = match self.next(partition, departure) {
            activity::Next::Ready => None,
            activity::Next::Sleeps(sleep) => Some(sleep),
            activity::Next::Stops => return Some(Left::Stops),
        };
        let Some(permission) = partition.life.may_run() else { return Some(Left::Stops) };
        let vcpu = &mut partition.vcpus[self.place.1];
        if let Some(sleep) = sleep {
            self.vacates(schedule, partition.end);
            schedule.sleep(vcpu, sleep, permission);
            return Some(Left::GoesOn(None));
        }
        // A timer that is due is seen to between two stays, before anybody gets a slice; and a core that another
        // partition is to have is given up. Who has a core next is not for one of its threads to decide here.
        let is_timer_due = schedule.timers.next().is_some_and(|time| time <= self.left);
        if is_timer_due || H::SHARES_CORES && schedule.is_core_wanted(self.thread) {
            self.successor = Successor::Anybody;
        } else if !(H::SHARES_CORES && schedule.is_core_due(self.thread, self.left))
            && self.goes_on_here(schedule, has_time)
        {
            return None;
        }
        self.reads_ahead::<5>();
        self.vacates(schedule, partition.end);
        let chosen = match self.successor {
            Successor::Anybody => None,
            Successor::Another if H::SHARES_CORES => {
                schedule.take_another_in_core(self.thread, self.id).map(|id| (id, None))
            }
            Successor::Another => schedule.queue.take(self.thread).map(|id| (id, None)),
            Successor::Heir(heir) => schedule.queue.take_this(heir).then(|| {
                let is_given = heir != self.slice.payer;
                let lent = if is_given { self.slice.ends - self.left } else { 0 };
                self.slice.lend(schedule, lent);
                (heir, Some(self.slice))
            }),
        };
        if let Some((id, _)) = chosen {
            schedule.expects(self.thread, id);
        }
        self.reads_ahead::<6>();
        schedule.start(vcpu, permission, self.left);
        self.reads_ahead::<7>();
        let chosen = chosen.map(|(id, slice)| self.lets_in(schedule, id, slice));
        Some(Left::GoesOn(chosen))
    }

    /// Lets the vCPU in that comes next, where that is decided as this one leaves: the schedule is locked once for
    /// both. This one waits for the thread then, so that the next one has no `stop` of its own.
    #[inline(always)]
    fn lets_in(&self, schedule: &mut Schedule, id: VcpuId, slice: Option<Slice>) -> Chosen {
        let mut chosen = Chosen { slice, ..Chosen::of(id) };
        if self.system.lets_in() {
            let Self { system, thread, left: now, .. } = *self;
            let mut slice = slice.unwrap_or_else(|| Slice::of(id, system.policy.slice, now));
            let mut let_in = admit(system, schedule, thread, id, &mut slice, now, false);
            let_in.stops = schedule.lets_in(thread, id, now.saturating_add(let_in.ticks));
            (chosen.slice, chosen.let_in) = (Some(slice), Some(let_in));
        }
        chosen
    }

    /// Goes on with reading the vCPU's registers, if another one may come.
    #[inline(always)]
    fn reads_ahead<const PART: usize>(&mut self) {
        if self.may_be_last {
            self.system.hal.read_ahead::<PART>(&mut self.registers);
        }
    }

    /// The vCPU gives the thread back, and what it was lent; if its partition's end was decided at the time
    /// `end`, it pays until then.
    fn vacates(&mut self, schedule: &mut Schedule, end: Option<u64>) {
        schedule.vacates(self.thread, self.id, end);
        self.slice.lend(schedule, 0);
    }

    /// What the vCPU does then that left for this, if its partition goes on.
    fn next(&mut self, partition: &mut Partition<H>, departure: Departure) -> activity::Next {
        let common = partition.common();
        let vcpu = &mut partition.vcpus[self.place.1];
        let sleep = match departure {
            Departure::Ceded => {
                self.registers.msr |= msr::EE;
                let is_prodded = core::mem::take(&mut vcpu.is_prodded);
                let until = if is_prodded { None } else { self.waits_until(vcpu, common) };
                until.map(|until| Sleep::Ceded { until })
            }
            Departure::Paused => {
                self.waits_until(vcpu, common).map(|until| Sleep::Paused { until })
            }
            Departure::AwaitsProd if core::mem::take(&mut vcpu.is_prodded) => None,
            Departure::AwaitsProd => Some(Sleep::AwaitsProd),
            Departure::Doorbell(doorbell) => {
                let registers = &mut self.registers;
                doorbell.carry_out(&mut registers.gpr, &vcpu.presentation);
                let at = Context { pc: registers.pc, msr: registers.msr };
                registers.pc = at.behind();
                if at.is_single_step() {
                    let to = handler(at, Vector::Trace, partition.lpcr);
                    let (srr0, srr1) = (registers.pc, save_status(at.msr, TRACED));
                    (registers.pc, registers.msr) = (to.pc, to.msr);
                    self.system.hal.set_save_registers(registers, srr0, srr1);
                }
                None
            }
            Departure::Stopped => return activity::Next::Stops,
            Departure::Retries(arguments) => {
                self.registers.retry(*arguments);
                None
            }
            Departure::CallsTable => {
                self.answer_of_table();
                None
            }
            _ => None,
        };
        sleep.map_or(activity::Next::Ready, activity::Next::Sleeps)
    }

    /// Until when the vCPU sleeps that waits for an interrupt, unless there is one.
    fn waits_until(&self, vcpu: &Vcpu<H>, common: Common) -> Option<u64> {
        let expires = self.system.hal.decrementer_expires(&self.registers, common);
        let until = expires.wrapping_sub(common.timebase_offset);
        // The decrementer's sign says whether it has expired, not which of two numbers is greater.
        let has_expired = until.wrapping_sub(self.left) as i64 <= 0;
        let counts = vcpu.demanded.as_ref().is_some_and(|used| used.is_given(Facility::Pm));
        let has_alert = counts && self.system.hal.has_monitor_alert();
        let waits = !has_expired && !has_alert && !vcpu.presentation.is_pending();
        waits.then_some(until)
    }

    /// Whether the vCPU, which can run, runs next here too; with a new slice if it has used its own, or gave it
    /// to nobody.
    fn goes_on_here(&mut self, schedule: &mut Schedule, has_time: bool) -> bool {
        let queue = &mut schedule.queue;
        let has_conferred_time = has_time && self.slice.payer != self.id;
        let (goes_on, is_new) = match self.successor {
            Successor::Anybody => {
                (has_conferred_time || queue.goes_on(self.id, self.thread), !has_time)
            }
            // There is nobody whom it could let run first.
            Successor::Another => (queue.is_empty() && queue.goes_on(self.id, self.thread), true),
            Successor::Heir(_) => (false, false),
        };
        if goes_on && is_new {
            self.slice.lend(schedule, 0);
            self.slice = Slice::of(self.id, self.system.policy.slice, self.left);
            self.successor = Successor::Anybody;
        }
        goes_on
    }

    /// Puts the registers of the vCPU where whoever runs it next finds them; who is to run next here.
    #[inline(always)]
    pub(super) fn give_back(
        mut self,
        partition: &mut Partition<H>,
        resident: &mut Resident,
        left: Left,
    ) -> Option<Chosen> {
        let Self { system, thread, place, id, mut slice, .. } = self;
        if let Left::Rests(next) = left {
            save(system, partition, place.1, &mut self.registers);
            let vcpu = &mut partition.vcpus[place.1];
            vcpu.leave_whole(self.registers, None);
            vcpu.rest(next);
            let mut schedule = system.schedule.lock();
            schedule.vacates(thread, id, partition.end);
            slice.lend(&mut schedule, 0);
            drop(schedule);
            system.finish(partition);
            return None;
        }
        let Left::GoesOn(chosen) = left else {
            // Its record is shown, or is nobody's any more.
            save(system, partition, place.1, &mut self.registers);
            partition.vcpus[place.1].leave_whole(self.registers, None);
            let mut schedule = system.schedule.lock();
            schedule.vacates(thread, id, partition.end);
            slice.lend(&mut schedule, 0);
            schedule.stop(&mut partition.vcpus[place.1]);
            drop(schedule);
            let is_stopped = |vcpu: &Vcpu<H>| vcpu.activity() == Activity::Stopped;
            if partition.life.may_run().is_some() && partition.vcpus.iter().all(is_stopped) {
                let outcome = Outcome::Stopped(StopReason::AllStopped);
                system.conclude(partition, Pending::End { outcome, vcpu: place.1 }, None);
            }
            system.finish(partition);
            return None;
        };
        // It may be in the queue, but nobody takes it before its partition is unlocked.
        let makes_way = chosen.is_some();
        let now = resident.stays(system, thread, partition, place, self.registers, makes_way);
        chosen.map(|chosen| Chosen { now, ..chosen })
    }
}
