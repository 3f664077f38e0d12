//! The engine's commands as vCPUs take turns, on the fake machine, whose engine refuses what no source defines.

use std::vec::Vec;

use arch::address::RealAddress;
use arch::bundle::{PREFETCH, PrefetchPolicy};
use dtoolkit::model::{DeviceTree, DeviceTreeProperty};

use super::{
    LOOK_TICKS, Levels, Missed, NoMemory, Place, SHORT_TICKS, Tables, Vcores, most_in_a_part,
    policy,
};
use crate::fake::{Command, Fake};
use crate::vcpu_id::VcpuId;

mod defects;

const A: VcpuId = VcpuId(0);
const B: VcpuId = VcpuId(1);
const C: VcpuId = VcpuId(2);
const LPID: u32 = 7;

/// Partitions of so many vCPUs with a vcore each.
fn alone(vcpus: usize) -> Vcores {
    Vcores::new(1, [vcpus].into_iter())
}

/// Tables of three vCPUs on two cores of one thread.
fn tables(hal: &Fake) -> Tables {
    tables_of(hal, PrefetchPolicy::AlwaysL2)
}

fn tables_of(hal: &Fake, policy: PrefetchPolicy) -> Tables {
    Tables::new(hal, policy, alone(3), 2).unwrap().expect("the engine is used")
}

/// The table that serves a vCPU.
fn table(tables: &Tables, vcpu: VcpuId) -> &super::Table {
    tables.of(tables.vcores.of(vcpu))
}

fn of(tables: &Tables, vcpu: VcpuId) -> RealAddress {
    table(tables, vcpu).address
}

/// The thread of a core that has no other.
const fn whole(core: usize) -> Place {
    Place { thread: 0, part: core, core }
}

/// Whoever is in leaves so many ticks later, and a vCPU enters at once: after how many ticks it should leave.
fn after(tables: &Tables, hal: &Fake, ticks: u64, thread: usize, vcpu: VcpuId) -> Option<u64> {
    after_at(tables, hal, ticks, whole(thread), vcpu)
}

fn after_at(tables: &Tables, hal: &Fake, ticks: u64, place: Place, vcpu: VcpuId) -> Option<u64> {
    hal.timebase.set(hal.timebase.get() + ticks);
    if tables.runners[place.part].lock().inside > 0 {
        tables.exits(hal, place, hal.timebase.get());
    }
    tables.enters(hal, place, (vcpu, LPID), hal.timebase.get())
}

/// A vCPU enters a while later.
fn turn(tables: &Tables, hal: &Fake, thread: usize, vcpu: VcpuId) -> Option<u64> {
    after(tables, hal, SHORT_TICKS, thread, vcpu)
}

/// These vCPUs enter in turn, and the engine does each time what it was told.
fn turns(tables: &Tables, hal: &Fake, vcpus: &[VcpuId]) {
    for &vcpu in vcpus {
        turn(tables, hal, 0, vcpu);
        hal.is_engine_at_work.set(false);
    }
}

/// What the engine was told since this was asked.
fn told(hal: &Fake) -> Vec<Command> {
    hal.engine.take()
}

fn log(tables: &Tables, vcpu: VcpuId) -> Command {
    Command::Log(of(tables, vcpu), Levels::L2)
}

fn fetch(tables: &Tables, vcpu: VcpuId) -> Command {
    Command::Fetch(of(tables, vcpu), LPID)
}

#[test]
fn who_comes_straight_back_is_neither_logged_nor_fetched() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    for _ in 0..3 {
        assert_eq!(turn(&tables, &hal, 0, A), None);
    }
    assert_eq!(told(&hal), []);
}

