//! Hardware threads that decide, arrive, stay and leave in any order: a core is never in two partitions, and no vCPU
//! waits for longer than all others need.

use core::cell::RefCell;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::{FAR, Next, Schedule};
use crate::scheduling::meter::Stay;
use crate::vcpu_id::VcpuId;

const SLICE: u64 = 1000;
const PATIENCE: u64 = 1 << 40;

/// What a hardware thread is at.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Thread {
    Decides,
    Waits { until: u64 },
    Comes(VcpuId),
    Stays { vcpu: VcpuId, entered: u64, until: u64, runs_on: bool },
}

struct World {
    schedule: Schedule,
    cores: Vec<u32>,
    /// By vCPU.
    partition: Vec<usize>,
    threads: Vec<Thread>,
    rung: RefCell<Vec<bool>>,
    now: u64,
    /// By vCPU: since when it has waited, and whether it sleeps, until when.
    waits: Vec<Option<u64>>,
    sleeps: Vec<Option<u64>>,
    longest: u64,
    /// By partition, for how long its vCPUs ran.
    ran: Vec<u64>,
}

impl World {
    fn new(cores: &[u32], partitions: &[usize]) -> Self {
        Self::weighted(cores, partitions, |_| 100)
    }

    /// The vCPUs of each partition have this weight.
    fn weighted(cores: &[u32], partitions: &[usize], weight: impl Fn(usize) -> u32) -> Self {
        let mut schedule = Schedule::new(cores.len());
        let partition: Vec<usize> = (0..partitions.len())
            .flat_map(|index| core::iter::repeat_n(index, partitions[index]))
            .collect();
        let add = |partition: &usize| schedule.queue.add(weight(*partition));
        let ids: Vec<_> = partition.iter().map(add).collect();
        partitions.iter().for_each(|_| schedule.add_partition());
        schedule.share_cores(cores, SLICE, partitions.iter().copied());
        ids.iter().for_each(|id| schedule.queue.make_ready(*id, None));
        Self {
            schedule,
            cores: cores.to_vec(),
            threads: vec![Thread::Decides; cores.len()],
            rung: RefCell::new(vec![false; cores.len()]),
            now: 1,
            waits: vec![Some(1); partition.len()],
            sleeps: vec![None; partition.len()],
            partition,
            longest: 0,
            ran: vec![0; partitions.len()],
        }
    }

    /// Lets so much time pass, in which nobody sleeps.
    fn pass(&mut self, ticks: u64) {
        let end = self.now + ticks;
        while self.now < end {
            while (0..self.cores.len()).any(|thread| self.is_due(thread)) {
                for thread in 0..self.cores.len() {
                    if self.is_due(thread) {
                        self.step(thread, None);
                        // An entry and an exit take a moment, as others decide.
                        self.now += 1;
                    }
                }
            }
            let until = |thread: &Thread| match thread {
                Thread::Waits { until } | Thread::Stays { until, .. } => *until,
                _ => self.now,
            };
            self.now = self.threads.iter().map(until).min().expect("there are threads").min(end);
        }
    }

    fn ring(rung: &RefCell<Vec<bool>>) -> impl Fn(usize) {
        |thread| rung.borrow_mut()[thread] = true
    }

    /// Whether the thread has something to do now.
    fn is_due(&self, thread: usize) -> bool {
        match self.threads[thread] {
            Thread::Decides | Thread::Comes(_) => true,
            Thread::Waits { until } | Thread::Stays { until, .. } => {
                self.rung.borrow()[thread] || until <= self.now
            }
        }
    }

