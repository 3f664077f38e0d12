//! The cores of POWER8, whole and split: each, or each part, runs one partition at a time. Our oracle watches; QEMU has
//! neither several threads in a core nor a core that can be split.

use std::collections::{BTreeMap, BTreeSet};

use arch::registers::msr;
use arch::registers::spr::Spr;
use lab::interruption::Interruption;
use lab::{on_qemu, on_simulator};
use simulator::state::thread::Activity;
use simulator::{Machine, NoObserver, RunState};
use system_tests::containment::{self, on_power8, on_threads};
use system_tests::{changed_system, is_nightly, system_of};

use crate::power8::{
    check, engine_changes_nothing, engine_leaves, modes, storms_well, with_policy,
};

/// Which threads are in a guest at the same time, with MSR\[HV\]=0, and the LPID with which each entered it: that of
/// the part of the core does not change while one is there.
struct Together {
    /// Threads of a part.
    part: usize,
    /// By thread.
    entered: BTreeMap<usize, u32>,
    /// Threads of one part at the most.
    most: usize,
    /// Partitions at the most.
    most_partitions: usize,
    /// Changes of the first part.
    switches: usize,
    last: Option<u32>,
    wrong: Vec<String>,
}

impl Together {
    fn new(part: usize) -> Self {
        let wrong = Vec::new();
        Self {
            part,
            entered: BTreeMap::new(),
            most: 0,
            most_partitions: 0,
            switches: 0,
            last: None,
            wrong,
        }
    }

    fn look(&mut self, machine: &Machine) {
        for thread in &machine.state().threads {
            if thread.activity != Activity::Running || thread.msr() & msr::HV != 0 {
                self.entered.remove(&thread.index);
                continue;
            }
            let lpid = thread.spr(Spr::Lpidr) as u32;
            let entered = *self.entered.entry(thread.index).or_insert(lpid);
            if entered != lpid {
                self.wrong.push(format!("thread {} entered {entered}, not {lpid}", thread.index));
            }
        }
        let mut parts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (thread, lpid) in &self.entered {
            parts.entry(thread / self.part).or_default().push(*lpid);
        }
        for (part, lpids) in &parts {
            if lpids.iter().any(|lpid| *lpid != lpids[0]) {
                self.wrong.push(format!("part {part} is in {lpids:?}"));
            }
            self.most = self.most.max(lpids.len());
        }
        let partitions: BTreeSet<_> = self.entered.values().collect();
        self.most_partitions = self.most_partitions.max(partitions.len());
        if let Some(lpids) = parts.get(&0)
            && self.last.replace(lpids[0]) != Some(lpids[0])
        {
            self.switches += 1;
        }
    }
}

/// Three partitions, of four vCPUs, four and one, on a core of eight threads that is in so many parts.
fn storms_on(subcores: usize) -> Together {
    /// Instructions of a thread from one look to the next: fewer than a vCPU's stay of the shortest slice.
    const STEPS: u64 = 200;
    const PARTITIONS: [(&str, u32); 3] = [("first", 4), ("second", 4), ("third", 1)];
    let partition = |(name, vcpus): (&str, u32)| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"storm\"\nmemory = \"8128 KiB\"\n\
             vcpus = {vcpus}\narguments = \"rounds=60\"\n"
        )
    };
    let text = format!(
        "slice_us = 20\npolicy = {{ subcores = {subcores} }}\n{}[machine]\ndescription = \"power8\"\n",
        PARTITIONS.map(partition).concat()
    );
    let system = on_threads(system_of(&text), [1, 1, 8]);
    let mut machine = on_simulator::start(&system).unwrap();
    let mut together = Together::new(8 / subcores);
    while matches!(machine.run(STEPS, &mut NoObserver), RunState::Running) {
        together.look(&machine);
    }
    let console = String::from_utf8(machine.take_console_output()).unwrap();
    for (name, vcpus) in PARTITIONS {
        let line = format!("[{name}] storm: {vcpus} vCPUs, 60 rounds each, 0 wrong");
        assert!(console.contains(&line), "{console}");
    }
    assert_eq!(together.wrong, [""; 0]);
    together
}

