//! The hypervisor on POWER8: the same partitions, all of which have hashed page tables there. QEMU's `powernv8` is the
//! judge, and our oracle watches.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use arch::interrupt::{Vector, wake};
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;
use arch::registers::{monitor, msr};
use lab::comparison::{Transcript, difference};
use lab::experiment::{Experiment, Variant};
use lab::interruption::Interruption;
use lab::system::{Exit, System};
use lab::user_file::Files;
use lab::{on_qemu, on_simulator};
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::oracle::engine::Tables;
use simulator::pipeline::Settings;
use simulator::state::power_saving::level;
use simulator::state::prefetch_engine::Work;
use simulator::state::shared::Shared;
use simulator::state::thread::{Activity, Thread};
use simulator::{Machine, NoObserver, Observer, Oracle, RunState};
use system_tests::containment::{
    self, MODES, harmless, misbehaving_with, on_power8, on_threads, victims,
};
use system_tests::{ALL, changed_system, is_nightly, number_from, system_of, systems, usual_files};

/// Generous: a run takes about two seconds.
const TIMEOUT: Duration = Duration::from_secs(300);

fn on_qemu(name: &str, system: &System) -> Transcript {
    on_qemu::transcript(system, TIMEOUT, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{name}: {failure}"))
}

/// One thread, and several cores of several threads each.
const TOPOLOGIES: [[u32; 3]; 2] = [[1, 1, 1], [1, 2, 2]];

/// Examples that ask for what POWER8 has not, apart from those that no test runs with the others.
const OF_POWER9: [&str; 1] = ["examples/hash.toml"];

/// The examples, each with its name: every other one, and in the nightly run all.
fn examples() -> Vec<(String, System)> {
    let files = usual_files().into_iter().filter(|file| file.starts_with("examples/"));
    let files: Vec<_> = files.filter(|file| !OF_POWER9.contains(&file.as_str())).collect();
    let step = if is_nightly() { 1 } else { 2 };
    let systems = files.iter().step_by(step).flat_map(|file| systems(file));
    systems.map(|(name, system)| (name, on_power8(system))).collect()
}

/// Runs the system on both machines and returns what ours showed.
#[track_caller]
fn assert_agreement(name: &str, system: &System) -> Transcript {
    let ours = on_simulator::transcript(system, TIMEOUT, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{name}: {failure}"));
    let qemu = on_qemu(name, system);
    if let Some(difference) = difference(&ours, &qemu) {
        panic!(
            "{name}: {difference}\n--- ours\n{}\n--- QEMU\n{}",
            String::from_utf8_lossy(&ours.console),
            String::from_utf8_lossy(&qemu.console)
        );
    }
    assert_eq!(ours.exit, Exit::PoweredOff, "{name}");
    assert_eq!(ours.said().check_partitions(), Ok(()), "{name}");
    ours
}

#[test]
fn every_example_does_the_same_on_both_machines() {
    for (name, system) in examples() {
        let ours = assert_agreement(&name, &system);
        let first =
            concat!("powervisor: ", env!("CARGO_PKG_VERSION"), " on POWER8, relocation off");
        assert!(ours.lines().iter().any(|line| line == first), "{name}: {:?}", ours.lines());
    }
}

/// Each core runs a partition, and calls others through the interrupt controller. What these print does not depend on
/// who runs when.
#[test]
fn several_cores_do_the_same_on_both_machines() {
    for file in ["examples/registers.toml", "examples/smp.toml", "examples/timer.toml"] {
        let (_, system) = systems(file).remove(0);
        let system = on_threads(on_power8(system), [1, 4, 1]);
        assert_agreement(&format!("{file} on four cores"), &system);
    }
}

/// What a partition prints depends on no processor.
#[test]
fn every_example_says_the_same_as_on_power9() {
    for file in ["examples/registers.toml", "examples/smp.toml", "examples/timer.toml"] {
        let (_, system) = systems(file).remove(0);
        let said = [on_power8(system.clone()), system].map(|system| {
            let (transcript, findings) = containment::watched(&system);
            assert_eq!(findings, [""; 0], "{file}: {:?}", transcript.lines());
            let lines = transcript.lines().into_iter();
            lines.filter(|line| !line.starts_with("powervisor:")).collect::<BTreeSet<_>>()
        });
        let [power8, power9] = said;
        assert_eq!(power8, power9, "{file}");
    }
}

/// The example runs to its end with nothing wrong, 100 rounds of each vCPU, and our oracle finds nothing.
#[track_caller]
pub(crate) fn storms_well(system: &System, about: &str) {
    let (transcript, findings) = containment::watched(system);
    let console = transcript.lines().join("\n");
    assert_eq!(findings, [""; 0], "{about}: {console}");
    for (name, vcpus) in [("first", 3), ("second", 2), ("third", 1)] {
        let line = format!("[{name}] storm: {vcpus} vCPUs, 100 rounds each, 0 wrong");
        assert!(console.contains(&line), "{about}: {console}");
    }
}

/// Translated kernels that take every interrupt, with what firmware asks for against speculation and without it.
#[test]
fn a_storm_of_exits_changes_nothing() {
    let kinds = TOPOLOGIES.iter().flat_map(|cores| ["firmware", "off"].map(|kind| (*cores, kind)));
    for (topology, mitigations) in kinds {
        let policy = format!("slice_us = 20\npolicy = {{ mitigations = \"{mitigations}\" }}");
        let changes = [("rounds=300", "rounds=100"), ("slice_us = 20", &*policy)];
        let system = on_power8(changed_system("examples/storm.toml", &changes));
        let system = on_threads(system, topology);
        storms_well(&system, &format!("{topology:?} {mitigations}"));
    }
}

/// Vectors move by other instructions than on POWER9. QEMU withholds no facility: there they move from the start.
#[test]
fn vectors_stay_with_the_vcpu_that_uses_them() {
    let changes = [("seed=1", "seed=1 vectors=1"), ("seed=2", "seed=2 vectors=1")];
    let system = on_power8(changed_system("examples/registers.toml", &changes));
    let (ours, findings) = containment::watched(&system);
    assert_eq!(findings, [""; 0], "{:?}", ours.lines());
    for transcript in [ours, on_qemu("vectors", &system)] {
        let lines = transcript.lines();
        for name in ["first", "second", "third"] {
            let expected = format!("[{name}] registers: 200 rounds, 0 wrong");
            assert!(lines.contains(&expected), "{lines:?}");
        }
    }
}

/// Modes whose end is another one here, or that are about what the processor has not.
const OTHER_ENDS: [(&str, Option<&str>); 3] = [
    // Two of the instructions name a register that ISA 2.07 has not, which privileged software may do.
    ("instructions", Some("[misbehave] misbehave: 19 of 21 instructions refused, MSR kept: true")),
    // A decrementer of 32 bits wakes a vCPU in time.
    ("sleep", None),
    // It registers a table of radix trees.
    ("tables", None),
];

/// What a partition with a hashed page table can do beside that, and how it ends.
const OF_TABLES: [(&str, &str); 5] = [
    // An entry has more bits of a virtual segment's number than on POWER9.
    ("hash-enter", "[misbehave] misbehave: 1 of 1032 wrong entries taken"),
    ("hash-two-sizes", "stopped: unhandled Machine Check interrupt (0x200)"),
    ("hash-full", "stopped: its hashed page table is full where a page belongs"),
    ("hash-race", "stopped: it used up its time limit"),
    ("hash-resize", "[misbehave] misbehave: 12 changes of size, 0 entries lost, [0, 0, -16, 2]"),
];

pub(crate) fn modes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let end = |(mode, end): (&'static str, &'static str)| {
        let other = OTHER_ENDS.iter().find(|(other, _)| *other == mode);
        other.map_or(Some(end), |(_, end)| *end).map(|end| (mode, end))
    };
    MODES.into_iter().chain(OF_TABLES).filter_map(end)
}

/// Each mode ends as it should and harms nobody; `policy` is a line of the file.
pub(crate) fn check(
    modes: impl Iterator<Item = (&'static str, &'static str)>,
    policy: &str,
    topology: [u32; 3],
    time_limit_us: u64,
    run: impl Fn(&System) -> Transcript,
) {
    let alone = victims(&run(&on_threads(on_power8(harmless()), topology)));
    assert_eq!(alone.len(), 2, "{topology:?} without it: {alone:?}");
    let calls = number_from("POWERVISOR_RANDOM_CALLS", 1500);
    for (mode, end) in modes {
        let system = on_power8(misbehaving_with(mode, calls, time_limit_us, policy));
        let transcript = run(&on_threads(system, topology));
        let wrong = containment::check(&transcript, &alone);
        wrong.unwrap_or_else(|wrong| panic!("{mode} {topology:?}: {wrong}"));
        let lines = transcript.lines();
        let ends_so = lines.iter().any(|line| line.contains(end));
        assert!(ends_so, "{mode} {topology:?}: not \"{end}\"\n{lines:?}");
    }
}

/// The nightly run has all modes, on several cores too.
#[test]
fn nobody_harms_the_others_on_our_machine() {
    let on_one = [
        "wild-load",
        "wild-store",
        "instructions",
        "wild-states",
        "hypercalls",
        "storm",
        "requests",
        "restart",
        "registers",
        "clocks",
        "doorbells",
        "hash-enter",
        "hash-two-sizes",
        "hash-full",
        "hash-race",
        "hash-resize",
    ];
    let on_several = ["wild-store", "restart", "hash-race", "hash-resize"];
    for topology in TOPOLOGIES {
        let few = if topology == [1, 1, 1] { &on_one[..] } else { &on_several };
        let is_meant = |(mode, _): &(&str, &str)| is_nightly() || few.contains(mode);
        check(modes().filter(is_meant), "", topology, 4_000, |system| {
            let (transcript, findings) = containment::watched(system);
            assert_eq!(findings, [""; 0], "{topology:?}: {:?}", transcript.lines());
            transcript
        });
    }
}

/// How QEMU ends otherwise: it knows no machine check for two sizes, and storage keys count there with relocation off,
/// so that a kernel that writes anything to AMR is stopped (`docs/caveats/qemu.md`).
const NOT_ON_QEMU: [&str; 2] = ["hash-two-sizes", "registers"];

/// A change of size has up to 512 pieces, each with all vCPUs called back: on four of QEMU's threads, which had fewer
/// processors, twelve took more than 250 s.
const NOT_ON_QEMUS_CORES: [&str; 1] = ["hash-resize"];

/// The nightly run has all modes but [some](NOT_ON_QEMU), and on several cores but [more](NOT_ON_QEMUS_CORES).
#[test]
fn nobody_harms_the_others_on_qemu() {
    // QEMU runs fewer instructions in the same time.
    for (topology, few) in
        [([1, 1, 1], &["wild-store", "restart", "hash-full"][..]), ([1, 4, 1], &["requests"])]
    {
        let is_meant = |(mode, _): &(&str, &str)| {
            !NOT_ON_QEMU.contains(mode)
                && (topology == [1, 1, 1] || !NOT_ON_QEMUS_CORES.contains(mode))
                && containment::runs_on_qemu(mode)
                && (is_nightly() || few.contains(mode))
        };
        let run = |system: &System| on_qemu("a partition that misbehaves", system);
        check(modes().filter(is_meant), "", topology, 500_000, run);
    }
}

/// All threads of a core run vCPUs, unless each core is one partition's by policy: then one of them does, and the
/// others stay with firmware.
#[test]
fn all_threads_of_a_core_run_vcpus_or_one_by_policy() {
    let only = ("[[partition]]", "policy = { one_partition_per_core = true }\n[[partition]]");
    for (changes, threads) in [(&[][..], 8), (&[only], 2)] {
        let system = on_power8(changed_system("examples/smp.toml", changes));
        let (transcript, findings) = containment::watched(&on_threads(system, [1, 2, 4]));
        let lines = transcript.lines();
        assert_eq!(findings, [""; 0], "{lines:?}");
        let line = format!("powervisor: hardware threads: {threads}");
        assert!(lines.contains(&line), "{lines:?}");
        assert_eq!(transcript.said().check_partitions(), Ok(()), "{lines:?}");
    }
}

/// The share of a core that a partition gets is that of its weight, also where it has fewer vCPUs than the core has
/// threads: all partitions have one here.
#[test]
fn partitions_share_a_core_by_weight() {
    let partition = |(name, weight): (&str, u32)| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"fairness\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
             weight = {weight}\narguments = \"time=10000\"\n"
        )
    };
    let partitions = [("heavy", 1000), ("light", 100), ("other", 100)].map(partition).concat();
    let text = format!("slice_us = 100\n{partitions}[machine]\ndescription = \"power8\"\n");
    let (transcript, findings) = containment::watched(&on_threads(system_of(&text), [1, 1, 8]));
    let lines = transcript.lines();
    assert_eq!(findings, [""; 0], "{lines:?}");
    // "[heavy] fairness: 10000 us, ran 8103 of 10000, ..."
    let share = |name: &str| {
        let line = lines.iter().find(|line| line.starts_with(&format!("[{name}] fairness:")));
        let words: Vec<&str> = line.expect("it ends").split(' ').collect();
        words[words.iter().position(|word| *word == "ran").unwrap() + 1].parse::<u32>().unwrap()
    };
    let [heavy, light, other] = ["heavy", "light", "other"].map(share);
    assert!((7700..=8700).contains(&heavy), "{heavy}");
    assert!([light, other].iter().all(|share| (600..=1300).contains(share)), "{light} {other}");
}

