//! The bound of `docs/containment.md`, on the queue alone: hardware threads that dispatch as the hypervisor does, vCPUs
//! that are always ready, and others that leave early, sleep and give their slices away as they like.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::{Just, any, prop_assert, prop_oneof, proptest};

use super::super::{RunQueue, slice_within};
use crate::vcpu_id::VcpuId;

/// What is promised: 100 us of a 512 MHz time base.
const SLICE: u64 = 51_200;
/// In slices.
const BOUND: f64 = 2.0;
/// Ticks between two looks.
const STEP: u64 = SLICE / 32;

/// What a hardware thread runs, since when, until when, and who pays.
#[derive(Clone, Copy)]
struct Stay {
    id: VcpuId,
    since: u64,
    ends: u64,
    payer: VcpuId,
    /// Ticks that the payer has lent.
    lent: u64,
    /// Nobody waited.
    runs_on: bool,
    /// Until when somebody may have waited.
    waited_for_until: u64,
    /// It has no end, until it is called.
    is_endless: bool,
    /// It runs on no more, as somebody waits.
    is_called: bool,
}

/// What a vCPU does while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Habit {
    /// It runs.
    Spins,
    /// It gives the rest of each slice away.
    Confers,
    /// It sleeps when it has used its slice.
    Naps,
    /// One after the other, and leaves for nothing.
    All,
}

struct Contest {
    queue: RunQueue,
    weights: Vec<u32>,
    /// Those that are left out run all the time, and are measured.
    habits: Vec<Habit>,
    stays: Vec<Option<Stay>>,
    chance: u64,
    /// How seldom those that sleep wake: a chance in so many for each vCPU, and for all at once, in each step.
    rest: u64,
    /// How seldom one that runs is interrupted, a chance in so many in each step.
    calm: u64,
}

impl Contest {
    /// The first vCPUs only run.
    fn new(cores: &[u32], weights: &[u32], victims: usize, seed: u64) -> Self {
        let mut queue = RunQueue::default();
        let ids: Vec<VcpuId> = weights.iter().map(|weight| queue.add(*weight)).collect();
        queue.set_threads(cores, slice_within(SLICE));
        ids.into_iter().for_each(|id| queue.make_ready(id, None));
        let stays = std::vec![None; cores.len()];
        let mut contest = Self {
            queue,
            weights: weights.to_vec(),
            habits: Vec::new(),
            stays,
            chance: seed | 1,
            rest: 4 << (seed % 8),
            calm: 16 << (seed / 8 % 8),
        };
        for index in 0..weights.len() {
            let habits = [Habit::Spins, Habit::Confers, Habit::Naps, Habit::All];
            let habit = habits[contest.below(4) as usize];
            contest.habits.push(if index < victims { Habit::Spins } else { habit });
        }
        contest
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance % limit
    }

    fn see_uncharged(&mut self, now: u64) {
        let ran = self.stays.iter().flatten().map(|stay| now - stay.since).sum();
        self.queue.see_uncharged(ran);
    }

    /// Lets a thread go on, or take another vCPU.
    fn dispatch(&mut self, thread: usize, now: u64) {
        self.see_uncharged(now);
        if let Some(stay) = self.stays[thread] {
            self.stays[thread] = self.look(thread, stay, now);
        }
        if self.stays[thread].is_none()
            && let Some(id) = self.queue.take(thread)
        {
            self.stays[thread] = Some(self.begin(id, now));
        }
        let has_entered = self.stays[thread].is_some_and(|stay| stay.since == now);
        if has_entered && !self.queue.is_empty() {
            self.call_back(now);
            self.goes_before_others(thread);
        }
    }

    /// As [`Schedule::call_back`](crate::scheduling::schedule::Schedule::call_back).
    fn call_back(&mut self, now: u64) {
        self.see_uncharged(now);
        let looks = |stay: &Stay| !stay.is_endless || stay.is_called;
        let mut is_looked_after = self.stays.iter().flatten().any(looks);
        let mut last = None;
        for thread in 0..self.stays.len() {
            let Some(stay) = self.stays[thread] else { continue };
            if looks(&stay) || stay.runs_on && self.queue.is_due_a_thread(stay.id) {
                continue;
            }
            let ahead = if stay.runs_on { 0 } else { self.queue.slice() };
            match self.queue.first_deadline(stay.id, now - stay.since + ahead) {
                Some(deadline) => {
                    let waited_for_until = now + self.queue.slice();
                    self.stays[thread] = Some(Stay { waited_for_until, ..stay });
                    last = last.max(Some((deadline, thread)));
                }
                None => {
                    is_looked_after = true;
                    self.stays[thread] = Some(Stay { is_called: true, ..stay });
                }
            }
        }
        if let Some((_, thread)) = last.filter(|_| !is_looked_after) {
            self.stays[thread].as_mut().expect("it runs on").is_called = true;
        }
    }