/// Several vCPUs of one partition run together, never two partitions, and the core goes from one to the other.
#[test]
fn a_core_is_in_one_partition_at_a_time() {
    let together = storms_on(1);
    assert_eq!(together.most_partitions, 1);
    assert!(together.most >= 3, "{} threads of one partition together", together.most);
    assert!(together.switches >= 10, "{} switches", together.switches);
}

/// The same of each part of a split core, and two of them run two partitions at a time.
#[test]
fn each_part_of_a_split_core_is_in_one_partition_at_a_time() {
    for (subcores, threads) in [(2, 3), (4, 2)] {
        let together = storms_on(subcores);
        assert!(together.most_partitions >= 2, "{subcores} parts, one partition");
        assert!(together.most >= threads, "{} threads of one partition together", together.most);
        assert!(together.switches >= 5, "{} switches", together.switches);
    }
}

/// Where two partitions take turns on a core, each has a part of a split one for itself.
#[test]
fn two_partitions_do_not_wait_for_each_other_on_a_split_core() {
    let ran = |subcores: u32| {
        let partition = |name: &str| {
            format!(
                "[[partition]]\nname = \"{name}\"\npayload = \"fairness\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
                 arguments = \"time=5000\"\n"
            )
        };
        let text = format!(
            "policy = {{ subcores = {subcores} }}\n{}{}[machine]\ndescription = \"power8\"\n",
            partition("one"),
            partition("other")
        );
        let (transcript, findings) = containment::watched(&on_threads(system_of(&text), [1, 1, 8]));
        let lines = transcript.lines();
        assert_eq!(findings, [""; 0], "{lines:?}");
        // "[one] fairness: 5000 us, ran 4526 of 10000, ..."
        let ran =
            |line: &String| Some(line.split_once("ran ")?.1.split_once(' ')?.0.parse().unwrap());
        lines.iter().filter(|line| line.contains("fairness:")).filter_map(ran).collect::<Vec<u32>>()
    };
    let [whole, parts] = [1, 2].map(ran);
    assert!(whole.len() == 2 && whole.iter().all(|ran| *ran < 8000), "{whole:?}");
    assert!(parts.len() == 2 && parts.iter().all(|ran| *ran > 9990), "{parts:?}");
}

/// vCPUs that take every interrupt, which go from part to part and from core to core.
#[test]
fn a_storm_of_exits_changes_nothing_on_split_cores() {
    for (subcores, topology) in [(1, [1, 1, 8]), (1, [1, 2, 8]), (2, [1, 1, 8]), (4, [1, 2, 8])] {
        let policy = format!("slice_us = 20\npolicy = {{ subcores = {subcores} }}\n");
        let changes = [("rounds=300", "rounds=100"), ("slice_us = 20\n", &*policy)];
        let system = on_power8(changed_system("examples/storm.toml", &changes));
        storms_well(&on_threads(system, topology), &format!("{subcores} parts, {topology:?}"));
    }
}

/// The nightly run has all modes.
#[test]
fn nobody_harms_the_others_on_split_cores() {
    let few = ["wild-store", "clocks", "storm"];
    let is_meant = |(mode, _): &(&str, &str)| is_nightly() || few.contains(mode);
    let parts = if is_nightly() { &[2, 4][..] } else { &[4] };
    for subcores in parts {
        let policy = format!("policy = {{ subcores = {subcores} }}\n");
        check(modes().filter(is_meant), &policy, [1, 1, 8], 4_000, |system| {
            let (transcript, findings) = containment::watched(system);
            assert_eq!(findings, [""; 0], "{subcores} parts: {:?}", transcript.lines());
            transcript
        });
    }
}

/// Three partitions take turns on two parts, which share an engine.
#[test]
fn parts_of_a_core_share_its_prefetch_engine() {
    let policy = "prefetch = \"always-l2\", threads_per_core = 1, subcores = 2";
    let system = with_policy(policy, [1, 1, 8]);
    let work = engine_changes_nothing(&system, "two parts", NoObserver);
    assert!(work.logs >= 4 && work.fetches >= 2, "{work:?}");
}