#[test]
fn who_was_logged_is_fetched_once_the_log_of_the_one_before_is_whole() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turn(&tables, &hal, 0, A);
    // Nothing was logged of B; it looks all the same, so that A's table is not kept from other cores.
    assert_eq!(turn(&tables, &hal, 0, B), Some(LOOK_TICKS));
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    assert_eq!(after(&tables, &hal, 1, 0, B), None);
    assert_eq!(turn(&tables, &hal, 0, A), Some(LOOK_TICKS));
    assert_eq!(turn(&tables, &hal, 0, A), Some(LOOK_TICKS));
    assert_eq!(told(&hal), [log(&tables, B)]);
    hal.is_engine_at_work.set(false);
    assert_eq!(turn(&tables, &hal, 0, A), None);
    assert_eq!(told(&hal), [fetch(&tables, A)]);
    assert_eq!(turn(&tables, &hal, 0, A), None);
    assert_eq!(told(&hal), []);
}

#[test]
fn a_fetch_under_way_is_ended_and_nothing_of_its_table_is_fetched_again() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turns(&tables, &hal, &[A, B, A]);
    let soon = |vcpu| after(&tables, &hal, 1, 0, vcpu);
    assert_eq!(soon(A), None);
    assert_eq!(told(&hal).last(), Some(&fetch(&tables, A)));
    // A leaves at once, so that what the caches have of it is not logged.
    assert_eq!(soon(B), None);
    assert_eq!(told(&hal), [Command::EndFetch]);
    turns(&tables, &hal, &[B]);
    assert_eq!(turn(&tables, &hal, 0, A), Some(LOOK_TICKS));
    assert_eq!(told(&hal), [log(&tables, B)]);
    hal.is_engine_at_work.set(false);
    assert_eq!(soon(A), None);
    assert_eq!(told(&hal), []);
    // What it has after a long stay is.
    turns(&tables, &hal, &[A, B]);
    assert_eq!(told(&hal), [log(&tables, A)]);
}

#[test]
fn short_turns_leave_the_engine_alone() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turns(&tables, &hal, &[A, B, A]);
    turn(&tables, &hal, 0, A);
    assert_eq!(told(&hal), [log(&tables, A), log(&tables, B), fetch(&tables, A)]);
    hal.is_engine_at_work.set(false);
    let quick = |vcpu| after(&tables, &hal, 100, 0, vcpu);
    // A leaves after long, B comes back after long and stays for a moment, so that A's lines are still there.
    quick(B);
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    quick(B);
    assert_eq!(told(&hal), [fetch(&tables, B)]);
    hal.is_engine_at_work.set(false);
    quick(A);
    quick(B);
    assert_eq!(told(&hal), []);
}

#[test]
fn a_log_under_way_keeps_the_engine() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    for vcpu in [A, B, C] {
        turn(&tables, &hal, 0, vcpu);
    }
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    turn(&tables, &hal, 0, B);
    // Nothing was logged of B, which left while the engine was at work.
    hal.is_engine_at_work.set(false);
    assert_eq!(turn(&tables, &hal, 0, B), None);
    assert_eq!(told(&hal), [log(&tables, C)]);
}

#[test]
fn a_table_is_one_engines_at_a_time() {
    let hal = Fake::new(0);
    let tables = Tables::new(&hal, PrefetchPolicy::AlwaysL2, alone(4), 2).unwrap().unwrap();
    turn(&tables, &hal, 0, A);
    turn(&tables, &hal, 0, B);
    assert_eq!(told(&hal), [log(&tables, A)]);
    // The other core's engine is free, but the first one's log of A may not be whole.
    hal.is_engine_at_work.set(false);
    assert_eq!(turn(&tables, &hal, 1, A), None);
    turn(&tables, &hal, 1, C);
    assert_eq!(told(&hal), []);
    // The first one has seen that it is.
    turn(&tables, &hal, 0, VcpuId(3));
    hal.is_engine_at_work.set(false);
    turn(&tables, &hal, 1, A);
    hal.is_engine_at_work.set(false);
    turn(&tables, &hal, 1, A);
    assert_eq!(told(&hal), [log(&tables, B), log(&tables, C), fetch(&tables, A)]);
}

