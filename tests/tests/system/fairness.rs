//! The bound on what a partition can take of another's time (`docs/containment.md`, "Time"), as the others measure it
//! themselves: whatever a partition does, a vCPU that can always run is never more than two slices behind its share,
//! in any interval. And a time limit is kept within one slice and what its end takes.

use arch::papr::{Class, Hypercall};
use system_tests::containment::MODES;
use system_tests::fairness::{Contest, Measured, SLICE_US, run_until};
use system_tests::{is_nightly, record};

use lab::on_simulator;

/// Each way to misbehave, and each hypercall without end. Before each push every third of the calls on one thread; on
/// several every third way and every ninth of the calls, which are not the same on four threads of a core as on two
/// cores.
fn contests(topology: [u32; 3]) -> Vec<Contest> {
    let first = usize::from(topology[1] > 1);
    let (first, ways, step) = match topology {
        _ if is_nightly() => (0, 1, 1),
        [1, 1, 1] => (0, 1, 3),
        _ => (first, 3, 9),
    };
    let modes = MODES.iter().skip(first).step_by(ways);
    let modes = modes.map(|(mode, _)| Contest::against(mode, topology));
    let calls = (first..Hypercall::ALL.len()).step_by(step);
    let calls = calls.map(|call| Contest {
        is_hashed: is_of_table(Hypercall::ALL[call]),
        ..Contest::against(&format!("call call={call}"), topology)
    });
    modes.chain(calls).collect()
}

/// Whether only a partition with a hashed page table has the call.
fn is_of_table(call: Hypercall) -> bool {
    call.class() == Class::HashTable
        || matches!(call, Hypercall::ResizeHptPrepare | Hypercall::ResizeHptCommit)
}

fn check(contest: &Contest) -> Vec<Measured> {
    let measured = contest.measure();
    let is_fair = measured.iter().all(|measured| measured.is_within(2));
    assert!(is_fair, "{contest:?}, share {}: {measured:#?}", contest.share());
    measured
}

/// All of them; `--nocapture` shows the worst.
fn check_all(topology: [u32; 3]) {
    let behind = |contest: &Contest| check(contest).iter().map(|measured| measured.behind_ns).max();
    let worst = contests(topology).iter().map(behind).max();
    println!("{topology:?}: {:?} ns behind at worst", worst.flatten());
}

#[test]
fn nobody_takes_more_than_two_slices_of_one_thread() {
    check_all([1, 1, 1]);
}

#[test]
fn nobody_takes_more_than_two_slices_of_four_threads_of_a_core() {
    check_all([1, 1, 4]);
}

#[test]
fn nobody_takes_more_than_two_slices_of_two_cores() {
    check_all([1, 2, 2]);
}

#[test]
fn shares_are_by_weight() {
    for (weight, other_weight) in [(300, 100), (100, 300), (800, 100), (100, 800)] {
        for topology in [[1, 1, 1], [1, 2, 2]] {
            for mode in ["loop", "confer", "nap"] {
                let contest = Contest { weight, other_weight, ..Contest::against(mode, topology) };
                check(&contest);
            }
        }
    }
}

/// Sixteen vCPUs of a ten thousandth of a victim's weight, and of ten times as much, take no more than their part.
#[test]
fn weights_far_from_each_other_are_kept() {
    for (weight, other_weight) in [(10_000, 1), (100, 1000)] {
        for topology in [[1, 1, 1], [1, 1, 4]] {
            for mode in ["loop-all", "confer-all"] {
                let contest = Contest {
                    weight,
                    other_weight,
                    vcpus: 16,
                    time_us: 6000,
                    ..Contest::against(mode, topology)
                };
                check(&contest);
            }
        }
    }
}

/// Nobody can give such a vCPU back the time that an interrupt takes, so others cause none.
#[test]
fn who_is_due_a_whole_thread_is_not_interrupted_for_others() {
    for (mode, _) in MODES {
        let contest = Contest {
            victims: 1,
            weight: 10_000,
            other_weight: 1,
            time_us: 4000,
            ..Contest::against(mode, [1, 1, 2])
        };
        let measured = contest.measure();
        // A timer that nobody else watched yet, or a doorbell of the start.
        assert!(measured[0].behind_ns < 10_000, "{mode}: {measured:?}");
    }
}

/// So many nap that somebody waits whenever such a vCPU enters: it comes before all of them, and its slices
/// have no end.
#[test]
fn who_is_due_a_whole_thread_is_not_interrupted_where_somebody_always_waits() {
    for slice_us in [20, 100] {
        let contest = Contest {
            victims: 1,
            weight: 10_000,
            other_weight: 99,
            slice_us,
            time_us: 10_000,
            further: ["nap", "prod"].map(|mode| format!("mode={mode}")).into(),
            ..Contest::against("wake", [1, 2, 1])
        };
        let measured = contest.measure();
        assert!(measured[0].behind_ns < 20_000, "{slice_us} us: {measured:?}");
    }
}