/// How many naps have ended, by thread and by the reason in SRR1.
#[derive(Default)]
struct Naps {
    ended: BTreeMap<(usize, u64), u64>,
}

impl Naps {
    /// How many naps of any thread have ended for this reason.
    fn ended_for(&self, reason: u64) -> u64 {
        let of_reason = self.ended.iter().filter(|((_, other), _)| *other == reason);
        of_reason.map(|(_, count)| count).sum()
    }
}

impl Observer for Naps {
    const SEES_INSTRUCTIONS: bool = false;

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        let status = thread.spr(Spr::Srr1);
        if taken.vector == Vector::SystemReset {
            assert_eq!(status & wake::ALL_LOST, wake::THREAD_LOST, "{status:#x}");
            *self.ended.entry((thread.index, status & wake::REASON)).or_default() += 1;
        }
    }

    /// A partition has all keys.
    fn returned(&mut self, thread: &Thread, _: &Shared, _: Mode) {
        assert!(thread.is_hypervisor() || thread.spr(Spr::Amor) == u64::MAX);
    }
}

fn is_napping(machine: &Machine, thread: usize) -> bool {
    let Thread { activity, asked, .. } = &machine.state().threads[thread];
    *activity == Activity::Stopped && asked.level == level::NAP
}

/// Two vCPUs, of which one wakes the other or is woken by its timer: before it sleeps, while its thread goes to sleep,
/// and later.
fn that_wakes(test: &str, samples: u32, seed: u32) -> System {
    system_of(&format!(
        "[[partition]]\nname = \"idle\"\npayload = \"idle\"\nmemory = \"16 MiB\"\nvcpus = 2\n\
         arguments = \"test={test} state=cede samples={samples} ticks=300 chance=1500 seed={seed}\"\n[machine]\n\
         description = \"power8\"\n"
    ))
}

