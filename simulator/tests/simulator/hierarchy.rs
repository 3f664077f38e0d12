//! The caches and memories of POWER9's description: latencies by footprint, bandwidth, lines that cores
//! hand to each other, and lines that owners take from each other.

use simulator::Description;
use simulator::cache::{Hierarchy, Kind, LINE_LOG2, Request, Restored};
use simulator::ledger::{Cause, CauseSet, Owner};
use simulator::quantity::Bound;

const POWER9: &str = include_str!("../../../machines/power9.toml");

/// POWER9 with another topology; `quiet` fetches nothing ahead of loads.
fn description(chips: u32, cores: u32, threads: u32, quiet: bool) -> Description {
    let mut text = POWER9
        .replace("chips = 1", &format!("chips = {chips}"))
        .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"))
        .replace("threads_per_core = 1", &format!("threads_per_core = {threads}"));
    if chips > 1 {
        text += "\n[[memory]]\nbase = 0x8000_0000\nbytes = 0x8000_0000\nnode = 1\n";
    }
    if quiet {
        text = text
            .replace("streams = { value = 8", "streams = { value = 0")
            .replace("scattered_lines = { value = 3", "scattered_lines = { value = 0");
    }
    Description::from_toml(&text).unwrap()
}

fn machine(chips: u32, cores: u32) -> Hierarchy {
    hierarchy(&description(chips, cores, 1, true), &[])
}

fn hierarchy(description: &Description, free: &[Cause]) -> Hierarchy {
    let free = free.iter().fold(CauseSet::default(), |set, &cause| set.with(cause));
    Hierarchy::new(description, Bound::Value, free)
}

fn owned(owner: Owner, thread: usize, line: u64, kind: Kind, at: u64) -> Request {
    Request { thread, line, address: line << LINE_LOG2, kind, at, owner }
}

fn request(thread: usize, line: u64, kind: Kind, at: u64) -> Request {
    owned(Owner::Host, thread, line, kind, at)
}

#[test]
fn a_line_that_was_touched_is_there_when_it_came() {
    let plain = machine(1, 4).access(&request(0, 2000, Kind::Load, 0));
    let mut hierarchy = machine(1, 4);
    let ready = hierarchy.touch(&request(0, 2000, Kind::Load, 0), false);
    assert_eq!(ready, Some(plain.ready));
    let misses = hierarchy.misses(0);
    let early = hierarchy.access(&request(0, 2000, Kind::Load, 10));
    assert_eq!((early.ready, early.cause), (plain.ready, Cause::LoadMemory));
    let late = hierarchy.access(&request(0, 2000, Kind::Load, 1000));
    assert_eq!(late.cause, Cause::LoadL1);
    assert_eq!(hierarchy.touch(&request(0, 2000, Kind::Load, 2000), false), None);
    assert_eq!(hierarchy.misses(0), misses, "the touch was no miss, and saved one");
}

#[test]
fn a_log_has_the_lines_of_the_l2_in_their_order_of_use() {
    let mut hierarchy = machine(1, 2);
    let used = [5000, 7000, 6000, 8000];
    for (at, line) in (0..).step_by(1000).zip(used) {
        hierarchy.access(&request(0, line, Kind::Load, at));
    }
    // A store goes to the L2, where a load of what the L1 has is not seen.
    hierarchy.access(&request(0, 5000, Kind::Store, 10_000));
    hierarchy.access(&request(0, 7000, Kind::Load, 11_000));
    let lines: Vec<_> = hierarchy.lines_to_log(0, false);
    assert_eq!(lines, [7000, 6000, 8000, 5000].map(|line| (line, false)));
    assert_eq!(hierarchy.lines_to_log(1, true).len(), 4, "cores of a pair share their L2");
}

