//! What each hardware thread does until every partition is over.

use crate::dispatch::residence::Resident;
use crate::dispatch::{self, Chosen, Enter};
use crate::life::Pending;
use crate::life::outcome::{Outcome, StopReason};
use crate::scheduling::queue::Due;
use crate::scheduling::schedule::{Next, start};
use crate::system::System;

impl<H: Enter> System<'_, H> {
    /// What hardware thread `thread` does until all partitions are over.
    pub fn run_thread(&self, thread: usize) {
        let mut resident = Resident::default();
        while self.step(thread, &mut resident) {}
    }

    /// One thing after another; false when all partitions are over.
    fn step(&self, thread: usize, resident: &mut Resident) -> bool {
        self.hal.clear_doorbell();
        let now = self.wake_due(thread);
        let mut schedule = self.schedule.lock();
        if resident.is_owner() && schedule.queue.is_empty() {
            // It will wait, and others must find what they need in the record.
            drop(schedule);
            resident.make_way(self, thread, None);
            return true;
        }
        let ring = |thread| self.hal.ring(thread);
        let next = if H::SHARES_CORES {
            let next = schedule.next_in_core(thread, now, self.policy.patience, ring);
            if !schedule.queue.is_empty() {
                schedule.call_in_cores(None, None, now, ring);
            }
            next
        } else {
            let next = schedule.next(thread, now, self.policy.patience);
            if !schedule.queue.is_empty() {
                schedule.call(None, None, now, ring);
            }
            next
        };
        drop(schedule);
        match next {
            Next::Run(id) => {
                if H::SHARES_CORES {
                    self.come_into_core(thread, id);
                }
                let mut next = Some(Chosen::of(id));
                while let Some(mut chosen) = next {
                    // One that is rung behind this ends the next stay.
                    if self.hal.is_rung() {
                        self.hal.clear_doorbell();
                        chosen.is_rung();
                    }
                    next = dispatch::run(self, thread, resident, chosen);
                }
                if H::SHARES_CORES {
                    self.schedule.lock().leaves_core(thread);
                }
            }
            Next::Wait(until) => {
                resident.make_way(self, thread, None);
                self.hal.wait(until);
            }
            Next::Stuck => self.stop_sleepers(),
            Next::Over => return false,
        }
        true
    }

    /// Wakes the vCPUs whose decrementer has expired, and suspends partitions: the time at which there was nothing left
    /// of that.
    fn wake_due(&self, thread: usize) -> u64 {
        let mut is_first = true;
        loop {
            let now = self.hal.timebase();
            let due = self.schedule.lock().take_due(thread, now);
            let Some(due) = due else { return now };
            let (partition, vcpu) = self.place(due.vcpu());
            if let Due::Suspends(_) = due {
                self.suspend(partition);
                continue;
            }
            let partition = &mut *self.partitions()[partition].lock();
            let vcpu = &mut partition.vcpus[vcpu];
            // Somebody else may have woken it meanwhile, or concluded the partition.
            if let Some(permission) = partition.life.may_run()
                && vcpu.activity().sleeps_until().is_some_and(|until| until <= now)
            {
                // This thread will run one of those that are ready.
                if core::mem::take(&mut is_first) && self.schedule.lock().queue.is_empty() {
                    self.schedule.lock().start(vcpu, permission, now);
                } else {
                    start(self.hal, &self.schedule, vcpu, permission);
                }
            }
        }
    }

    /// Ends all partitions: their vCPUs sleep, all of them, and nothing will wake one soon.
    fn stop_sleepers(&self) {
        for partition in self.partitions() {
            let mut partition = partition.lock();
            if partition.life.outcome().is_none() {
                let outcome = Outcome::Stopped(StopReason::NothingToWake);
                self.conclude(&mut partition, Pending::End { outcome, vcpu: 0 }, None);
                self.finish(&mut partition);
            }
        }
    }
}