/// It has the weight for nearly a thread, and hardly gets back what an interrupt takes. By the moments at which the
/// others wake it is never interrupted, or once in a while.
#[test]
fn who_is_due_nearly_a_thread_is_not_interrupted_for_others_that_nap() {
    for (slice_us, memory_mib) in [(20, 16), (100, 16), (100, 20), (100, 44)] {
        let contest = Contest {
            victims: 1,
            weight: 10_000,
            other_weight: 5001,
            slice_us,
            // Filling it moves the moments.
            memory_mib,
            time_us: 5000,
            ..Contest::against("nap", [1, 1, 2])
        };
        let measured = contest.measure();
        assert!(measured[0].behind_ns < 20_000, "{slice_us} us, {memory_mib} MiB: {measured:?}");
    }
}

/// One that ran alone for long has used nothing that somebody lacked, and one that comes then has no claim to it.
#[test]
fn who_ran_alone_is_not_kept_waiting_for_it() {
    let contest = Contest::against("late-loop", [1, 1, 1]);
    let measured = check(&contest);
    assert!(measured[0].ran > contest.share(), "it ran alone: {measured:?}");
    assert!(measured[0].longest_gap_ns < 3 * SLICE_US * 1000, "{measured:?}");
}

/// However much memory is zeroed for each restart or for those who touch it, nobody waits for longer than two slices of
/// each that is ready (`docs/containment.md` says why two), and what a change and a piece make of one slice more.
#[test]
fn much_memory_keeps_nobody_waiting() {
    for (mode, memory_mib, ready) in
        [("restart-storm", 32, 1), ("restart-storm", 64, 1), ("touch-storm", 64, 2)]
    {
        let contest = Contest { memory_mib, time_us: 20_000, ..Contest::against(mode, [1, 1, 1]) };
        let measured = check(&contest);
        println!("{mode}, {memory_mib} MiB: {measured:?}");
        let is_short = measured[0].longest_gap_ns < 2 * ready * SLICE_US * 1000 + 10_000;
        assert!(is_short, "{mode}, {memory_mib} MiB: {measured:?}");
    }
}

#[test]
fn a_share_that_nobody_can_have_is_found() {
    let contest = Contest { claim: Some(9000), ..Contest::against("loop", [1, 1, 1]) };
    let measured = contest.measure();
    assert!(!measured[0].is_within(2), "{measured:?}");
}

/// What the partition was charged that ended by its time limit, and what all ends took, in microseconds.
fn ran_until_its_limit(contest: &Contest) -> [u64; 2] {
    let mut machine = on_simulator::start(&contest.system()).expect("it can be started");
    let (console, is_off) = run_until(&mut machine, 1 << 24, |_| false);
    assert!(is_off, "{contest:?}: {console}");
    let record = record(console.as_bytes());
    let limited = record.partitions.iter().filter(|partition| partition.name == "misbehave");
    let ends = record.threads.iter().map(|thread| thread.ends_us);
    [limited.map(|partition| partition.counts["time_ran_us"]).sum(), ends.sum()]
}

const LIMIT_US: u64 = 2000;

#[test]
fn a_time_limit_is_kept_within_a_slice() {
    const WAYS: [&str; 8] = [
        "loop",
        "confer",
        "wake",
        "nap",
        "requests",
        "restart",
        "restart-storm",
        "outlive-restart",
    ];
    // On several threads before each push every other one, on four of a core others than on two cores.
    let step = if is_nightly() { 1 } else { 2 };
    for (topology, first, step) in
        [([1, 1, 1], 0, 1), ([1, 1, 4], 0, step), ([1, 2, 2], step - 1, step)]
    {
        for mode in WAYS.into_iter().skip(first).step_by(step) {
            let contest =
                Contest { time_limit_us: Some(LIMIT_US), ..Contest::against(mode, topology) };
            let [ran, ends] = ran_until_its_limit(&contest);
            println!("{mode} on {topology:?}: ran {ran} us, ends {ends} us");
            assert!((LIMIT_US..=LIMIT_US + SLICE_US).contains(&ran), "{contest:?}: ran {ran} us");
        }
    }
}

/// As many vCPUs as hardware threads, alone and beside others, in short slices and long ones.
#[test]
fn a_time_limit_of_all_threads_is_kept_within_a_slice() {
    for (topology, threads) in [([1, 1, 1], 1), ([1, 1, 4], 4), ([2, 2, 4], 16)] {
        for slice_us in [20, 100] {
            for (mode, victims) in [("loop-all", 0), ("loop-all", 1), ("confer-all", 1)] {
                let contest = Contest {
                    time_limit_us: Some(LIMIT_US),
                    vcpus: threads.max(2),
                    victims,
                    slice_us,
                    ..Contest::against(mode, topology)
                };
                let [ran, ends] = ran_until_its_limit(&contest);
                println!(
                    "{mode} beside {victims} on {topology:?}, {slice_us} us: ran {ran} us, ends {ends} us"
                );
                assert!(
                    (LIMIT_US..LIMIT_US + slice_us).contains(&ran),
                    "{contest:?}: ran {ran} us"
                );
                // The lines about it, and its vCPUs' wait for each other.
                assert!(ends < 50 + threads * 20, "{contest:?}: its end took {ends} us");
            }
        }
    }
}