    /// As [`Schedule::goes_before_others`](crate::scheduling::schedule::Schedule::goes_before_others).
    fn goes_before_others(&mut self, thread: usize) {
        let Some(stay) = self.stays[thread].filter(|stay| stay.payer == stay.id) else { return };
        let looks = |(other, stay): (usize, &Option<Stay>)| {
            other != thread && stay.is_some_and(|stay| !stay.is_endless || stay.is_called)
        };
        let is_endless = self.stays.iter().enumerate().any(looks)
            && self.queue.first_deadline(stay.id, 2 * self.queue.slice()).is_some();
        self.stays[thread] = Some(Stay { is_endless, ..stay });
    }

    fn begin(&self, id: VcpuId, now: u64) -> Stay {
        let ends = now + self.queue.slice();
        let runs_on = self.queue.is_empty();
        Stay {
            id,
            since: now,
            ends,
            payer: id,
            lent: 0,
            runs_on,
            waited_for_until: 0,
            is_endless: runs_on,
            is_called: false,
        }
    }

    /// How what ran until now goes on, if it does.
    fn look(&mut self, thread: usize, stay: Stay, now: u64) -> Option<Stay> {
        let Stay { id, since, ends, payer, lent, runs_on, is_endless, is_called, .. } = stay;
        let has_time = now < ends;
        // Somebody's timer, or an exit for another reason.
        let is_interrupted = self.below(self.calm) == 0;
        let choice = match self.habits[id.0 as usize] {
            Habit::Spins => 7,
            Habit::Confers => 1,
            Habit::Naps if has_time => 7,
            Habit::Naps => 0,
            Habit::All => self.below(8),
        };
        let heir = VcpuId(self.below(self.weights.len() as u64) as u32);
        let waits = !self.queue.is_empty();
        let is_over = if is_endless { is_called } else { !has_time };
        if !is_interrupted && choice > 3 && !is_over {
            return Some(stay);
        }
        let waited_for = stay.waited_for_until.saturating_sub(since).min(now - since);
        self.queue.charge_stay(payer, waited_for, false);
        self.queue.charge_stay(payer, now - since - waited_for, runs_on);
        let rest = ends.saturating_sub(now);
        if !is_interrupted && choice > 2 && has_time && payer != id {
            self.queue.lend(payer, lent, rest);
            return Some(Stay {
                since: now,
                lent: rest,
                runs_on: !waits,
                is_called: false,
                ..stay
            });
        }
        self.queue.lend(payer, lent, 0);
        let stay = Stay {
            since: now,
            lent: 0,
            runs_on: !waits,
            waited_for_until: 0,
            is_endless: !waits,
            is_called: false,
            ..stay
        };
        match choice {
            0 => return None,
            1 | 2 if has_time && self.queue.take_this(heir) => {
                let lent = if heir == payer { 0 } else { rest };
                self.queue.lend(payer, 0, lent);
                self.queue.make_ready(id, Some(thread));
                return Some(Stay { id: heir, lent, ..stay });
            }
            _ if is_interrupted => {}
            3.. if self.queue.goes_on(id, thread) => {
                return Some(if has_time { stay } else { self.begin(id, now) });
            }
            _ => {}
        }
        self.queue.make_ready(id, Some(thread));
        None
    }

    /// Wakes one that sleeps, all, or none.
    fn wake(&mut self, now: u64) {
        let chance = self.below(self.rest * self.weights.len() as u64) as usize;
        for index in 0..self.weights.len() {
            let id = VcpuId(index as u32);
            let runs = self.stays.iter().flatten().any(|stay| stay.id == id);
            if !runs && (chance == index || chance == self.weights.len()) {
                self.queue.wake(id, None);
                if self.stays.iter().all(Option::is_some) {
                    self.call_back(now);
                }
            }
        }
    }

    /// What each vCPU is due of a hardware thread.
    fn shares(&self) -> Vec<f64> {
        let all: f64 = self.weights.iter().map(|weight| f64::from(*weight)).sum();
        let threads = self.stays.len() as f64;
        self.weights.iter().map(|weight| (f64::from(*weight) * threads / all).min(1.0)).collect()
    }