/// A thread naps from when its vCPU waits until that one's time comes, or until another thread calls it, of its core or
/// of another one. What wakes it comes at every moment of its way into the nap, and out of the one before.
#[test]
fn no_wake_up_is_lost_whenever_it_comes_to_a_nap() {
    for (test, reason) in [("timer", wake::DECREMENTER), ("ipi", wake::EXTERNAL)] {
        for (topology, seed, timing) in
            [([1, 1, 2], 1, false), ([1, 2, 1], 2, false), ([1, 2, 2], 3, true)]
        {
            let samples = if timing { 20 } else { 120 };
            let system = on_threads(that_wakes(test, samples, seed), topology);
            let mut machine = on_simulator::start(&system).unwrap();
            if timing {
                machine.start_timing(Settings::default());
            }
            let (mut naps, mut oracle) = (Naps::default(), Oracle::new(Processor::Power8));
            let end = machine.run(ALL, &mut (&mut naps, &mut oracle));
            let console = String::from_utf8(machine.take_console_output()).unwrap();
            let context =
                format!("{test} {topology:?} timing {timing}: {:?}\n{console}", naps.ended);
            assert!(matches!(end, RunState::PoweredOff), "{end:?}: {context}");
            let line = format!("idle: {test}, {samples} samples, 0 spurious interrupts");
            assert!(console.contains(&line), "{context}");
            let findings: Vec<_> = oracle.findings().iter().map(ToString::to_string).collect();
            assert!(findings.is_empty(), "{findings:#?}: {context}");
            // Whom nobody wakes finds out when the decrementer has run down, 4 s later.
            let (_, listed) = console.split_once("samples: ").expect("it lists them");
            let listed = listed.split_whitespace().map_while(|word| word.parse::<u64>().ok());
            let late = listed.filter(|ticks| *ticks > 20_000).count();
            assert_eq!(late, 0, "{context}");
            // A wake-up that comes before its vCPU sleeps ends no nap.
            assert!(naps.ended_for(reason) > u64::from(samples) / 4, "{context}");
        }
    }
}

