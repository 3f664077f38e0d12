//! Fairness and bookkeeping of the run queue, and the order of timers; [`bound`] is the bound that is promised.

mod bound;

use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::{RunQueue, Timers, WEIGHT_DEFAULT};
use crate::vcpu_id::VcpuId;

const SLICE: u64 = 1000;

/// Runs whoever is next for `rounds` slices: ticks by vCPU.
fn run(queue: &mut RunQueue, members: usize, rounds: usize) -> Vec<u64> {
    let mut ran = vec![0; members];
    for _ in 0..rounds {
        let id = queue.take(0).unwrap();
        ran[id.0 as usize] += SLICE;
        queue.charge(id, SLICE);
        queue.make_ready(id, None);
    }
    ran
}

#[test]
fn one_that_slept_runs_soon_but_has_no_claim_to_the_time_that_it_slept() {
    let mut queue = RunQueue::default();
    let [busy, sleeper] = [queue.add(WEIGHT_DEFAULT), queue.add(WEIGHT_DEFAULT)];
    queue.make_ready(busy, None);
    run(&mut queue, 2, 10_000);
    queue.wake(sleeper, None);
    assert_eq!(queue.take(0), Some(sleeper));
    queue.make_ready(sleeper, None);
    let ran = run(&mut queue, 2, 1000);
    assert!(ran[0].abs_diff(ran[1]) <= 2 * SLICE, "{ran:?}");
}

#[test]
fn one_that_nobody_waited_for_is_ahead_by_a_slice_at_most() {
    let mut queue = RunQueue::default();
    let [alone, other] = [queue.add(WEIGHT_DEFAULT), queue.add(WEIGHT_DEFAULT)];
    queue.set_threads(&[0], SLICE);
    queue.make_ready(alone, None);
    assert_eq!(queue.take(0), Some(alone));
    queue.charge_stay(alone, 1000 * SLICE, true);
    assert_eq!(queue.charged(alone), [1000 * SLICE; 2]);
    queue.make_ready(alone, None);
    queue.wake(other, None);
    assert_eq!(queue.take(0), Some(other));
    queue.charge_stay(other, SLICE + 1, false);
    queue.make_ready(other, None);
    assert_eq!(queue.take(0), Some(alone));
}

/// Ready vCPUs, the first with the least virtual time.
fn in_order(queue: &mut RunQueue, members: u64) -> Vec<VcpuId> {
    let add = |ticks| {
        let id = queue.add(WEIGHT_DEFAULT);
        queue.charge(id, ticks);
        queue.make_ready(id, None);
        id
    };
    (0..members).map(add).collect()
}