#[test]
fn a_log_of_the_l3_has_what_was_used_last_in_each_set() {
    let description = description(1, 1, 1, true);
    let timing = description.timing().unwrap().cache.values(Bound::Value);
    let sets = (timing.l2_bytes / timing.l2_ways) >> LINE_LOG2;
    let mut hierarchy = hierarchy(&description, &[]);
    // One more than the ways of one set of the L2, and again: the first two lines go to the L3.
    let lines = (0..timing.l2_ways + 2).map(|way| 4096 + way * sets);
    for (at, line) in (0..).step_by(1000).zip(lines.clone()) {
        hierarchy.access(&request(0, line, Kind::Load, at));
    }
    assert_eq!(hierarchy.lines_to_log(0, false).len() as u64, timing.l2_ways);
    let logged = hierarchy.lines_to_log(0, true);
    let (third, second): (Vec<_>, Vec<_>) =
        logged.iter().copied().partition(|(_, is_of_l3)| *is_of_l3);
    let sets_of_l3 = (timing.l3_bytes / timing.l3_ways) >> LINE_LOG2;
    let is_one_set = sets.is_multiple_of(sets_of_l3);
    let expected: Vec<_> =
        lines.take(2).skip(usize::from(is_one_set)).map(|line| (line, true)).collect();
    assert_eq!(third, expected);
    assert_eq!(second.len() as u64, timing.l2_ways);
    assert!(logged[..third.len()].iter().all(|(_, is_of_l3)| *is_of_l3), "the L3's are first");
}

#[test]
fn a_restored_line_is_where_it_was_and_costs_the_memory() {
    let ready_of = |restored| match restored {
        Restored::Beyond(ready) => Some(ready),
        Restored::There | Restored::InL3 => None,
    };
    let restored = |is_for_l3| {
        let mut hierarchy = machine(1, 1);
        let ready = ready_of(hierarchy.restore(0, 9000, is_for_l3, 0, (0, Some(7)))).unwrap();
        let again = hierarchy.restore(0, 9000, is_for_l3, 10_000, (0, Some(7)));
        assert_eq!(again, Restored::There);
        if is_for_l3 {
            // Another log names it as one of the L2's.
            let mut hierarchy = hierarchy.clone();
            let moved = hierarchy.restore(0, 9000, false, 10_000, (0, Some(7)));
            assert_eq!(moved, Restored::InL3);
        }
        let partition = Owner::Partition { lpid: 7 };
        let answer = hierarchy.access(&owned(partition, 0, 9000, Kind::Load, 20_000));
        (ready, answer.cause)
    };
    let memory = machine(1, 1).access(&request(0, 9000, Kind::Load, 0)).ready;
    assert_eq!(restored(false), (memory, Cause::LoadL2));
    assert_eq!(restored(true), (memory, Cause::LoadL3));
    // Whoever comes before the line has come waits for it.
    let mut hierarchy = machine(1, 1);
    let ready = ready_of(hierarchy.restore(0, 9000, false, 0, (0, None))).unwrap();
    assert_eq!(hierarchy.access(&request(0, 9000, Kind::Load, 10)).ready, ready);

    // A flood of restored lines is in the way of another core's load.
    let mut hierarchy = machine(1, 4);
    let restores = (0..2000).map(|line| hierarchy.restore(0, line, false, 0, (0, None)));
    let last = restores.filter_map(ready_of).max();
    assert!(last.unwrap() > memory, "they share the channels");
    let beside = hierarchy.access(&request(3, 9000, Kind::Load, 0));
    assert!(beside.ready > memory && beside.cause == Cause::LoadBandwidth, "{beside:?}");
}

#[test]
fn what_an_engine_writes_is_in_no_cache() {
    let mut hierarchy = machine(1, 4);
    let first = hierarchy.access(&request(0, 9000, Kind::Load, 0));
    hierarchy.access(&request(2, 9000, Kind::Load, 1000));
    hierarchy.write_past(9000, 10_000);
    for core in [0, 2] {
        assert!(hierarchy.lines_to_log(core, true).is_empty());
    }
    let again = hierarchy.access(&request(0, 9000, Kind::Load, 20_000));
    assert_eq!(again.cause, first.cause);
    assert_eq!(hierarchy.read_past(0, 12_000, 50_000) - 50_000, first.ready);
    assert_eq!(
        hierarchy.lines_to_log(0, true),
        [(9000, false)],
        "reading its table brings nothing"
    );
}