/// Three partitions of four vCPUs take turns on cores of four threads, whose engine logs and fetches for all four.
#[test]
fn threads_of_a_core_share_its_prefetch_engine() {
    let partition = |name: &str, payload: &str, arguments: &str| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"{payload}\"\nmemory = \"16 MiB\"\nvcpus = 4\n\
             arguments = \"{arguments}\"\n"
        )
    };
    let learns = is_nightly().then_some(("adaptive", 2, [2, 1]));
    for (policy, cores, least) in [("always-l2", 1, [4, 2])].into_iter().chain(learns) {
        let system = system_of(&format!(
            "slice_us = 150\npolicy = {{ prefetch = \"{policy}\" }}\n[machine]\ndescription = \"power8\"\n{}{}{}",
            partition("storm", "storm", "rounds=4"),
            partition("chain", "memory-load", "set=32 job=1000 for_us=700"),
            partition("stream", "memory-load", "way=stream set=128 job=64 for_us=700"),
        ));
        let system = on_threads(system, [1, cores, 4]);
        let lines = [
            "[storm] storm: 4 vCPUs, 4 rounds each, 0 wrong",
            "[chain] memory-load: chain of 32 KiB, done",
            "[stream] memory-load: stream of 128 KiB, done",
        ];
        let work = engine_leaves(&system, &format!("{policy}, {cores} cores"), lines, NoObserver);
        assert!(work.logs >= least[0] && work.fetches >= least[1], "{policy}: {work:?}");
    }
}

/// So many threads of each core, or of each part, run vCPUs, and the others stay with firmware.
#[test]
fn so_many_threads_run_vcpus() {
    let with = |policy: &str, topology| {
        let policy = format!("policy = {{ {policy} }}\n[[partition]]");
        let system = on_power8(changed_system("examples/smp.toml", &[("[[partition]]", &policy)]));
        let (transcript, findings) = containment::watched(&on_threads(system, topology));
        let lines = transcript.lines();
        assert_eq!(findings, [""; 0], "{lines:?}");
        assert_eq!(transcript.said().check_partitions(), Ok(()), "{lines:?}");
        let count =
            lines.iter().find_map(|line| line.strip_prefix("powervisor: hardware threads: "));
        count.expect("there are several").parse::<u32>().unwrap()
    };
    assert_eq!(with("threads_per_core = 3", [1, 2, 4]), 6);
    assert_eq!(with("threads_per_core = 99", [1, 2, 4]), 8);
    assert_eq!(with("threads_per_core = 1, subcores = 4", [1, 2, 8]), 8);
    assert_eq!(with("threads_per_core = 3, subcores = 2", [1, 1, 8]), 6);
    assert_eq!(with("prefetch = \"always-l2\", subcores = 2", [1, 1, 8]), 8);
    assert_eq!(with("prefetch = \"always-l2\", threads_per_core = 1, subcores = 2", [1, 1, 8]), 2);
}

#[test]
fn a_core_that_cannot_be_split_is_no_silent_whole_one() {
    let text = |processor: &str| {
        format!(
            "policy = {{ subcores = 2 }}\n[machine]\ndescription = \"{processor}\"\n[[partition]]\n\
             name = \"hello\"\npayload = \"hello\"\nmemory = \"8 MiB\"\nvcpus = 1\n"
        )
    };
    let refusal = on_simulator::start(&system_of(&text("power9"))).expect_err("no such core");
    let expected =
        "the cores of POWER9 cannot be split; leave `subcores = 2` out, or take the machine power8";
    assert!(refusal.to_string().contains(expected), "{refusal}");
    let timeout = std::time::Duration::from_secs(60);
    let system = system_of(&text("power8"));
    let refusal =
        on_qemu::transcript(&system, timeout, Interruption::NEVER).expect_err("it has none");
    assert!(refusal.to_string().contains("its cores cannot be split"), "{refusal}");
}