    fn step(&mut self, thread: usize, sleeps_for: Option<u64>) {
        let now = self.now;
        let Self { schedule, rung, .. } = self;
        self.threads[thread] = match self.threads[thread] {
            Thread::Waits { .. } => {
                assert_eq!(schedule.take_due(thread, now), None);
                Thread::Decides
            }
            Thread::Decides => {
                rung.borrow_mut()[thread] = false;
                let next = schedule.next_in_core(thread, now, PATIENCE, Self::ring(rung));
                if !schedule.queue.is_empty() {
                    schedule.call_in_cores(None, None, now, Self::ring(rung));
                }
                match next {
                    Next::Run(vcpu) => Thread::Comes(vcpu),
                    Next::Wait(until) => Thread::Waits { until },
                    Next::Stuck => Thread::Waits { until: FAR },
                    Next::Over => unreachable!("no partition ends"),
                }
            }
            Thread::Comes(vcpu) => {
                let partition = self.partition[vcpu.0 as usize];
                if !schedule.arrives_in_core(thread, partition, now, || {}) {
                    return;
                }
                rung.borrow_mut()[thread] = false;
                schedule.queue.remove(vcpu);
                let runs_on = schedule.queue.is_empty();
                schedule.enters(thread, vcpu, runs_on, now);
                if !runs_on {
                    schedule.call_back(None, now, Self::ring(rung));
                }
                let ticks = match (schedule.is_core_wanted(thread), runs_on) {
                    (true, _) => 0,
                    (false, true) => FAR,
                    (false, false) => schedule.slice_in_core(thread, now + SLICE, now) - now,
                };
                let until = now + ticks;
                schedule.runs_until(thread, until);
                if let Some(since) = self.waits[vcpu.0 as usize].take() {
                    self.longest = self.longest.max(now - since);
                }
                Thread::Stays { vcpu, entered: now, until, runs_on }
            }
            Thread::Stays { vcpu, entered, runs_on, .. } => {
                let stay =
                    Stay { vcpu, payer: vcpu, entered, left: now, is_interrupted: true, runs_on };
                if !runs_on {
                    schedule.pays_for_core(thread, vcpu, now - entered);
                }
                self.ran[self.partition[vcpu.0 as usize]] += now - entered;
                schedule.stayed(thread, stay);
                schedule.leaves(thread, vcpu);
                schedule.vacates(thread, vcpu, None);
                match sleeps_for {
                    Some(ticks) => self.sleeps[vcpu.0 as usize] = Some(now + ticks),
                    None => {
                        schedule.queue.make_ready(vcpu, Some(thread));
                        self.waits[vcpu.0 as usize] = Some(now);
                    }
                }
                schedule.leaves_core(thread);
                Thread::Decides
            }
        };
        self.check();
    }

    /// The partition that a thread is inside.
    fn inside(&self, thread: usize) -> Option<usize> {
        match self.threads[thread] {
            Thread::Stays { vcpu, .. } => Some(self.partition[vcpu.0 as usize]),
            _ => None,
        }
    }

    fn check(&self) {
        for (thread, core) in self.cores.iter().enumerate() {
            let siblings = (0..thread).filter(|other| self.cores[*other] == *core);
            for other in siblings {
                let both = [thread, other].map(|thread| self.inside(thread));
                if let [Some(own), Some(others)] = both {
                    assert_eq!(own, others, "threads {thread} and {other} of one core");
                }
            }
        }
    }