#[test]
fn a_line_that_was_touched_for_a_store_is_nobody_elses() {
    let store_behind = |is_touched: bool| {
        let mut hierarchy = machine(1, 4);
        for core in 0..4 {
            hierarchy.access(&request(core, 1000, Kind::Load, 0));
        }
        if is_touched {
            assert!(hierarchy.touch(&request(0, 1000, Kind::Load, 10_000), true).is_some());
            assert_eq!(hierarchy.touch(&request(0, 1000, Kind::Load, 15_000), true), None);
        }
        let stored = hierarchy.access(&request(0, 1000, Kind::Store, 20_000)).ready - 20_000;
        let loaded = hierarchy.access(&request(2, 1000, Kind::Load, 30_000)).cause;
        (stored, loaded)
    };
    let (touched, untouched) = (store_behind(true), store_behind(false));
    assert!(touched.0 + 50 < untouched.0, "{touched:?}, {untouched:?}");
    assert_eq!([touched.1, untouched.1], [Cause::LoadRemote; 2]);

    // What a touch fetched and nobody stored to need not be written back.
    let mut hierarchy = machine(1, 4);
    hierarchy.touch(&request(0, 1000, Kind::Load, 0), true);
    let clean = hierarchy.access(&request(2, 1000, Kind::Load, 10_000)).ready;
    let mut hierarchy = machine(1, 4);
    hierarchy.access(&request(0, 1000, Kind::Store, 0));
    let dirty = hierarchy.access(&request(2, 1000, Kind::Load, 10_000)).ready;
    assert_ne!(clean, dirty, "a changed line takes another way");
}

/// Every `step`-th of `lines` lines once, in an order that no stream follows.
fn shuffled(lines: u64, step: u64) -> Vec<u64> {
    let count = lines / step;
    let mut order: Vec<u64> = (0..count).map(|index| index * step).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for index in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(index as usize, ((state >> 33) % (index + 1)) as usize);
    }
    order
}

/// Mean time of a load that begins when the one before it has its data, over `bytes`.
fn chase(hierarchy: &mut Hierarchy, bytes: u64, step: u64) -> f64 {
    let order = shuffled(bytes >> LINE_LOG2, step);
    let mut at = 0;
    let mut round = || {
        let begin = at;
        for &line in &order {
            at = hierarchy.access(&request(0, line, Kind::Load, at)).ready;
        }
        (at - begin) as f64 / order.len() as f64
    };
    round();
    round()
}

#[test]
fn a_pointer_chase_shows_the_levels() {
    for (bytes, cycles) in [(16 << 10, 4.0), (256 << 10, 15.5), (4 << 20, 35.5), (64 << 20, 258.4)]
    {
        let mut quiet = machine(1, 1);
        let found = chase(&mut quiet, bytes, 1);
        assert!((found / cycles - 1.0).abs() < 0.1, "{bytes} bytes: {found} for {cycles} cycles");
    }
    // As it is, too, where elements lie further apart than a lone miss brings lines.
    let found = chase(&mut hierarchy(&description(1, 1, 1, false), &[]), 64 << 20, 8);
    assert!((found / 258.4 - 1.0).abs() < 0.1, "{found} cycles");
}

/// GB/s of `cores` cores that each access lines one after another, with `outstanding` ones at a time.
fn stream(hierarchy: &mut Hierarchy, kind: Kind, cores: usize, outstanding: usize) -> f64 {
    const LINES: usize = 20_000;
    let mut ends = vec![vec![0; outstanding]; cores];
    for index in 0..LINES {
        for (core, ends) in ends.iter_mut().enumerate() {
            let at = ends[index % outstanding];
            let line = (core << 20 | index) as u64;
            ends[index % outstanding] = hierarchy.access(&request(core, line, kind, at)).ready;
        }
    }
    let end = ends.iter().flatten().max().unwrap();
    (LINES * cores) as f64 * 128.0 / (*end as f64 / 3.8)
}

