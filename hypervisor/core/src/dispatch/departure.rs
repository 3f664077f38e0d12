//! How a vCPU leaves a hardware thread: why, who pays for its stay, and what becomes of it then.

use arch::registers::msr;

use crate::partition::Partition;
use crate::partition::life::Pending;
use crate::partition::outcome::{Departure, Outcome, StopReason};
use crate::scheduling::meter::Stay;
use crate::scheduling::queue::VcpuId;
use crate::vcpu::Vcpu;
use crate::vcpu::activity::{Activity, Next, Sleep};

use super::residence::{Resident, save};
use super::{Enter, Running, Slice};

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

impl<H: Enter> Running<'_, H> {
    /// Counts what the vCPU did since it entered.
    pub(super) fn account(&mut self, partition: &mut Partition<H>, departure: &Departure) {
        let vcpu = &mut partition.vcpus[self.place.1];
        vcpu.vpa.left();
        let mut stay = Stay {
            vcpu: vcpu.id,
            payer: self.slice.payer,
            entered: self.entered,
            left: self.left,
            is_interrupted: matches!(departure, Departure::Preempted | Departure::Called),
            runs_on: self.runs_on,
        };
        if let Some(end) = partition.end {
            stay = stay.until(end);
        }
        let mut schedule = self.system.schedule.lock();
        schedule.stayed(self.thread, stay);
        let rest = self.slice.ends.saturating_sub(self.left);
        self.slice.lend(&mut schedule, rest.min(self.slice.lent));
        drop(schedule);
        for (exits, hypercalls) in partition.statistics.exits.iter_mut().zip(self.hypercalls) {
            exits.hypercalls += hypercalls;
        }
    }

    /// Decides what the vCPU does next that left; `None` if it goes on here at once.
    pub(super) fn left(
        &mut self,
        partition: &mut Partition<H>,
        departure: Departure,
    ) -> Option<Next> {
        let caller = Some(self.thread);
        let index = self.place.1;
        let end = |outcome| Pending::End { outcome, vcpu: index };
        // What it waited for the partition's lock since it left counts too. Who comes when a restart is decided pays for its way.
        let is_concluded = partition.life.may_run().is_none();
        let out_of_time = if partition.end.is_none() && partition.time_limit.is_some() {
            let now = self.system.hal.timebase();
            self.system.schedule.lock().out_of_time(partition, self.left, now)
        } else {
            None
        };
        let common = partition.common();
        let vcpu = &mut partition.vcpus[index];
        let id = vcpu.id;
        if is_concluded {
            self.system.schedule.lock().owes(self.thread, id);
        }
        if let Some(since) = out_of_time
            && !matches!(departure, Departure::Ended(_))
        {
            let pending = end(Outcome::Stopped(StopReason::TimeLimit));
            self.system.conclude_since(partition, pending, caller, since);
            return Some(Next::Stops);
        }
        match departure {
            Departure::Ended(outcome) => self.system.conclude(partition, end(outcome), caller),
            Departure::Restarted => self.system.conclude(partition, Pending::Restart, caller),
            Departure::Ceded => {
                self.registers.msr |= msr::EE;
                let expires = self.system.hal.decrementer_expires(&self.registers, common);
                let until = expires.wrapping_sub(common.timebase_offset);
                // The decrementer's sign says whether it has expired, not which of two numbers is greater.
                let has_expired = until.wrapping_sub(self.left) as i64 <= 0;
                let is_prodded = core::mem::take(&mut vcpu.is_prodded);
                if !is_prodded && !has_expired && !vcpu.presentation.is_pending() {
                    return Some(Next::Sleeps(Sleep::Ceded { until }));
                }
            }
            Departure::AwaitsProd => {
                if !core::mem::take(&mut vcpu.is_prodded) {
                    return Some(Next::Sleeps(Sleep::AwaitsProd));
                }
            }
            Departure::Stopped => return Some(Next::Stops),
            // A slice that is over is nobody's to give.
            Departure::Conferred(_) if self.left >= self.slice.ends => {}
            Departure::Conferred(to) => {
                let queue = &self.system.schedule.lock().queue;
                let heir = to.filter(|to| queue.is_ready(*to));
                self.successor = heir.map_or(Successor::Another, Successor::Heir);
            }
            Departure::Preempted => partition.statistics.preempted += 1,
            Departure::Changed | Departure::Called => {}
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
    pub(super) fn give_back(
        mut self,
        partition: &mut Partition<H>,
        resident: &mut Resident,
        next: Next,
    ) -> Option<(VcpuId, Option<Slice>)> {
        let Self { system, thread, place, id, mut slice, left, .. } = self;
        let mut successor = None;
        if next == Next::Stops || partition.life.may_run().is_none() {
            // Its record is shown, or is nobody's any more.
            save(system, partition, place.1, &mut self.registers);
            partition.vcpus[place.1].leave_whole(self.registers, None);
        } else {
            resident.stays(system, thread, partition, place, self.registers);
        }
        let vcpu = &mut partition.vcpus[place.1];
        let permission = partition.life.may_run();
        let mut schedule = system.schedule.lock();
        schedule.vacates(thread, id, partition.end);
        slice.lend(&mut schedule, 0);
        match (next, permission) {
            (Next::Ready, Some(permission)) => {
                successor = match self.successor {
                    Successor::Anybody => None,
                    Successor::Another => schedule.queue.take(thread).map(|id| (id, None)),
                    Successor::Heir(heir) => schedule.queue.take_this(heir).then(|| {
                        let is_given = heir != slice.payer;
                        slice.lend(&mut schedule, if is_given { slice.ends - left } else { 0 });
                        (heir, Some(slice))
                    }),
                };
                if let Some((id, _)) = successor {
                    schedule.expects(thread, id);
                }
                schedule.start(vcpu, permission);
            }
            (Next::Sleeps(sleep), Some(permission)) => {
                schedule.sleep(vcpu, sleep, permission);
            }
            (Next::Stops, _) | (_, None) => schedule.stop(vcpu),
        }
        drop(schedule);
        let is_stopped = |vcpu: &Vcpu<H>| vcpu.activity() == Activity::Stopped;
        if permission.is_some() && partition.vcpus.iter().all(is_stopped) {
            let outcome = Outcome::Stopped(StopReason::AllStopped);
            system.conclude(partition, Pending::End { outcome, vcpu: place.1 }, None);
        }
        system.finish(partition);
        successor
    }
}