    /// Lets those wake whose time has come.
    fn wake(&mut self) {
        for vcpu in 0..self.sleeps.len() {
            if self.sleeps[vcpu].take_if(|until| *until <= self.now).is_some() {
                let id = VcpuId(vcpu as u32);
                self.schedule.see_uncharged(self.now);
                self.schedule.queue.wake(id, None);
                self.waits[vcpu] = Some(self.now);
                let ring = Self::ring(&self.rung);
                self.schedule.call_in_cores(Some(id), None, self.now, ring);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_core_is_in_one_partition_and_nobody_is_forgotten(
        cores in prop_oneof![
            Just(vec![0, 0]),
            Just(vec![0; 8]),
            Just(vec![0, 0, 1, 1]),
            Just(vec![0, 0, 0, 0, 1, 1, 1, 1, 2]),
        ],
        partitions in prop::collection::vec(1_usize..5, 1..5),
        choices in prop::collection::vec((any::<u32>(), 0_u32..8), 600),
    ) {
        let mut world = World::new(&cores, &partitions);
        for (choice, sleep) in choices {
            world.wake();
            let due: Vec<usize> = (0..cores.len()).filter(|thread| world.is_due(*thread)).collect();
            if due.is_empty() {
                // Nobody has anything to do before this time.
                let until = |thread: &Thread| match thread {
                    Thread::Waits { until } | Thread::Stays { until, .. } => *until,
                    _ => unreachable!("it is due"),
                };
                let threads = world.threads.iter().map(until);
                let next = threads.chain(world.sleeps.iter().flatten().copied()).min();
                let next = next.expect("there are threads");
                prop_assert!(
                    next < FAR || world.waits.iter().all(Option::is_none),
                    "one waits, and nobody comes: {:?}", world.threads
                );
                if next >= FAR {
                    // Each has a thread; one of them goes to sleep, which nothing else would make it do.
                    let stays = |thread: &Thread| matches!(thread, Thread::Stays { .. });
                    let Some(thread) = world.threads.iter().position(stays) else { break };
                    world.now += u64::from(choice % 5000);
                    world.step(thread, Some(u64::from(choice % 3000)));
                    continue;
                }
                world.now = world.now.max(next);
                continue;
            }
            let thread = due[choice as usize % due.len()];
            let sleeps_for = (sleep == 0).then_some(u64::from(choice % 3000));
            world.step(thread, sleeps_for);
        }
        let waits = world.waits.iter().flatten().map(|since| world.now - since);
        let longest = waits.max().unwrap_or(0).max(world.longest);
        // Each of the others has a slice, and each core is left to somebody for one more.
        let bound = 2 * SLICE * (world.partition.len() as u64 + 2);
        prop_assert!(longest <= bound, "{longest} ticks, and {bound} are enough");
    }
}

/// The core is the first one's for a slice; then it goes to the other, whose threads wait until all have come out.
#[test]
fn a_core_goes_to_another_partition_when_its_slice_is_over_and_all_are_out() {
    let mut world = World::new(&[0, 0], &[1, 1]);
    for _ in 0..2 {
        world.step(0, None);
    }
    let [first, second] = [VcpuId(0), VcpuId(1)];
    assert!(matches!(world.threads[0], Thread::Stays { vcpu, .. } if vcpu == first));
    world.step(1, None);
    assert_eq!(world.threads[1], Thread::Waits { until: 1 + SLICE }, "the core is the first's");
    world.now = 1 + SLICE;
    world.step(1, None);
    world.step(1, None);
    assert_eq!(world.threads[1], Thread::Comes(second));
    assert!(world.rung.borrow()[0], "the first is called back");
    world.step(1, None);
    assert_eq!(world.threads[1], Thread::Comes(second), "the first is inside");
    world.step(0, None);
    world.step(1, None);
    assert!(matches!(world.threads[1], Thread::Stays { vcpu, .. } if vcpu == second));
    world.step(0, None);
    assert_eq!(world.threads[0], Thread::Waits { until: 1 + 2 * SLICE });
}

/// One that came a moment after the other of its partition leaves with it, and not for the rest of a slice of its own.
#[test]
fn all_vcpus_of_a_core_come_out_together() {
    let mut world = World::new(&[0, 0], &[2, 2]);
    let until = |world: &World| {
        [0, 1].map(|thread| match world.threads[thread] {
            Thread::Stays { vcpu, until, .. } => (world.partition[vcpu.0 as usize], until),
            other => panic!("{other:?}"),
        })
    };
    for partition in [0, 1, 0] {
        let came = world.now + 2;
        for thread in [0, 1] {
            while !matches!(world.threads[thread], Thread::Stays { .. }) {
                world.step(thread, None);
                // The second one has to be out before the first one is in.
                if thread == 0 && !matches!(world.threads[1], Thread::Comes(_) | Thread::Decides) {
                    world.step(1, None);
                }
                world.now += 1;
            }
        }
        let [(first, ends), (second, also)] = until(&world);
        assert_eq!((first, second), (partition, partition));
        assert_eq!(ends, also);
        assert!((SLICE - 20..=SLICE).contains(&(ends - came)), "{ends} {came}");
        world.now = ends;
        for thread in [0, 1] {
            world.step(thread, None);
        }
    }
}

/// Whoever keeps the others from a core pays for all of it.
#[test]
fn partitions_share_a_core_by_weight_also_where_they_use_few_of_its_threads() {
    let shares = |partitions: &[usize], weights: &[u32]| {
        let mut world = World::weighted(&[0; 8], partitions, |partition| weights[partition]);
        world.pass(2000 * SLICE);
        let ran = world.ran.iter().zip(partitions).map(|(ran, vcpus)| ran / *vcpus as u64);
        ran.map(|ran| ran / (20 * SLICE)).collect::<Vec<_>>()
    };
    let near = |shares: Vec<u64>, expected: &[u64]| {
        let is_near = |(share, expected): (&u64, &u64)| share.abs_diff(*expected) <= 4;
        assert!(shares.iter().zip(expected).all(is_near), "{shares:?} hundredths of a core");
    };
    near(shares(&[1, 1], &[100, 100]), &[50, 50]);
    near(shares(&[1, 1], &[1000, 100]), &[91, 9]);
    near(shares(&[1, 1, 1], &[1000, 100, 100]), &[83, 8, 8]);
    // Eight vCPUs have eight times the weight of one.
    near(shares(&[8, 1], &[100, 100]), &[89, 11]);
    near(shares(&[8, 1], &[100, 800]), &[50, 50]);
}