/// Threads that have nothing to do take no instruction from those of their core that have.
#[test]
fn a_thread_without_a_vcpu_naps() {
    let (_, system) = systems("examples/hello.toml").remove(0);
    let mut machine = on_simulator::start(&on_threads(on_power8(system), [1, 1, 8])).unwrap();
    assert!(matches!(machine.run(ALL, &mut NoObserver), RunState::PoweredOff));
    let completed: Vec<u64> =
        machine.state().threads.iter().map(|thread| thread.completed).collect();
    let most = completed.iter().max().unwrap();
    assert!(completed.iter().filter(|count| **count * 20 < *most).count() >= 6, "{completed:?}");
}

/// A machine of two threads whose only vCPU works on the first one, and whose second one naps.
fn with_a_thread_that_naps() -> Machine {
    let system = system_of(
        "[[partition]]\nname = \"works\"\npayload = \"fairness\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         arguments = \"time=1000000\"\n[machine]\ndescription = \"power8\"\n",
    );
    let mut machine = on_simulator::start(&on_threads(system, [1, 2, 1])).unwrap();
    while machine.state().threads[0].is_hypervisor() || !is_napping(&machine, 1) {
        assert!(matches!(machine.run(1000, &mut NoObserver), RunState::Running));
    }
    machine
}