#[test]
fn bandwidth_is_bounded_by_misses_and_by_channels() {
    let one = stream(&mut machine(1, 1), Kind::Load, 1, 12);
    assert!((one / 22.6 - 1.0).abs() < 0.05, "12 misses of 68 ns pass 22.6 GB/s, not {one}");
    let many = stream(&mut machine(1, 16), Kind::Load, 16, 12);
    assert!((many / 120.0 - 1.0).abs() < 0.05, "the memory passes 120 GB/s, not {many}");
    let ahead = stream(&mut hierarchy(&description(1, 1, 1, false), &[]), Kind::Load, 1, 12);
    assert!(ahead > 1.5 * one, "fetching ahead brings {ahead} GB/s over {one}");
    let two = stream(&mut machine(2, 4), Kind::Load, 4, 12);
    assert!((two / one / 4.0 - 1.0).abs() < 0.05, "4 cores are still below the channels: {two}");
}

#[test]
fn what_is_written_back_takes_the_channels_too() {
    let text = POWER9
        .replace("cores_per_chip = 1", "cores_per_chip = 16")
        .replace("l3_bytes = { value = 10_485_760", "l3_bytes = { value = 655_360");
    let mut small = hierarchy(&Description::from_toml(&text).unwrap(), &[]);
    let found = stream(&mut small, Kind::Store, 16, 12);
    assert!(
        (50.0..80.0).contains(&found),
        "lines come and go at 120 GB/s together, not at {found}"
    );
}

#[test]
fn who_waits_for_a_channel_is_charged_for_it() {
    let mut hierarchy = machine(1, 1);
    let answers: Vec<_> =
        (0..200).map(|line| hierarchy.access(&request(0, line * 64, Kind::Load, 0))).collect();
    assert_eq!(answers[0].cause, Cause::LoadMemory);
    assert_eq!(answers[199].cause, Cause::LoadBandwidth);
    let mut free = self::hierarchy(&description(1, 1, 1, true), &[Cause::LoadBandwidth]);
    for line in 0..200 {
        let answer = free.access(&request(0, line * 64, Kind::Load, 0));
        assert_eq!((answer.ready, answer.cause), (258, Cause::LoadMemory));
    }
}

/// Cycles of a load and a store to one line, in turns by two cores.
fn ping_pong(hierarchy: &mut Hierarchy, one: usize, other: usize) -> u64 {
    let mut at = 0;
    let mut begin = 0;
    for round in 0..10 {
        begin = at;
        for core in [one, other] {
            assert!(round == 0 || hierarchy.wanders(7));
            for kind in [Kind::Load, Kind::Store] {
                at = hierarchy.access_beside(&request(core, 7, kind, at)).ready;
            }
        }
    }
    (at - begin) / 2
}

#[test]
fn a_line_that_two_cores_write_wanders() {
    let mut hierarchy = machine(2, 4);
    let [same, pairs, chips] =
        [(0, 1), (0, 2), (0, 4)].map(|(one, other)| ping_pong(&mut hierarchy, one, other));
    assert_eq!(same, 16 + 5, "from the L2 that they share, and into it");
    // The other's changed line (75 ns), then the other's copy has to go (30 ns).
    assert_eq!(pairs, 285 + 114);
    assert_eq!(chips, 570 + 114);
}

#[test]
fn a_line_wanders_once_it_has_gone_over_to_another_core() {
    let mut hierarchy = machine(1, 4);
    hierarchy.access_beside(&request(0, 7, Kind::Store, 0));
    hierarchy.access_beside(&request(0, 7, Kind::Load, 1000));
    assert!(!hierarchy.wanders(7), "only one core has it");
    hierarchy.access_beside(&request(2, 7, Kind::Load, 2000));
    assert!(hierarchy.wanders(7), "another reads what the first wrote");
    for core in 0..4 {
        hierarchy.access_beside(&request(core, 8, Kind::Load, 3000));
    }
    assert!(!hierarchy.wanders(8), "nobody writes it");
}