    /// By how many slices each of the first vCPUs fell behind its share in the worst of all intervals.
    fn worst(&mut self, victims: usize, slices: u64) -> Vec<f64> {
        let shares = self.shares();
        let mut behind = std::vec![0.0; victims];
        let mut least = behind.clone();
        let mut worst = behind.clone();
        for now in (0..slices * SLICE).step_by(STEP as usize) {
            let idle = self.stays.iter().filter(|stay| stay.is_none()).count() as u64;
            self.queue.pass(if now == 0 { 0 } else { idle * STEP });
            self.see_uncharged(now);
            self.wake(now);
            (0..self.stays.len()).for_each(|thread| self.dispatch(thread, now));
            for stay in self.stays.iter().flatten() {
                if let Some(behind) = behind.get_mut(stay.id.0 as usize) {
                    *behind -= STEP as f64 / SLICE as f64;
                }
            }
            for index in 0..victims {
                behind[index] += shares[index] * STEP as f64 / SLICE as f64;
                worst[index] = f64::max(worst[index], behind[index] - least[index]);
                least[index] = f64::min(least[index], behind[index]);
            }
        }
        worst
    }
}

#[test]
fn short_stays_add_up() {
    let mut queue = RunQueue::default();
    let [heavy, other] = [queue.add(10_000), queue.add(10_000)];
    queue.set_threads(&[0], SLICE);
    // Less than a tick of virtual time each.
    (0..SLICE).for_each(|_| queue.charge(heavy, 1));
    queue.charge(other, SLICE - 100);
    queue.make_ready(heavy, None);
    queue.make_ready(other, None);
    assert_eq!(queue.take(0), Some(other));
}

#[test]
fn many_light_ones_keep_a_heavy_one_waiting_for_no_longer_than_few() {
    let mut weights = std::vec![10_000];
    weights.extend([1; 64]);
    let mut contest = Contest::new(&[0], &weights, 1, 1);
    contest.habits.fill(Habit::Spins);
    let worst = contest.worst(1, 2000);
    assert!(worst[0] <= BOUND, "{worst:?}");
}

/// It runs alone most of the time, on one of two threads, and has no more than it is due then: nobody lacks
/// what the other thread could run.
#[test]
fn one_that_is_due_nearly_a_thread_does_not_wait_whenever_others_wake() {
    for weights in [[100, 55, 55], [10_000, 5001, 5001]] {
        for seed in 0..64 {
            let mut contest = Contest::new(&[0, 0], &weights, 1, seed);
            contest.habits[1..].fill(Habit::Naps);
            let worst = contest.worst(1, 1000);
            assert!(worst[0] <= BOUND, "{weights:?}, {seed}: {worst:?}");
        }
    }
}

/// A weight from 1 to 10,000 that is likely to be far from the others.
fn weight(seed: u32) -> u32 {
    if seed % 7 > 4 { 100 } else { 1 + seed / 7 % 10u32.pow(seed % 7) }
}

proptest! {
    #[test]
    fn nobody_falls_further_behind_than_the_bound(
        threads in prop_oneof![Just(1usize), 2usize..=8],
        per_core in 1usize..5,
        victims in vec(any::<u32>(), 1..8),
        others in vec(any::<u32>(), 0..24),
        light in 0usize..100,
        seed in any::<u64>(),
    ) {
        let cores: Vec<u32> = (0..threads).map(|thread| (thread / per_core) as u32).collect();
        let seeds = victims.iter().chain(&others);
        let mut weights: Vec<u32> = seeds.map(|seed| weight(*seed)).collect();
        weights.resize(weights.len() + light, 1);
        let mut contest = Contest::new(&cores, &weights, victims.len(), seed);
        let worst = contest.worst(victims.len(), 300);
        for (victim, worst) in worst.into_iter().enumerate() {
            prop_assert!(worst <= BOUND, "{weights:?} on {cores:?}: {victim} is {worst} slices behind");
        }
    }

    /// Where vCPUs have the weight for a thread or about as much, which few of many have.
    #[test]
    fn nobody_falls_further_behind_beside_few(
        threads in 2usize..=8,
        per_core in 1usize..5,
        logarithms in vec(0.0f64..4.0, 3..18),
        victims in 1usize..4,
        seed in any::<u64>(),
    ) {
        let cores: Vec<u32> = (0..threads).map(|thread| (thread / per_core) as u32).collect();
        let weights: Vec<u32> = logarithms.iter().map(|log| 10f64.powf(*log) as u32).collect();
        let mut contest = Contest::new(&cores, &weights, victims, seed);
        let worst = contest.worst(victims, 300);
        for (victim, worst) in worst.into_iter().enumerate() {
            prop_assert!(worst <= BOUND, "{weights:?} on {cores:?}: {victim} is {worst} slices behind");
        }
    }
}