/// Calls thread 1 as another thread would that has set its flag long before.
fn call(machine: &mut Machine) {
    let now = machine.state().threads[0].time_now().cycles();
    let (_, shared) = machine.parts_mut();
    shared.xics.set_mfrr(1, 4);
    shared.drive_lines(now);
}

/// A call whose flag its thread has cleared already, at each instruction of its way out of a nap and into the next one:
/// it ends a nap and is gone.
#[test]
fn a_call_that_comes_late_ends_one_nap_and_no_other() {
    const STEPS: u64 = 800;
    let mut machine = with_a_thread_that_naps();
    let mut places = BTreeSet::new();
    let mut naps = Naps::default();
    for steps in 0..STEPS {
        call(&mut machine);
        machine.run(steps, &mut naps);
        places.insert(machine.state().threads[1].nia);
        call(&mut machine);
        let is_over = |machine: &Machine| {
            is_napping(machine, 1) && !machine.state().shared.signals(1).external
        };
        let settles = (0..10).any(|_| {
            machine.run(1000, &mut naps);
            is_over(&machine)
        });
        assert!(settles, "{steps}: {:?}", naps.ended);
    }
    assert!(places.len() > 100, "{places:x?}");
    let ended = naps.ended[&(1, wake::EXTERNAL)];
    assert!((STEPS..=2 * STEPS).contains(&ended), "{ended}");
}

/// A system reset that somebody asks for is none that ends a nap.
#[test]
fn a_system_reset_is_reported_while_its_thread_naps() {
    let mut machine = with_a_thread_that_naps();
    let (_, shared) = machine.parts_mut();
    shared.signal(1, 0, |signals| signals.system_reset = true);
    let end = machine.run(ALL, &mut NoObserver);
    let console = String::from_utf8(machine.take_console_output()).unwrap();
    assert!(matches!(end, RunState::PoweredOff), "{end:?}: {console}");
    assert!(
        console.contains("panic: System Reset interrupt (0x100) in the hypervisor"),
        "{console}"
    );
}