/// Who comes and wants no fetch looks too, so that a table is not kept from other cores for as long as it stays.
#[test]
fn whoever_comes_gives_back_the_table_of_the_one_before() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turn(&tables, &hal, 0, A);
    assert_eq!(turn(&tables, &hal, 0, C), Some(LOOK_TICKS));
    assert_eq!(after(&tables, &hal, LOOK_TICKS, 0, C), Some(LOOK_TICKS));
    hal.is_engine_at_work.set(false);
    assert_eq!(after(&tables, &hal, LOOK_TICKS, 0, C), None);
    assert_eq!(told(&hal), [log(&tables, A)]);
    turn(&tables, &hal, 1, B);
    turn(&tables, &hal, 1, A);
    hal.is_engine_at_work.set(false);
    turn(&tables, &hal, 1, A);
    assert_eq!(told(&hal), [log(&tables, B), fetch(&tables, A)]);
}

/// The first look comes when a log is whole that takes as long as those before, a little early; then one comes after
/// the other.
#[test]
fn looks_come_when_a_log_should_be_whole() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turn(&tables, &hal, 0, A);
    // Each takes so long; the looks at it, from its begin on.
    let looks_at = |takes: u64, vcpu| {
        let (mut looks, mut passed) = (Vec::new(), 0);
        let mut next = turn(&tables, &hal, 0, vcpu);
        while let Some(ticks) = next {
            passed += ticks;
            looks.push(passed);
            hal.is_engine_at_work.set(passed < takes);
            next = after(&tables, &hal, ticks, 0, vcpu);
        }
        hal.is_engine_at_work.set(false);
        looks
    };
    let takes = 5 * LOOK_TICKS;
    assert_eq!(looks_at(takes, B), [1, 2, 3, 4, 5].map(|number| number * LOOK_TICKS));
    let early = |ticks: u64| ticks - ticks / 8;
    let second = early(takes) + LOOK_TICKS;
    assert_eq!(looks_at(takes, A), [early(takes), second]);
    // Where one takes less, the next looks come earlier; where nobody was there, nothing is learned.
    assert_eq!(looks_at(LOOK_TICKS, B), [early(second)]);
    let third = early(early(second));
    assert_eq!(looks_at(LOOK_TICKS, A), [third]);
    turn(&tables, &hal, 0, B);
    hal.is_engine_at_work.set(false);
    after(&tables, &hal, 1000 * SHORT_TICKS, 0, B);
    assert_eq!(looks_at(LOOK_TICKS, A), [early(third)]);
}

/// Two subcores of a thread.
const SUBCORES: [Place; 2] =
    [Place { thread: 0, part: 0, core: 0 }, Place { thread: 0, part: 1, core: 0 }];

#[test]
fn subcores_share_an_engine_and_end_no_work_of_each_other() {
    let hal = Fake::new(0);
    let tables = Tables::new(&hal, PrefetchPolicy::AlwaysL2, alone(4), 2).unwrap().unwrap();
    let turn = |place: Place, vcpu| after_at(&tables, &hal, SHORT_TICKS, place, vcpu);
    let (d, [one, other]) = (VcpuId(3), SUBCORES);
    turn(one, A);
    turn(other, B);
    turn(one, C);
    // The engine logs A, so that nobody logs B.
    turn(other, d);
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    // A is back, and its fetch waits for D's log, which the other one began.
    turn(other, B);
    assert_eq!(turn(one, A), Some(LOOK_TICKS));
    assert_eq!(told(&hal), [log(&tables, d)]);
    hal.is_engine_at_work.set(false);
    assert_eq!(turn(one, A), None);
    // Who comes to the other subcore leaves the fetch alone, and so does that one's end.
    turn(other, d);
    tables.ends(&hal, other);
    assert_eq!(told(&hal), [fetch(&tables, A)]);
    tables.ends(&hal, one);
    assert_eq!(told(&hal), [Command::EndFetch]);
    // Nobody's table is kept from others for good.
    assert!((0..4).all(|vcpu| table(&tables, VcpuId(vcpu)).take(|state| state != super::BUSY)));
}

