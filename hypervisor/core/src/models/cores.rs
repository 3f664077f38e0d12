//! A core goes from one partition to another: its threads decide under the schedule's lock, wait until the others are
//! out, and are rung where they would stay.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::thread::{spawn, yield_now};

use crate::scheduling::doorbell::Doorbell;
use crate::scheduling::meter::Stay;
use crate::scheduling::schedule::{FAR, Next, Schedule};
use crate::sync::Lock;
use crate::vcpu_id::VcpuId;

const SLICE: u64 = 100;

struct Core {
    schedule: Lock<Schedule>,
    doorbells: [Doorbell; 2],
    now: AtomicU64,
    /// What the threads share, LPIDR: written by whoever takes the core, read by all that are inside.
    lpidr: AtomicUsize,
    /// Where loom sees that nobody writes it while others read it.
    watched: UnsafeCell<()>,
    /// Stays that are over.
    done: AtomicUsize,
    stays: usize,
}

impl Core {
    /// Two threads, and partitions with so many vCPUs, each of which stays once, until somebody wants the thread if
    /// nobody waits when it comes.
    fn new(vcpus: &[usize]) -> Self {
        let mut schedule = Schedule::new(2);
        let stays = vcpus.iter().sum();
        let ids: std::vec::Vec<VcpuId> = (0..stays).map(|_| schedule.queue.add(100)).collect();
        vcpus.iter().for_each(|_| schedule.add_partition());
        schedule.share_cores(&[0, 0], SLICE, vcpus.iter().copied());
        ids.into_iter().for_each(|id| schedule.queue.make_ready(id, None));
        Self {
            schedule: Lock::new(schedule),
            doorbells: [Doorbell::silent(), Doorbell::silent()],
            now: AtomicU64::new(1),
            lpidr: AtomicUsize::new(usize::MAX),
            watched: UnsafeCell::new(()),
            done: AtomicUsize::new(0),
            stays,
        }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed) == self.stays
    }

    /// Until the doorbell is rung, or a time comes that is not too far, or so many stays are over.
    fn stay(&self, thread: usize, until: u64, stays: usize) {
        while !self.doorbells[thread].is_rung() && self.done.load(Ordering::Relaxed) < stays {
            if until < FAR {
                self.now.fetch_max(until, Ordering::Relaxed);
                return yield_now();
            }
            yield_now();
        }
    }

    fn run(&self, thread: usize, of: fn(VcpuId) -> usize) {
        let ring = |thread: usize| self.doorbells[thread].ring();
        while !self.is_done() {
            self.doorbells[thread].clear();
            let now = self.now.load(Ordering::Relaxed);
            let mut schedule = self.schedule.lock();
            assert_eq!(schedule.take_due(thread, now), None);
            let next = schedule.next_in_core(thread, now, FAR, ring);
            if !schedule.queue.is_empty() {
                schedule.call_in_cores(None, None, now, ring);
            }
            drop(schedule);
            match next {
                Next::Run(id) => self.enter(thread, id, of(id)),
                Next::Wait(until) => self.stay(thread, until, self.stays),
                // Those that are left run on the other thread.
                Next::Stuck => yield_now(),
                Next::Over => unreachable!("no partition ends"),
            }
        }
    }

    fn enter(&self, thread: usize, vcpu: VcpuId, partition: usize) {
        let take = || self.watched.with_mut(|_| self.lpidr.store(partition, Ordering::Relaxed));
        let now = self.now.load(Ordering::Relaxed);
        while !self.schedule.lock().arrives_in_core(thread, partition, now, take) {
            yield_now();
        }
        self.doorbells[thread].clear();
        let entered = self.now.load(Ordering::Relaxed);
        let mut schedule = self.schedule.lock();
        let runs_on = schedule.queue.is_empty();
        schedule.enters(thread, vcpu, runs_on, entered);
        let until = if runs_on && !schedule.is_core_wanted(thread) { 2 * FAR } else { entered };
        schedule.runs_until(thread, until);
        drop(schedule);
        // Inside: loom complains if another thread takes the core meanwhile.
        self.watched.with(|_| {
            assert_eq!(self.lpidr.load(Ordering::Relaxed), partition);
            // The last one has nobody to wait for.
            self.stay(thread, until, self.stays - 1);
        });
        let left = self.now.load(Ordering::Relaxed);
        let stay = Stay { vcpu, payer: vcpu, entered, left, is_interrupted: true, runs_on };
        let mut schedule = self.schedule.lock();
        schedule.stayed(thread, stay);
        schedule.leaves(thread, vcpu);
        schedule.vacates(thread, vcpu, None);
        schedule.leaves_core(thread);
        drop(schedule);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

fn hand_over(vcpus: &'static [usize], of: fn(VcpuId) -> usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 20_000;
    builder.check(move || {
        let core = Arc::new(Core::new(vcpus));
        let other = {
            let core = core.clone();
            spawn(move || core.run(1, of))
        };
        core.run(0, of);
        other.join().unwrap();
        assert_eq!(core.done.load(Ordering::Relaxed), core.stays);
    });
}

#[test]
fn a_core_is_in_one_partition_at_a_time() {
    hand_over(&[1, 1], |id| id.0 as usize);
}

#[test]
fn a_core_comes_back_to_a_partition_with_two_vcpus() {
    hand_over(&[2, 1], |id| id.0 as usize / 2);
}