/// A partition that asks for radix translation gets a clear refusal.
#[test]
fn radix_translation_is_refused_by_name() {
    let changes = [("[[partition]]", "[[partition]]\ntranslation = \"radix\"")];
    let system = on_power8(changed_system("examples/hello.toml", &changes));
    let (transcript, _) = containment::watched(&system);
    let refusal = "powervisor: error: partition: hello: POWER8 has no radix translation: give the partition \
                   translation = \"hash\"";
    assert!(transcript.lines().iter().any(|line| line == refusal), "{:?}", transcript.lines());
}

/// A partition that checks its registers, with those of the performance monitor, and two that together use more memory
/// than the L2 has room for, with this policy.
pub(crate) fn with_policy(policy: &str, topology: [u32; 3]) -> System {
    let partition = |name: &str, payload: &str, arguments: &str| {
        let has_monitor = name == "registers";
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"{payload}\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
             arguments = \"{arguments}\"\nperformance_monitor = {has_monitor}\n"
        )
    };
    let system = system_of(&format!(
        "slice_us = 200\npolicy = {{ {policy} }}\n[machine]\ndescription = \"power8\"\n{}{}{}",
        partition("registers", "registers", "rounds=100"),
        partition("chain", "working-set", "set=64 for_us=1500"),
        partition("order", "working-set", "way=order set=1024 for_us=1500"),
    ));
    on_threads(system, topology)
}

/// The hypervisor's heap on this machine, as its line says that names the machine.
const HEAP: Range<u64> = 0x20_0000..0x420_0000;

/// What the engines have done when such a system ends.
pub(crate) fn engine_changes_nothing(
    system: &System,
    about: &str,
    observer: impl Observer,
) -> Work {
    let lines = [
        "[registers] registers: 100 rounds, 0 wrong",
        "[chain] working-set: chain of 64 KiB, done",
        "[order] working-set: order of 1024 KiB, done",
    ];
    engine_leaves(system, about, lines, observer)
}

/// What the engines have done when a system ends that prints these lines: they log into the hypervisor's heap and
/// nowhere else, and our oracle finds nothing.
pub(crate) fn engine_leaves(
    system: &System,
    about: &str,
    lines: [&str; 3],
    observer: impl Observer,
) -> Work {
    let mut machine = on_simulator::start(system).unwrap();
    machine.start_timing(Settings::default());
    let (mut oracle, mut tables) = (Oracle::new(Processor::Power8), Tables::default());
    tables.allow(HEAP);
    let end = machine.run(ALL, &mut (&mut oracle, (&mut tables, observer)));
    let console = String::from_utf8(machine.take_console_output()).unwrap();
    let context = format!("{about}: {console}");
    assert!(matches!(end, RunState::PoweredOff), "{end:?}; {context}");
    assert!(console.contains("heap 64 MiB at 0x0000000000200000"), "{context}");
    for line in lines {
        assert!(console.contains(line), "{context}");
    }
    let findings: Vec<String> = oracle.findings().iter().map(ToString::to_string).collect();
    assert_eq!(findings, [""; 0], "{context}");
    assert_eq!(tables.findings(), [], "{context}");
    let works = machine.state().shared.cores.iter().map(|core| core.engine.work);
    works.fold(Work::default(), Work::plus)
}

/// Where each partition, of one vCPU, goes on when another one has had its core.
#[derive(Default)]
struct Hops {
    /// By core: the LPID that was there last.
    there: BTreeMap<usize, u64>,
    /// By LPID: the core that it was on last.
    on: BTreeMap<u64, usize>,
    /// How often one came to a core that another one had.
    stays: u32,
    /// How often of these it came from another core.
    hops: u32,
}

impl Observer for Hops {
    const SEES_INSTRUCTIONS: bool = false;

    fn returned(&mut self, thread: &Thread, _: &Shared, _: Mode) {
        let (core, lpid) = (thread.core, thread.spr(Spr::Lpidr));
        if thread.msr() & msr::HV != 0 || self.there.insert(core, lpid) == Some(lpid) {
            return;
        }
        self.stays += 1;
        self.hops += u32::from(self.on.insert(lpid, core).is_some_and(|last| last != core));
    }
}

/// How often a partition was entered whose misses the hypervisor counts, and how often one that has the performance
/// monitor.
#[derive(Default)]
struct Counted {
    of_others: u32,
    by_itself: u32,
}

impl Observer for Counted {
    const SEES_INSTRUCTIONS: bool = false;