/// Turns of 1 ms of vCPUs that get 1,000,000 instructions done, and more or fewer where they are fetched, and that miss
/// the caches once in 500 instructions either way, where that is counted: what the engine was told in so many rounds.
fn rounds(tables: &Tables, hal: &Fake, vcpus: &[(VcpuId, i64)], rounds: usize) -> Vec<Command> {
    let mut all = Vec::new();
    for _ in 0..rounds {
        for &(vcpu, gain) in vcpus {
            hal.is_engine_at_work.set(false);
            after(tables, hal, 0, 0, vcpu);
            hal.is_engine_at_work.set(false);
            after(tables, hal, 0, 0, vcpu);
            let told = told(hal);
            let is_fetched = told.iter().any(|one| matches!(one, Command::Fetch(..)));
            let done = 1_000_000 + if is_fetched { gain } else { 0 };
            hal.completed.set(hal.completed.get() + done as u64);
            let more = |before: u64, times: u32| u64::from((before as u32).wrapping_add(times));
            let missed = hal.missed.get().map(|Missed { l2, l3 }| Missed {
                l2: more(l2, done as u32 / 500),
                l3: more(l3, done as u32 / 1000),
            });
            hal.missed.set(missed);
            hal.timebase.set(hal.timebase.get() + 20 * SHORT_TICKS);
            tables.exits(hal, whole(0), hal.timebase.get());
            all.extend(told);
        }
    }
    all
}

#[test]
fn with_adaptive_each_vcpu_has_what_it_gets_more_done_with() {
    let hal = Fake::new(0);
    let tables = tables_of(&hal, PrefetchPolicy::Adaptive);
    let vcpus = [(A, 30_000), (B, -10_000), (C, 0)];
    let tried = rounds(&tables, &hal, &vcpus, 126);
    for vcpu in [A, B, C] {
        let is_tried = |levels| tried.contains(&Command::Log(of(&tables, vcpu), levels));
        assert!(is_tried(Levels::L2) && is_tried(Levels::L2AndL3), "{vcpu:?}: {tried:?}");
    }
    let held = rounds(&tables, &hal, &vcpus, 12);
    let expected = [Command::Log(of(&tables, A), Levels::L2), fetch(&tables, A)];
    assert_eq!(held.len(), 24, "{held:?}");
    assert!(held.iter().all(|one| expected.contains(one)), "{held:?}");
}

/// Where misses are counted, 3 % more done and as many misses for it is no gain, and all are given up soon.
#[test]
fn with_the_monitor_a_gain_needs_misses_that_were_avoided() {
    let hal = Fake::new(0);
    let tables = tables_of(&hal, PrefetchPolicy::Adaptive);
    // They come to their 32 bits' end on the way.
    let near = u64::from(u32::MAX) - 5_000;
    hal.missed.set(Some(Missed { l2: near, l3: near }));
    let vcpus = [(A, 30_000), (B, -10_000), (C, 0)];
    rounds(&tables, &hal, &vcpus, 30);
    assert_eq!(rounds(&tables, &hal, &vcpus, 40), []);
}