#[test]
fn transfers_of_a_line_never_overlap() {
    for kind in [Kind::Load, Kind::Store] {
        let mut hierarchy = machine(1, 16);
        hierarchy.access(&request(0, 7, Kind::Store, 0));
        // One core of each other pair wants it at once.
        let ready: Vec<u64> =
            (1..8).map(|pair| hierarchy.access(&request(2 * pair, 7, kind, 1000)).ready).collect();
        // Changed or not, the line is on its way for 35 ns at least.
        for (before, after) in ready.iter().zip(&ready[1..]) {
            assert!(after - before >= 133, "{kind:?}: {ready:?}");
        }
    }
}

#[test]
fn a_line_goes_on_when_it_has_come() {
    let mut hierarchy = machine(1, 4);
    assert_eq!(hierarchy.access(&request(0, 7, Kind::Store, 0)).ready, 258);
    assert_eq!(hierarchy.access(&request(2, 7, Kind::Load, 10)).ready, 258 + 285);
    assert_eq!(hierarchy.access(&request(0, 7, Kind::Store, 2000)).ready, 2000 + 114);
    // Only then it goes over to the other core of the pair.
    assert_eq!(hierarchy.access(&request(1, 7, Kind::Load, 2010)).ready, 2000 + 114 + 16);
}

#[test]
fn nothing_is_fetched_ahead_beyond_a_page() {
    let mut hierarchy = hierarchy(&description(1, 1, 1, false), &[]);
    let mut cause = |line, at| hierarchy.access(&request(0, line, Kind::Load, at)).cause;
    assert_eq!(cause(8 * 512 + 509, 0), Cause::LoadMemory);
    assert_eq!(cause(8 * 512 + 511, 1000), Cause::LoadL3);
    assert_eq!(cause(9 * 512, 2000), Cause::LoadMemory);
}

#[test]
fn accesses_to_a_line_on_its_way_are_one_miss() {
    let mut hierarchy = machine(1, 1);
    let first = hierarchy.access(&request(0, 3, Kind::Load, 100));
    let second = hierarchy.access(&request(0, 3, Kind::Load, 150));
    assert_eq!((first.ready, first.cause), (358, Cause::LoadMemory));
    assert_eq!(second, first);
    let late = hierarchy.access(&request(0, 3, Kind::Load, 356));
    assert_eq!((late.ready, late.cause), (360, Cause::LoadL1));
}

#[test]
fn a_store_waits_for_its_line_and_zeroing_for_no_data() {
    let mut hierarchy = machine(1, 4);
    let drained = |hierarchy: &mut Hierarchy, core, line, kind, at| {
        let answer = hierarchy.access(&request(core, line, kind, at));
        assert_eq!(answer.cause, Cause::StoreDrain);
        answer.ready - at
    };
    assert_eq!(drained(&mut hierarchy, 0, 1, Kind::Store, 0), 258, "from memory");
    assert_eq!(drained(&mut hierarchy, 0, 1, Kind::Store, 1000), 5, "owned");
    assert_eq!(drained(&mut hierarchy, 2, 1, Kind::Store, 2000), 285, "from the other pair");
    assert_eq!(drained(&mut hierarchy, 0, 2, Kind::Zero, 3000), 114, "nothing is fetched");
    assert_eq!(drained(&mut hierarchy, 0, 2, Kind::Store, 4000), 5, "owned");
    let load = hierarchy.access(&request(0, 1, Kind::Load, 5000));
    assert_eq!(load.cause, Cause::LoadRemote, "a store brings its line into no L1");
    assert_eq!(drained(&mut hierarchy, 2, 1, Kind::Store, 6000), 114, "the other's copy must go");
    assert_eq!(hierarchy.access(&request(0, 1, Kind::Load, 7000)).cause, Cause::LoadRemote);
}

