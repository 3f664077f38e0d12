//! The bound of `docs/containment.md`, on the queue alone: hardware threads that dispatch as the hypervisor does, vCPUs
//! that are always ready, and others that leave early, sleep and give their slices away as they like.

use std::vec;
use std::vec::Vec;

use proptest::prelude::{any, prop_assert, proptest};

use super::{RunQueue, SLICE_PARTS, VcpuId};

const SLICE: u64 = 3200;
/// Ticks between two looks.
const STEP: u64 = SLICE / 32;

/// What a hardware thread runs, until when, and who pays.
#[derive(Clone, Copy)]
struct Stay {
    id: VcpuId,
    ends: u64,
    payer: VcpuId,
}

struct Contest {
    queue: RunQueue,
    weights: Vec<u32>,
    /// From this one on they do as they like.
    restless_from: usize,
    stays: Vec<Option<Stay>>,
    chance: u64,
}

impl Contest {
    fn new(cores: &[u32], weights: &[u32], restless_from: usize, seed: u64) -> Self {
        let mut queue = RunQueue::default();
        let ids: Vec<VcpuId> = weights.iter().map(|weight| queue.add(*weight)).collect();
        queue.set_threads(cores, SLICE);
        ids.into_iter().for_each(|id| queue.make_ready(id, None));
        let stays = vec![None; cores.len()];
        Self { queue, weights: weights.to_vec(), restless_from, stays, chance: seed | 1 }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance % limit
    }

    /// Lets a thread go on, or take another vCPU.
    fn dispatch(&mut self, thread: usize, now: u64) {
        if let Some(stay) = self.stays[thread] {
            let Stay { id, ends, payer } = stay;
            let is_restless = id.0 as usize >= self.restless_from;
            let choice = if is_restless { self.below(8) } else { 7 };
            let heir = VcpuId(self.below(self.weights.len() as u64) as u32);
            match choice {
                0 => self.stays[thread] = None,
                1 | 2 if now < ends => {
                    // A restless one gives the rest of its slice to whoever is ready, victims too.
                    let is_given = self.queue.take_this(heir);
                    self.queue.make_ready(id, Some(thread));
                    self.stays[thread] = is_given.then_some(Stay { id: heir, ends, payer });
                }
                3 if self.queue.goes_on(id, thread) => {}
                3 => {
                    self.queue.make_ready(id, Some(thread));
                    self.stays[thread] = None;
                }
                _ if now < ends => {}
                _ if self.queue.goes_on(id, thread) => {
                    let ends = now + self.queue.slice(id);
                    self.stays[thread] = Some(Stay { id, ends, payer: id });
                }
                _ => {
                    self.queue.make_ready(id, Some(thread));
                    self.stays[thread] = None;
                }
            }
        }
        if self.stays[thread].is_none()
            && let Some(id) = self.queue.take(thread)
        {
            let ends = now + self.queue.slice(id);
            self.stays[thread] = Some(Stay { id, ends, payer: id });
        }
    }

    /// Wakes one that sleeps, or not.
    fn wake(&mut self) {
        let place = self.below(2 * self.weights.len() as u64) as usize;
        let id = VcpuId(place as u32);
        let runs = self.stays.iter().flatten().any(|stay| stay.id == id);
        if (self.restless_from..self.weights.len()).contains(&place) && !runs {
            self.queue.wake(id, None);
        }
    }

    /// By how many slices a vCPU that is always ready fell behind its share in the worst of all intervals.
    fn worst(&mut self, slices: u64) -> f64 {
        let all: f64 = self.weights.iter().map(|weight| f64::from(*weight)).sum();
        let threads = self.stays.len() as f64;
        let victims = self.restless_from;
        let shares: Vec<f64> = self.weights[..victims]
            .iter()
            .map(|weight| (f64::from(*weight) * threads / all).min(1.0))
            .collect();
        let (mut behind, mut least, mut worst) = (vec![0.0; victims], vec![0.0f64; victims], 0.0);
        for now in (0..slices * SLICE).step_by(STEP as usize) {
            self.wake();
            (0..self.stays.len()).for_each(|thread| self.dispatch(thread, now));
            for stay in self.stays.iter().flatten() {
                self.queue.charge(stay.payer, STEP);
                if let Some(behind) = behind.get_mut(stay.id.0 as usize) {
                    *behind -= STEP as f64;
                }
            }
            for (index, share) in shares.iter().enumerate() {
                behind[index] += share * STEP as f64;
                worst = f64::max(worst, behind[index] - least[index]);
                least[index] = least[index].min(behind[index]);
            }
        }
        worst / SLICE as f64
    }
}

/// The bound in slices: two, and for each vCPU that has less than a part of the heaviest's weight such a part.
fn bound(weights: &[u32]) -> f64 {
    let heaviest = u64::from(weights.iter().copied().max().unwrap_or(1));
    let is_light = |weight: &&u32| u64::from(**weight) * SLICE_PARTS < heaviest;
    2.0 + weights.iter().filter(is_light).count() as f64 / SLICE_PARTS as f64
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
fn many_light_ones_keep_a_heavy_one_waiting_for_a_part_of_a_slice_each() {
    let mut weights = vec![10_000];
    weights.extend([1; 64]);
    let worst = Contest::new(&[0], &weights, weights.len(), 1).worst(2000);
    assert!((3.5..=bound(&weights)).contains(&worst), "{worst}");
}

proptest! {
    #[test]
    fn nobody_falls_further_behind_than_the_bound(
        threads in 1usize..6,
        per_core in 1usize..5,
        victims in proptest::collection::vec(1u32..=16, 1..8),
        others in proptest::collection::vec(1u32..=16, 0..8),
        light in 0usize..20,
        seed in any::<u64>(),
    ) {
        let cores: Vec<u32> = (0..threads).map(|thread| (thread / per_core) as u32).collect();
        let mut weights: Vec<u32> = victims.iter().chain(&others).map(|weight| 100 * weight).collect();
        weights.extend(vec![10; light]);
        let worst = Contest::new(&cores, &weights, victims.len(), seed).worst(60);
        prop_assert!(worst <= bound(&weights), "{weights:?} on {cores:?}: {worst} slices behind, of {}", bound(&weights));
    }
}