/// A stay in which one vCPU had the monitor to itself has no count.
#[test]
fn misses_count_where_all_of_a_stay_are_counted() {
    let hal = Fake::new(0);
    let tables = tables_of(&hal, PrefetchPolicy::Adaptive);
    let missed = || tables.runners[0].lock().stay.missed;
    hal.missed.set(Some(Missed { l2: 7, l3: 5 }));
    turns(&tables, &hal, &[A, B]);
    assert_eq!(missed(), None, "it has not been away");
    turn(&tables, &hal, 0, A);
    hal.missed.set(Some(Missed { l2: 30, l3: 8 }));
    turn(&tables, &hal, 0, A);
    assert_eq!(missed(), Some(Missed { l2: 23, l3: 3 }));
    hal.missed.set(None);
    turn(&tables, &hal, 0, A);
    hal.missed.set(Some(Missed { l2: 31, l3: 9 }));
    turn(&tables, &hal, 0, A);
    assert_eq!(missed(), None);
    // And the next one has.
    turn(&tables, &hal, 0, B);
    turn(&tables, &hal, 0, B);
    assert_eq!(missed(), Some(Missed::default()));
}

#[test]
fn a_stay_that_another_one_has_overtaken_does_not_count() {
    let hal = Fake::new(0);
    let tables = tables_of(&hal, PrefetchPolicy::Adaptive);
    let is_tried = || table(&tables, A).learning.lock().way().is_some();
    turns(&tables, &hal, &[A, B, A]);
    turn(&tables, &hal, 0, A);
    // It goes to the other core, where it is logged first, and stays there twice.
    for vcpu in [A, C, A, C] {
        turn(&tables, &hal, 1, vcpu);
        hal.is_engine_at_work.set(false);
    }
    let is_with = is_tried();
    // Its stay here is over too, and was begun before these.
    turn(&tables, &hal, 0, B);
    assert_eq!(is_tried(), is_with);
}

/// Its lines are in the caches of the core to which it has gone, and what it left in the others is old.
#[test]
fn who_has_gone_to_another_core_is_not_logged_where_it_was() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    turns(&tables, &hal, &[A, A]);
    turn(&tables, &hal, 1, A);
    turn(&tables, &hal, 0, C);
    assert_eq!(told(&hal), []);
    // It is logged where it was last, and a moment later it has not been away.
    after(&tables, &hal, 1, 1, B);
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    assert_eq!(after(&tables, &hal, 1, 1, B), None);
    assert_eq!(after(&tables, &hal, 1, 1, A), None);
    assert_eq!(after(&tables, &hal, 1, 1, A), None);
    assert_eq!(told(&hal), []);
    // And so it is where it comes back to a core in which nobody else was meanwhile.
    turns(&tables, &hal, &[B, B]);
    tables.exits(&hal, whole(0), hal.timebase.get());
    turn(&tables, &hal, 1, B);
    hal.is_engine_at_work.set(false);
    tables.exits(&hal, whole(1), hal.timebase.get());
    turn(&tables, &hal, 0, B);
    told(&hal);
    turn(&tables, &hal, 0, C);
    assert_eq!(told(&hal), [log(&tables, B)]);
}

/// An engine whose work is done keeps no table when its core has nobody to run.
#[test]
fn who_leaves_an_idle_core_gives_back_what_its_engine_has_done_with() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    let exits = |thread| {
        hal.timebase.set(hal.timebase.get() + SHORT_TICKS);
        tables.exits(&hal, whole(thread), hal.timebase.get());
    };
    turns(&tables, &hal, &[A, B, A]);
    turn(&tables, &hal, 0, A);
    assert_eq!(told(&hal), [log(&tables, A), log(&tables, B), fetch(&tables, A)]);
    hal.is_engine_at_work.set(false);
    exits(0);
    turn(&tables, &hal, 1, A);
    assert_eq!(told(&hal), [fetch(&tables, A)]);
    hal.is_engine_at_work.set(false);
    // So is a log that is whole when the one behind leaves.
    turn(&tables, &hal, 1, B);
    assert_eq!(told(&hal), [log(&tables, A)]);
    hal.is_engine_at_work.set(false);
    exits(1);
    turns(&tables, &hal, &[C, A]);
    turn(&tables, &hal, 0, A);
    assert_eq!(told(&hal), [log(&tables, C), fetch(&tables, A)]);
}