#[test]
fn instructions_that_are_overwritten_are_fetched_again() {
    let mut hierarchy = machine(1, 2);
    hierarchy.set_mode(0, 4);
    let fetch = |hierarchy: &mut Hierarchy, line, at| {
        let answer = hierarchy.access(&request(0, line, Kind::Fetch, at));
        (answer.ready - at, answer.cause)
    };
    assert_eq!(fetch(&mut hierarchy, 9, 0), (254, Cause::FetchMemory));
    assert_eq!(fetch(&mut hierarchy, 9, 1000), (0, Cause::DispatchWidth));
    for (core, at) in [(0, 2000), (1, 3000)] {
        hierarchy.access(&request(core, 9, Kind::Store, at));
        assert_eq!(
            fetch(&mut hierarchy, 9, at + 100),
            (12, Cause::FetchL2),
            "core {core} wrote it"
        );
        assert_eq!(fetch(&mut hierarchy, 9, at + 200), (0, Cause::DispatchWidth));
    }
    assert_eq!(fetch(&mut hierarchy, 10, 5000).1, Cause::FetchMemory);
    hierarchy.set_mode(0, 1);
    assert_eq!(fetch(&mut hierarchy, 20, 6000).1, Cause::FetchMemory);
    assert_eq!(fetch(&mut hierarchy, 23, 7000), (0, Cause::DispatchWidth), "fetched ahead");
}

#[test]
fn what_is_flushed_comes_from_memory() {
    let mut hierarchy = machine(1, 4);
    hierarchy.access(&request(0, 5, Kind::Load, 0));
    hierarchy.access(&request(2, 5, Kind::Store, 1000));
    assert_eq!(hierarchy.flush(5, 2000), 2114);
    for core in [0, 2] {
        let answer = hierarchy.access(&request(core, 5, Kind::Load, 3000));
        let cause = if core == 0 { Cause::LoadMemory } else { Cause::LoadRemote };
        assert_eq!(answer.cause, cause);
    }
}

#[test]
fn a_walk_begins_at_the_l2() {
    let mut hierarchy = machine(1, 1);
    hierarchy.access(&request(0, 5, Kind::Load, 0));
    let walk = hierarchy.access(&request(0, 5, Kind::Walk, 1000));
    assert_eq!((walk.ready, walk.cause), (1016, Cause::LoadL2));
}

#[test]
fn memory_of_another_chip_is_further_away() {
    let mut hierarchy = machine(2, 2);
    let line = 0x8000_0000 >> LINE_LOG2;
    let near = hierarchy.access(&request(2, line, Kind::Load, 0));
    assert_eq!((near.ready, near.cause), (258, Cause::LoadMemory));
    let far = hierarchy.access(&request(0, line + 1, Kind::Load, 0));
    assert_eq!((far.ready, far.cause), (543, Cause::LoadChip));
}

#[test]
fn a_free_level_costs_as_the_one_above_and_changes_no_other() {
    for (free, cycles) in [
        (vec![Cause::LoadL2], [4, 36, 258]),
        (vec![Cause::LoadL3], [16, 16, 258]),
        (vec![Cause::LoadMemory], [16, 36, 36]),
        (vec![Cause::LoadL3, Cause::LoadMemory], [16, 16, 16]),
    ] {
        let mut hierarchy = hierarchy(&description(1, 1, 1, true), &free);
        // 9 lines of one L1 set that fit the L2, then 9 of one L2 set: the first one left it.
        let mut load = |line, at| hierarchy.access(&request(0, line, Kind::Load, at)).ready - at;
        let memory = load(0, 0);
        (1..9).for_each(|index| assert_eq!(load(32 * index, 1000 * index), memory));
        let l2 = load(0, 10_000);
        (0..9).for_each(|index| assert!(load(512 * index + 1, 20_000 + 1000 * index) >= memory));
        assert_eq!([l2, load(1, 30_000), memory], cycles, "{free:?}");
    }
}