fn all(queue: &mut RunQueue) -> Vec<VcpuId> {
    core::iter::from_fn(|| queue.take(0)).collect()
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

#[test]
fn what_is_given_away_counts_as_run_until_it_is_returned() {
    let mut queue = RunQueue::default();
    let [giver, other] = [queue.add(WEIGHT_DEFAULT), queue.add(WEIGHT_DEFAULT)];
    queue.set_threads(&[0], SLICE);
    [giver, other].into_iter().for_each(|id| queue.make_ready(id, None));
    queue.lend(giver, 0, SLICE);
    assert_eq!(queue.next(0), Some(other));
    // Half of it was used, and the rest is returned.
    queue.charge(giver, SLICE / 2);
    queue.lend(giver, SLICE, 0);
    queue.charge(other, SLICE / 2 + 1);
    assert_eq!(queue.next(0), Some(giver));
}

/// The one that waits for the other thread is the first that the clock reaches, as what that thread runs was
/// not charged yet.
#[test]
fn a_thread_keeps_to_its_own_while_another_is_in_the_midst_of_a_slice() {
    let mut queue = RunQueue::default();
    let ids: Vec<VcpuId> = (0..4).map(|_| queue.add(WEIGHT_DEFAULT)).collect();
    queue.set_threads(&[0, 1], SLICE);
    ids.iter().for_each(|id| queue.make_ready(*id, None));
    assert!(ids.iter().all(|id| queue.take_this(*id)));
    // The last one is at the end of its slice.
    for (index, thread, early) in [(0, 1, 8), (1, 0, 4), (2, 0, 4)] {
        queue.charge(ids[index], SLICE - early);
        queue.make_ready(ids[index], Some(thread));
    }
    queue.see_uncharged(SLICE);
    assert_eq!([0, 1].map(|thread| queue.next(thread)), [Some(ids[1]), Some(ids[0])]);
}

#[test]
fn threads_prefer_what_they_ran_last_then_what_their_core_ran_and_keep_nobody_waiting() {
    let mut queue = RunQueue::default();
    let ids: Vec<VcpuId> = (0..4).map(|_| queue.add(WEIGHT_DEFAULT)).collect();
    let [new, gone] = [queue.add(WEIGHT_DEFAULT), queue.add(WEIGHT_DEFAULT)];
    queue.set_threads(&[7, 7, 9], SLICE);
    for (id, (ticks, home)) in ids.iter().zip([(0, 2), (10, 1), (20, 0), (30, 2)]) {
        queue.charge(*id, ticks);
        queue.make_ready(*id, Some(home));
    }
    // All of them are due.
    queue.charge(gone, 5 * SLICE);
    let next = |queue: &mut RunQueue| [0, 1, 2].map(|thread| queue.next(thread).unwrap());
    assert_eq!(next(&mut queue), [ids[2], ids[1], ids[0]]);
    assert!(queue.take_this(ids[2]));
    assert_eq!(next(&mut queue)[0], ids[1], "of the core");
    // Whose deadline is a slice later waits, wherever that was.
    queue.charge(ids[1], SLICE - 11);
    assert_eq!(next(&mut queue)[1], ids[1]);
    queue.charge(ids[1], 1);
    assert_eq!(next(&mut queue)[..2], [ids[0]; 2]);
    // One that goes on is preferred as one that is at home.
    assert!(queue.goes_on(ids[2], 0));
    assert!(!queue.goes_on(ids[2], 2));
    queue.charge(ids[2], SLICE - 20);
    assert!(!queue.goes_on(ids[2], 0));
    // One that never ran is at home everywhere.
    queue.wake(new, None);
    [0, 1, 3].into_iter().for_each(|place| queue.charge(ids[place], 2 * SLICE));
    assert_eq!(next(&mut queue), [new; 3]);
}

#[test]
fn of_those_that_are_due_the_one_with_the_earliest_deadline_runs() {
    let mut queue = RunQueue::default();
    let [heavy, light, other] = [1000, 10, 1000].map(|weight| queue.add(weight));
    queue.set_threads(&[0], SLICE);
    [light, heavy, other].into_iter().for_each(|id| queue.make_ready(id, None));
    let mut turn = || {
        let id = queue.take(0).unwrap();
        queue.charge(id, SLICE);
        queue.make_ready(id, None);
        id
    };
    let order: Vec<VcpuId> = (0..402).map(|_| turn()).collect();
    // The heavy ones come first; while both have had more than their part, the light one does.
    assert_eq!(order[..3], [heavy, other, light]);
    assert_eq!(order.iter().filter(|id| **id == light).count(), 2);
    assert_eq!(order.iter().filter(|id| **id == heavy).count(), 200);
}

proptest! {
    /// However many threads there are, no vCPU that is always ready falls behind its share by more than two
    /// slices, and each stays where it is while all threads have equally many.
    #[test]
    fn nobody_falls_behind_and_nobody_moves_without_need(
        threads in 1usize..7,
        each in 1usize..5,
        more in 0usize..6,
        per_core in 1usize..4,
    ) {
        let mut queue = RunQueue::default();
        let cores: Vec<u32> = (0..threads).map(|thread| (thread / per_core) as u32).collect();
        let members = threads * each + more % threads;
        let ids: Vec<VcpuId> = (0..members).map(|_| queue.add(WEIGHT_DEFAULT)).collect();
        queue.set_threads(&cores, SLICE);
        ids.into_iter().for_each(|id| queue.make_ready(id, None));
        let mut ran = vec![0; members];
        let mut homes = vec![None; members];
        let mut moves = 0;
        for round in 1..=100 {
            let running: Vec<VcpuId> = (0..threads).filter_map(|thread| {
                let id = queue.take(thread)?;
                let before = homes[id.0 as usize].replace(thread);
                moves += usize::from(before.is_some_and(|before| before != thread));
                Some(id)
            }).collect();
            prop_assert_eq!(running.len(), threads);
            for (thread, id) in running.into_iter().enumerate() {
                ran[id.0 as usize] += SLICE;
                queue.charge(id, SLICE);
                queue.make_ready(id, Some(thread));
            }
            let share = SLICE * (round * threads / members) as u64;
            prop_assert!(ran.iter().all(|ran| ran + 2 * SLICE >= share), "{ran:?} of {share}");
        }
        prop_assert!(more % threads != 0 || moves == 0, "{moves} moves");
    }

    /// Over many slices every vCPU gets its share, to within one.
    #[test]
    fn time_is_shared_by_weight(weights in proptest::collection::vec(1u32..400, 1..6)) {
        let mut queue = RunQueue::default();
        for weight in &weights {
            let id = queue.add(*weight);
            queue.make_ready(id, None);
        }
        queue.set_threads(&[0], SLICE);
        let rounds = if cfg!(miri) { 500 } else { 20_000 };
        let ran = run(&mut queue, weights.len(), rounds);
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        for (ticks, weight) in ran.iter().zip(&weights) {
            let share = rounds as u64 * SLICE * u64::from(*weight) / all;
            prop_assert!(ticks.abs_diff(share) <= SLICE, "{weights:?}: {ran:?}, share {share}");
        }
    }

    /// Whatever is done to it, a vCPU is in the queue once or not at all, and is chosen only if ready.
    #[test]
    fn nobody_is_lost_or_doubled(steps in proptest::collection::vec((0u32..4, 0u32..6, 0u32..6), 1..300)) {
        let mut queue = RunQueue::default();
        for weight in 1..=6 {
            queue.add(weight * 50);
        }
        let mut ready = BTreeSet::new();
        for (what, first, second) in steps {
            let id = VcpuId(first);
            match what {
                0 => { queue.make_ready(id, None); ready.insert(id); }
                1 => { queue.remove(id); ready.remove(&id); }
                2 => match queue.take(0) {
                    None => prop_assert!(ready.is_empty()),
                    Some(id) => {
                        prop_assert!(ready.remove(&id));
                        queue.charge(id, SLICE);
                    }
                },
                _ => {
                    queue.charge(id, u64::from(second));
                    prop_assert_eq!(queue.take_this(VcpuId(second)), ready.remove(&VcpuId(second)));
                }
            }
            prop_assert_eq!(queue.is_empty(), ready.is_empty());
        }
        let rest: BTreeSet<_> = core::iter::from_fn(|| queue.take(0)).collect();
        prop_assert_eq!(rest, ready);
    }

    #[test]
    fn timers_come_in_order_and_not_before_their_time(times in proptest::collection::vec(0u64..100, 1..40), now in 0u64..100) {
        let mut timers = Timers::default();
        for (number, time) in times.iter().enumerate() {
            timers.set(VcpuId(number as u32), *time);
        }
        timers.cancel(VcpuId(0), times[0]);
        let due: Vec<u64> = core::iter::from_fn(|| timers.take_due(now)).map(|due| times[due.vcpu().0 as usize]).collect();
        let mut expected: Vec<u64> = times[1..].iter().copied().filter(|time| *time <= now).collect();
        expected.sort_unstable();
        prop_assert_eq!(due, expected);
        prop_assert_eq!(timers.next(), times[1..].iter().copied().filter(|time| *time > now).min());
    }
}

#[test]
fn nobody_has_the_weight_for_more_than_two_threads() {
    let limited = |weights: &[u32], threads: u32| {
        let mut queue = RunQueue::default();
        for weight in weights {
            queue.add(*weight);
        }
        queue.set_threads(&(0..threads).collect::<Vec<_>>(), SLICE);
        assert_eq!(queue.rate.weight, queue.members.iter().map(|m| m.rate.weight).sum());
        queue.members.iter().map(|member| member.rate.weight).collect::<Vec<_>>()
    };
    assert_eq!(limited(&[100; 5], 4), [100; 5]);
    assert_eq!(limited(&[100; 3], 4), [100; 3]);
    assert_eq!(limited(&[10_000, 1], 1), [10_000, 1]);
    assert_eq!(limited(&[10_000, 1], 2), [2, 1]);
    assert_eq!(limited(&[100, 500, 100, 100], 2), [100, 500, 100, 100]);
    assert_eq!(limited(&[900, 100, 100, 300], 3), [400, 100, 100, 300]);
    assert_eq!(limited(&[7, 1, 1, 1], 3), [4, 1, 1, 1], "half a weight counts as a whole");
    assert_eq!(limited(&[], 2), []);
}