#[test]
fn who_waits_for_something_is_not_judged_by_the_time() {
    let hal = Fake::new(0);
    let tables = tables_of(&hal, PrefetchPolicy::Adaptive);
    turn(&tables, &hal, 0, A);
    hal.timebase.set(hal.timebase.get() + SHORT_TICKS);
    tables.exits(&hal, whole(0), hal.timebase.get());
    // It comes back a while later, to leave at once.
    hal.timebase.set(hal.timebase.get() + 100 * SHORT_TICKS);
    tables.enters(&hal, whole(0), (A, LPID), hal.timebase.get());
    tables.exits(&hal, whole(0), hal.timebase.get());
    assert_eq!(tables.runners[0].lock().stay.ticks, SHORT_TICKS);
}

#[test]
fn nothing_is_under_way_when_all_is_over() {
    let hal = Fake::new(0);
    let tables = tables(&hal);
    for vcpu in [A, B] {
        turn(&tables, &hal, 0, vcpu);
    }
    tables.ends(&hal, whole(0));
    tables.ends(&hal, whole(1));
    assert_eq!(told(&hal), [log(&tables, A), Command::EndLog]);
    let tables = self::tables(&hal);
    turns(&tables, &hal, &[A, B, A]);
    turn(&tables, &hal, 0, A);
    tables.ends(&hal, whole(0));
    assert_eq!(told(&hal).last(), Some(&Command::EndFetch));
}

/// Two partitions of four vCPUs take turns on a core of four threads: its vcores are what is logged and fetched, and
/// one thread looks for all.
#[test]
fn vcpus_that_share_a_core_are_logged_and_fetched_together() {
    let hal = Fake::new(0);
    let vcores = Vcores::new(4, [4, 4, 6].into_iter());
    let numbers: Vec<_> = vcores.iter().map(|vcore| vcore.0).collect();
    assert_eq!((numbers, vcores.len()), ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3].into(), 4));
    let tables = Tables::new(&hal, PrefetchPolicy::AlwaysL2, vcores, 4).unwrap().unwrap();
    let place = |thread| Place { thread, part: 0, core: 0 };
    let passes = |ticks| hal.timebase.set(hal.timebase.get() + ticks);
    let enters = |thread, vcpu| {
        passes(1);
        tables.enters(&hal, place(thread), (VcpuId(vcpu), LPID), hal.timebase.get())
    };
    let exits = |thread| {
        passes(1);
        tables.exits(&hal, place(thread), hal.timebase.get());
    };
    let [first, second] = [VcpuId(0), VcpuId(4)];
    // All of the first partition, in any order; nothing is logged while one of them is there.
    for thread in [2, 0, 1, 3] {
        assert_eq!(enters(thread, thread as u32), None);
    }
    passes(SHORT_TICKS);
    exits(1);
    assert_eq!(enters(1, 3), None);
    for thread in 0..4 {
        exits(thread);
    }
    assert_eq!(told(&hal), []);
    // Nothing of the second was logged; one of it looks all the same, for the table's sake.
    assert_eq!(enters(0, 4), Some(LOOK_TICKS));
    for thread in 1..4 {
        assert_eq!(enters(thread, 4 + thread as u32), None);
    }
    assert_eq!(told(&hal), [log(&tables, first)]);
    hal.is_engine_at_work.set(false);
    passes(SHORT_TICKS);
    (0..4).for_each(exits);
    // The first one that comes begins the other's log and looks; when it has gone, another one does.
    assert_eq!(enters(3, 1), Some(LOOK_TICKS));
    assert_eq!(enters(0, 0), None);
    assert_eq!(told(&hal), [log(&tables, second)]);
    exits(3);
    assert_eq!(enters(2, 2), Some(LOOK_TICKS));
    assert_eq!(enters(3, 1), None);
    hal.is_engine_at_work.set(false);
    exits(2);
    assert_eq!(enters(2, 2), None);
    assert_eq!(told(&hal), [fetch(&tables, first)]);
    {
        let runner = tables.runners[0].lock();
        assert_eq!((runner.inside, runner.looker, runner.last), (3, None, Some(super::VcoreId(0))));
    }
    hal.is_engine_at_work.set(false);
    // Of the third one's two vcores the second joins the first; alone it has a stay of its own.
    [0, 2, 3].into_iter().for_each(exits);
    enters(0, 8);
    assert_eq!(told(&hal), []);
    enters(1, 12);
    passes(SHORT_TICKS);
    exits(0);
    enters(0, 13);
    assert_eq!(told(&hal), []);
    [0, 1].into_iter().for_each(exits);
    enters(1, 12);
    assert_eq!(told(&hal), [log(&tables, VcpuId(8))]);
}