#[test]
fn a_line_lost_to_another_owner_is_a_refill_at_every_level() {
    let (first, second) = (Owner::Partition { lpid: 1 }, Owner::Partition { lpid: 2 });
    let serving = Owner::Serving { lpid: 1, vector: 0xC00 };
    // As many lines as push a set of the L1, the L2, and of L2 and L3 out.
    for (stride, count, cause) in
        [(32, 8, Cause::LoadL2), (512, 8, Cause::LoadL3), (4096, 28, Cause::LoadMemory)]
    {
        for (pusher, is_refill) in [(first, false), (second, true), (serving, true)] {
            let mut hierarchy = machine(1, 1);
            let mut load =
                |owner, line, at| hierarchy.access(&owned(owner, 0, line, Kind::Load, at));
            assert!(!load(first, 0, 0).is_refill);
            for index in 1..=count {
                assert!(!load(pusher, stride * index, 1000 * index).is_refill);
            }
            let answer = load(first, 0, 100_000);
            assert_eq!((answer.cause, answer.is_refill), (cause, is_refill), "{pusher:?}");
            assert_eq!(load(first, 0, 100_001).is_refill, is_refill && cause != Cause::LoadL1);
            assert!(!load(first, 0, 200_000).is_refill);
        }
    }
}

#[test]
fn a_line_that_a_foreign_owner_writes_elsewhere_is_a_refill() {
    let mut hierarchy = machine(1, 4);
    let (first, second) = (Owner::Partition { lpid: 1 }, Owner::Host);
    let mut at = 0;
    for (writer, is_refill) in [(first, false), (second, true)] {
        for core in [1, 2] {
            at += 10_000;
            hierarchy.access(&owned(first, 0, 6, Kind::Load, at));
            hierarchy.access(&owned(writer, core, 6, Kind::Store, at + 1000));
            let answer = hierarchy.access(&owned(first, 0, 6, Kind::Load, at + 2000));
            assert_eq!(answer.is_refill, is_refill, "core {core} as {writer:?}");
        }
    }
}

#[test]
fn a_stream_is_fetched_ahead_of_its_loads() {
    for stride in [1, 3, -2] {
        let mut hierarchy = hierarchy(&description(1, 1, 1, false), &[]);
        let answers: Vec<_> = (0..40)
            .map(|index| {
                let line = (200 * 512 + 250 + stride * index) as u64;
                hierarchy.access(&request(0, line, Kind::Load, 1000 * index as u64)).cause
            })
            .collect();
        assert!(answers[3..].iter().all(|cause| *cause == Cause::LoadL1), "{stride}: {answers:?}");
        assert_eq!(answers[0], Cause::LoadMemory);
    }
}

#[test]
fn a_saved_hierarchy_goes_on_as_the_one_it_was_saved_from() {
    let mut hierarchy = hierarchy(&description(1, 4, 2, false), &[]);
    let run = |hierarchy: &mut Hierarchy, from: u64| {
        let mut sum = 0_u64;
        for (index, line) in (from..).zip(shuffled(20_000, 1)) {
            let kind = [Kind::Load, Kind::Store, Kind::Fetch, Kind::Walk][index as usize % 4];
            let owner = Owner::Partition { lpid: index as u32 % 3 };
            let thread = (index / 16) as usize % 8;
            let answer = hierarchy.access(&owned(owner, thread, line / 3, kind, 10 * index));
            sum = sum.wrapping_mul(31).wrapping_add(answer.ready + u64::from(answer.is_refill));
        }
        sum
    };
    run(&mut hierarchy, 0);
    let saved = postcard::to_stdvec(&hierarchy).unwrap();
    let mut restored: Hierarchy = postcard::from_bytes(&saved).unwrap();
    assert_eq!(restored, hierarchy);
    assert_eq!(run(&mut restored, 30_000), run(&mut hierarchy, 30_000));
    assert_eq!(restored, hierarchy);
}
