//! Fairness and bookkeeping of the run queue, and the order of timers.

use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::{CREDIT_TICKS, RunQueue, Timers, VcpuId, WEIGHT_DEFAULT};

const SLICE: u64 = 1000;

/// Runs whoever is next for `rounds` slices: ticks by vCPU.
fn run(queue: &mut RunQueue, members: usize, rounds: usize) -> Vec<u64> {
    let mut ran = vec![0; members];
    for _ in 0..rounds {
        let id = queue.take().unwrap();
        ran[id.0 as usize] += SLICE;
        queue.charge(id, SLICE);
        queue.make_ready(id);
    }
    ran
}

#[test]
fn one_that_slept_runs_soon_but_not_for_as_long_as_it_slept() {
    let mut queue = RunQueue::default();
    let [busy, sleeper] = [queue.add(WEIGHT_DEFAULT), queue.add(WEIGHT_DEFAULT)];
    queue.make_ready(busy);
    run(&mut queue, 2, 10_000);
    queue.make_ready(sleeper);
    assert_eq!(queue.take(), Some(sleeper));
    queue.make_ready(sleeper);
    let ran = run(&mut queue, 2, 1000);
    let ahead = ran[sleeper.0 as usize] - ran[busy.0 as usize];
    assert!((CREDIT_TICKS - SLICE..=CREDIT_TICKS + 2 * SLICE).contains(&ahead), "{ran:?}");
}

/// Ready vCPUs, the first with the least virtual time.
fn in_order(queue: &mut RunQueue, members: u64) -> Vec<VcpuId> {
    let add = |ticks| {
        let id = queue.add(WEIGHT_DEFAULT);
        queue.charge(id, ticks);
        queue.make_ready(id);
        id
    };
    (0..members).map(add).collect()
}

fn all(queue: &mut RunQueue) -> Vec<VcpuId> {
    core::iter::from_fn(|| queue.take()).collect()
}

#[test]
fn yielding_exchanges_places_with_the_next() {
    let mut queue = RunQueue::default();
    let ids = in_order(&mut queue, 3);
    assert_eq!(queue.take(), Some(ids[0]));
    queue.yield_first(ids[0]);
    queue.make_ready(ids[0]);
    assert_eq!(all(&mut queue), [ids[1], ids[0], ids[2]]);
}

#[test]
fn one_that_waits_can_be_charged_and_taken_out_of_turn() {
    let mut queue = RunQueue::default();
    let ids = in_order(&mut queue, 4);
    queue.charge(ids[0], 10);
    assert!(queue.take_this(ids[2]));
    assert!(!queue.take_this(ids[2]), "it is taken");
    assert_eq!(queue.first_of([ids[0], ids[3], ids[2]].into_iter()), Some(ids[3]));
    assert_eq!(queue.first_of([ids[2]].into_iter()), None);
    assert_eq!(all(&mut queue), [ids[1], ids[3], ids[0]]);
}

proptest! {
    /// Over many slices every vCPU gets its share, to within a slice or two for each of the others.
    #[test]
    fn time_is_shared_by_weight(weights in proptest::collection::vec(1u32..400, 1..6)) {
        let mut queue = RunQueue::default();
        for weight in &weights {
            let id = queue.add(*weight);
            queue.make_ready(id);
        }
        let rounds = 20_000;
        let ran = run(&mut queue, weights.len(), rounds);
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        for (ticks, weight) in ran.iter().zip(&weights) {
            let share = rounds as u64 * SLICE * u64::from(*weight) / all;
            // One slice of the lightest moves it as far as all the others together have to catch up.
            let slack = SLICE * 2 * weights.len() as u64 * (1 + u64::from(*weight) / 4);
            prop_assert!(ticks.abs_diff(share) <= slack, "{weights:?}: {ran:?}, share {share}");
        }
    }

    /// Whatever is done to it, a vCPU is in the queue once or not at all, and is chosen only if ready.
    #[test]
    fn nobody_is_lost_or_doubled(steps in proptest::collection::vec((0u32..5, 0u32..6, 0u32..6), 1..300)) {
        let mut queue = RunQueue::default();
        for weight in 1..=6 {
            queue.add(weight * 50);
        }
        let mut ready = BTreeSet::new();
        for (what, first, second) in steps {
            let id = VcpuId(first);
            match what {
                0 => { queue.make_ready(id); ready.insert(id); }
                1 => { queue.remove(id); ready.remove(&id); }
                2 => match queue.take() {
                    None => prop_assert!(ready.is_empty()),
                    Some(id) => {
                        prop_assert!(ready.remove(&id));
                        queue.charge(id, SLICE);
                    }
                },
                3 => if let Some(id) = queue.take() {
                    queue.yield_first(id);
                    queue.make_ready(id);
                },
                _ => {
                    queue.charge(id, u64::from(second));
                    prop_assert_eq!(queue.take_this(VcpuId(second)), ready.remove(&VcpuId(second)));
                }
            }
            prop_assert_eq!(queue.is_empty(), ready.is_empty());
        }
        let rest: BTreeSet<_> = core::iter::from_fn(|| queue.take()).collect();
        prop_assert_eq!(rest, ready);
    }

    #[test]
    fn timers_come_in_order_and_not_before_their_time(times in proptest::collection::vec(0u64..100, 1..40), now in 0u64..100) {
        let mut timers = Timers::default();
        for (number, time) in times.iter().enumerate() {
            timers.set(VcpuId(number as u32), *time);
        }
        timers.cancel(VcpuId(0), times[0]);
        let due: Vec<u64> = core::iter::from_fn(|| timers.take_due(now)).map(|id| times[id.0 as usize]).collect();
        let mut expected: Vec<u64> = times[1..].iter().copied().filter(|time| *time <= now).collect();
        expected.sort_unstable();
        prop_assert_eq!(due, expected);
        prop_assert_eq!(timers.next(), times[1..].iter().copied().filter(|time| *time > now).min());
    }
}