/// What the threads of a core get done is one vcore's, for each tick of each thread.
#[test]
fn a_vcore_is_judged_by_what_all_its_threads_get_done() {
    let hal = Fake::new(0);
    let vcores = Vcores::new(2, [2].into_iter());
    let tables = Tables::new(&hal, PrefetchPolicy::Adaptive, vcores, 1).unwrap().unwrap();
    let place = |thread| Place { thread, part: 0, core: 0 };
    tables.enters(&hal, place(0), (A, LPID), 0);
    hal.completed.set(300);
    tables.exits(&hal, place(0), 1000);
    // The thread's vCPU comes straight back; the other one's is there for less.
    tables.enters(&hal, place(0), (A, LPID), 1100);
    tables.enters(&hal, place(1), (B, LPID), 1200);
    hal.completed.set(700);
    tables.exits(&hal, place(1), 1500);
    tables.exits(&hal, place(0), 2000);
    // And comes later, which is no work.
    tables.enters(&hal, place(1), (B, LPID), 1500 + LOOK_TICKS + 1);
    let runner = tables.runners[0].lock();
    let stay = &runner.stay;
    assert_eq!((stay.done, stay.ticks, stay.longest), (300 + 400 + 400, 2000 + 300, 2000));
    assert_eq!(tables.learned().len(), 2);
}

#[test]
fn a_vcore_has_as_many_vcpus_as_threads_of_the_largest_core() {
    let cores = || [0, 1, 1, 0, 1, 2].into_iter();
    assert_eq!(most_in_a_part(cores(), 1, None), 3);
    assert_eq!(most_in_a_part(cores(), 1, Some(2)), 2);
    assert_eq!(most_in_a_part(cores(), 1, Some(9)), 3);
    assert_eq!(most_in_a_part([7; 8].into_iter(), 4, None), 2);
    assert_eq!(most_in_a_part([7; 8].into_iter(), 2, Some(3)), 3);
    assert_eq!(most_in_a_part([].into_iter(), 1, None), 1);
}

#[test]
fn what_cannot_be_is_refused() {
    let hal = Fake::new(0);
    hal.logs_left.set(2);
    let tables = Tables::new(&hal, PrefetchPolicy::AlwaysL2AndL3, alone(3), 1);
    assert_eq!(tables.err(), Some(NoMemory));
    // Off needs none.
    assert!(Tables::new(&hal, PrefetchPolicy::Off, alone(3), 1).unwrap().is_none());
}

#[test]
fn a_bundle_says_what_is_logged() {
    let manifest = |policy: Option<&str>| {
        let mut tree = DeviceTree::new();
        if let Some(policy) = policy {
            tree.root.add_property(DeviceTreeProperty::new_unchecked(PREFETCH, policy));
        }
        tree.to_dtb()
    };
    assert_eq!(policy(&manifest(None)), Some(PrefetchPolicy::Off));
    for named in PrefetchPolicy::ALL {
        assert_eq!(policy(&manifest(Some(named.name()))), Some(named));
    }
    assert_eq!(policy(&manifest(Some("sometimes"))), None);
    assert_eq!(policy(b"no tree"), None);
}