    fn returned(&mut self, thread: &Thread, _: &Shared, _: Mode) {
        if thread.msr() & msr::HV != 0 {
            return;
        }
        if thread.spr(Spr::Hfscr) & Facility::Pm.bit() != 0 {
            self.by_itself += 1;
            return;
        }
        // PM_DATA_FROM_L2MISS and PM_DATA_FROM_L3MISS, wherever the hypervisor is not, from the first trial on.
        let [control, events, freezes] =
            [Spr::Mmcr0, Spr::Mmcr1, Spr::Mmcr2].map(|spr| thread.spr(spr));
        if control == monitor::FCH {
            assert_eq!([events, freezes], [0x00FE_FE00, 0]);
            self.of_others += 1;
        } else {
            assert_eq!(control & monitor::FC, monitor::FC, "nothing counts");
        }
    }
}

/// `adaptive` counts the misses of who has no performance monitor, and leaves who has one alone.
#[test]
fn adaptive_counts_misses_where_nobody_has_the_monitor() {
    let system = with_policy("prefetch = \"adaptive\"", [1, 1, 1]);
    let mut counted = Counted::default();
    let work = engine_changes_nothing(&system, "adaptive", &mut counted);
    assert!(work.logs >= 2 && work.fetches > 0, "{work:?}");
    let Counted { of_others, by_itself } = counted;
    assert!(of_others > 10 && by_itself > 10, "{of_others}, {by_itself}");
}

/// The engine logs into the hypervisor's heap and nowhere else, fetches, and changes nothing that anybody sees, while
/// vCPUs move between cores and, in the nightly run, on one core.
#[test]
fn the_prefetch_engine_changes_nothing_but_time() {
    let nightly = [("always-l2-l3", 1, 3)].into_iter().filter(|_| is_nightly());
    for (policy, cores, logs) in [("always-l2", 2, 3)].into_iter().chain(nightly) {
        let context = format!("{policy}, {cores} cores");
        let system = with_policy(&format!("prefetch = \"{policy}\""), [1, cores, 1]);
        let mut hops = Hops::default();
        let work = engine_changes_nothing(&system, &context, &mut hops);
        let lines = work.fetched + work.found;
        assert!(work.logs >= logs && work.fetches > 0 && lines > 1000, "{work:?}; {context}");
        let Hops { stays, hops, .. } = hops;
        assert!(cores == 1 || hops > stays / 8, "{hops} hops in {stays} stays; {context}");
    }
}

/// With the patch of 2014 a fetch begins while the core's engine logs: our machine stops there, and says why.
#[test]
fn the_patch_of_2014_is_found_out() {
    let experiment = Experiment::named(Path::new("fits-l1"), &Files::default()).unwrap();
    let faithful = experiment.variants.iter().find(|variant| variant.name == "faithful");
    let strict = Variant { set: Vec::new(), ..faithful.expect("it is there").clone() };
    let mut machine = on_simulator::start(&experiment.system(&strict, 1).unwrap()).unwrap();
    machine.start_timing(Settings::default());
    let RunState::Stopped(report) = machine.run(ALL, &mut NoObserver) else { panic!("it stops") };
    let expected = "MPPR asks for a fetch while the core's engine is still logging";
    assert!(report.to_string().contains(expected), "{report}");
}

/// So many tables do not fit into the hypervisor's heap.
#[test]
fn tables_without_room_are_refused() {
    let partition = |number| {
        format!(
            "[[partition]]\nname = \"p{number}\"\npayload = \"hello\"\nmemory = \"8 MiB\"\nvcpus = 64\n"
        )
    };
    let partitions: String = (0..8).map(partition).collect();
    let text = format!(
        "policy = {{ prefetch = \"always-l2-l3\" }}\n{partitions}[machine]\ndescription = \"power8\"\n"
    );
    let (transcript, _) = containment::watched(&system_of(&text));
    let line = transcript.lines().into_iter().find(|line| line.contains("prefetch engine"));
    let expected = "powervisor: error: prefetch engine: the heap has no room for a table of each vcore of 512 \
                    vCPUs; use fewer of them or more threads of each core, or always-l2, whose tables are smaller";
    assert_eq!(line.as_deref(), Some(expected));
    assert_eq!(transcript.exit, Exit::PoweredOff);
}
