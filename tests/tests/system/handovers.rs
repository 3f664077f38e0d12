//! The experiments that hand a hardware thread over, and those that interrupt a vCPU: how often what happens, and that
//! registers survive. Nothing here is about speed.

use arch::interrupt::Vector;
use arch::marker::{Mark, Region};
use lab::experiment::{Experiment, Variant};
use lab::extent::Extent;
use lab::interruption::Interruption;
use lab::progress::Unseen;
use lab::timed::{self, Timing};
use lab::trial::Trial;
use lab::user_file::Files;
use simulator::blocks::Op;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::pipeline::{LONGEST_QUANTUM, Settings};
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Counts, Observer, RegionCounts, RunState};
use system_tests::{SEED, root, run_watched, system_of};

fn experiment(name: &str) -> Experiment {
    let path = root().join("experiments").join(name);
    Experiment::read(&path, &Files::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

/// What was counted in a variant's region.
fn counts(experiment: &Experiment, variant: &Variant) -> Counts {
    let system = experiment.system(variant, SEED).unwrap_or_else(|failure| panic!("{failure}"));
    let mut machine = lab::on_simulator::start(&system).unwrap();
    if let Some(vector) = variant.begins {
        machine.begin_at(vector, variant.region.0);
    }
    let mut counts = RegionCounts::new();
    let end = machine.run(u64::MAX, &mut counts);
    assert!(matches!(end, RunState::PoweredOff), "{}: {end:?}", variant.name);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    for line in &variant.expect {
        let found = console.lines().any(|found| found.trim_end() == line);
        assert!(found, "{}: no line {line:?} in\n{console}", variant.name);
    }
    let number = variant.region.0.number();
    let found = counts.regions().find(|(region, _)| *region == number);
    found.unwrap_or_else(|| panic!("{}: no region {number}", variant.name)).1.clone()
}

#[test]
fn each_switch_is_one_exit_out_of_one_vcpu_and_into_the_other() {
    let experiment = experiment("world-switch.toml");
    assert_eq!(experiment.variants[0].name, "full", "the first row is the headline");
    for variant in experiment.variants.iter().filter(|variant| variant.region.0.number() == 1) {
        let counts = counts(&experiment, variant);
        let rounds = match variant.name.rsplit_once('-') {
            Some((_, "cold")) => 50,
            Some((_, "turns")) => 1000,
            _ => 500,
        };
        assert_eq!((counts.begun, counts.ended), (rounds, rounds), "{}", variant.name);
        assert_eq!(counts.hypercalls, rounds, "{}: {counts:?}", variant.name);
    }
}

/// A vCPU has to ask again for five facilities each 256 switches, whatever it does between.
#[test]
fn who_uses_every_facility_in_turn_is_asked_in_one_of_fifty_switches() {
    let experiment = experiment("world-switch.toml");
    let variant = experiment.variants.iter().find(|variant| variant.name == "plain-turns").unwrap();
    let counts = counts(&experiment, variant);
    let asked = counts.exits[&Vector::HypervisorFacilityUnavailable];
    let times = counts.begun / 256;
    assert!((5 * times..=5 * (times + 1)).contains(&asked), "{asked}: {counts:?}");
}

#[test]
fn the_work_behind_a_switch_is_the_same_as_the_work_once_more() {
    let experiment = experiment("world-switch.toml");
    let of = |name: &str| {
        let variant = experiment.variants.iter().find(|variant| variant.name == name).unwrap();
        counts(&experiment, variant)
    };
    for [behind, again] in
        [["after-plain", "after-plain-again"], ["after-full", "after-full-again"]]
            .map(|pair| pair.map(of))
    {
        assert_eq!(behind.guest_instructions, again.guest_instructions);
        assert_eq!((behind.hypercalls, again.hypercalls), (0, 0));
        assert_eq!(behind.begun, again.begun);
    }
}

/// Reads and writes of special-purpose registers that a step of the exit ladder leaves out, of one exit.
const LEFT_OUT: [(&str, [u64; 2]); 16] = [
    ("wort", [1, 2]),
    ("timer-reads", [3, 0]),
    ("amor", [0, 1]),
    ("monitor-forced", [13, 0]),
    ("monitor", [13, 28]),
    ("enables", [0, 0]),
    ("account-reads", [4, 0]),
    ("interleaved", [0, 0]),
    // AMR and FSCR are compared as the vCPU leaves in any case.
    ("unchanged", [0, 10]),
    ("canary", [0, 1]),
    ("seldom", [2, 9]),
    ("ebb-tm", [6, 6]),
    ("vrsave", [1, 1]),
    ("context", [0, 0]),
    ("psscr", [0, 2]),
    ("tlbsync", [0, 0]),
];

#[test]
fn each_step_of_the_exit_ladder_leaves_out_what_its_patch_did_and_nothing_else() {
    let experiment = experiment("exit-ladder.toml");
    let of = |name: &str| {
        let variant = experiment.variants.iter().find(|variant| variant.name == name).unwrap();
        let Counts { spr_reads, spr_writes, hypercalls, .. } = counts(&experiment, variant);
        [spr_reads, spr_writes].map(|accesses| accesses / hypercalls)
    };
    let fewer = |before: [u64; 2], after: [u64; 2]| [before[0] - after[0], before[1] - after[1]];
    let steps = &experiment.steps.as_ref().unwrap().steps;
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names[..16], LEFT_OUT.map(|(name, _)| name));
    assert_eq!(names[16..], ["released", "full"]);
    let first = of("eager");
    let mut before = first;
    for (step, (name, expected)) in steps.iter().zip(LEFT_OUT) {
        let through = of(&step.through);
        assert_eq!(fewer(before, through), expected, "{name} behind the others");
        assert_eq!(fewer(first, of(step.alone.as_ref().unwrap())), expected, "{name} alone");
        before = through;
    }
    let [released, full] = ["through-released", "through-full"].map(of);
    assert!(released[1] == 0 && full == [3, 0], "{released:?} {full:?}");
}

/// Adds up how long a region is open, by the threads' clocks.
struct Clock {
    region: Region,
    /// One that has just been passed: it takes its own time, and an observer sees it before.
    passed: Option<Mark>,
    began: Option<u64>,
    cycles: u64,
}

impl Clock {
    /// What follows the last instruction begins.
    fn look(&mut self, thread: &Thread) {
        let now = thread.time_now().cycles();
        match self.passed.take() {
            Some(Mark::Begin(_)) => self.began = Some(now),
            Some(Mark::End(_)) => self.cycles += self.began.take().map_or(0, |began| now - began),
            None => {}
        }
    }
}

impl Observer for Clock {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        self.look(thread);
        self.passed = Mark::from_word(op.word).filter(|mark| {
            matches!(mark, Mark::Begin(region) | Mark::End(region) if *region == self.region)
        });
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, _: Taken) {
        self.look(thread);
    }
}

#[test]
fn a_region_is_charged_what_passes_while_it_is_open() {
    let experiment = experiment("interrupt-exit.toml");
    for name in ["doorbell", "timer"] {
        let variant = experiment.variants.iter().find(|variant| variant.name == name).unwrap();
        let region = variant.region.0;
        let timing = Timing {
            region: Some(region),
            extent: Extent::Repeated,
            settings: Settings::default(),
        };
        let mut machine = timed::start(&experiment.system(variant, SEED).unwrap(), timing).unwrap();
        let mut clock = Clock { region, passed: None, began: None, cycles: 0 };
        let end = machine.run(u64::MAX, &mut clock);
        assert!(matches!(end, RunState::PoweredOff), "{name}: {end:?}");
        let charged = machine.charges().unwrap().of_region().total(0);
        assert!(clock.cycles > 0 && charged == clock.cycles, "{name}: {charged}, {}", clock.cycles);
    }
}

#[test]
fn each_event_is_taken_once() {
    let experiment = experiment("interrupt-exit.toml");
    // Hypercalls of an event: H_IPI, and H_XIRR, H_IPI and H_EOI of the handler.
    for (name, hypercalls) in [
        ("doorbell", 1),
        ("doorbell-resumed", 4),
        ("external", 1),
        ("external-resumed", 4),
        ("timer", 0),
        ("timer-resumed", 0),
    ] {
        let variant = experiment.variants.iter().find(|variant| variant.name == name).unwrap();
        let counts = counts(&experiment, variant);
        assert_eq!((counts.begun, counts.ended), (200, 200), "{name}");
        assert_eq!(counts.hypercalls, 200 * hypercalls, "{name}: {counts:?}");
    }
    let variant = experiment.variants.last().unwrap();
    assert_eq!(variant.name, "hypervisor-decrementer");
    let counts = counts(&experiment, variant);
    assert_eq!(
        (counts.begun, counts.begun),
        (counts.ended, counts.exits[&Vector::HypervisorDecrementer])
    );
    // The call with which each side ends may come between a slice's end and the other side's code.
    assert!(counts.begun > 100 && counts.hypercalls <= 2, "{counts:?}");
}

#[test]
fn a_partner_that_weighs_more_still_gets_the_processor_once_for_each_time_that_it_is_given() {
    let text = |weight: u32| {
        format!(
            r#"name = "unequal"
               question = "Is a switch a switch?"
               machine = "power9"
               payload = "world-switch"
               memory = "16 MiB"
               region = {{ name = "switch", number = 1 }}
               per = "switch"
               [[variant]]
               name = "plain"
               arguments = "side=begin state=plain rounds=100"
               expect = "world-switch: 100 switches, 0 wrong"
               partner = [{{ name = "partner", arguments = "side=end state=plain rounds=100 seed=2", weight = {weight}, expect = "world-switch: 100 switches, 0 wrong" }}]"#
        )
    };
    let [equal, unequal] = [100, 300].map(|weight| {
        let mut counts = RegionCounts::new();
        let end = run_watched(&system_of(&text(weight)), &mut counts);
        assert!(matches!(end, RunState::PoweredOff), "{end:?}");
        let (_, counts) = counts.regions().find(|(region, _)| *region == 1).unwrap();
        counts.clone()
    });
    assert_eq!((equal.begun, equal.ended), (100, 100));
    assert_eq!((unequal.begun, unequal.ended), (100, 100));
}

/// Two partitions take turns on a core: all of its threads come out by one interrupt, and once, and go in again.
#[test]
fn a_core_changes_hands_with_one_exit_of_each_of_its_threads() {
    let experiment = experiment("vcore-switch.toml");
    let of_several = ["two", "four"];
    for variant in experiment.variants.iter().filter(|it| of_several.contains(&it.name.as_str())) {
        let counts = counts(&experiment, variant);
        let Counts { begun, ended, .. } = counts;
        assert_eq!(begun, ended, "{}", variant.name);
        let exits = counts.exits[&Vector::HypervisorDecrementer];
        // Whoever starts and ends a vCPU wants the core now and then.
        assert!(begun >= 40 && exits <= begun + begun / 10, "{}: {counts:?}", variant.name);
    }
}

/// Where several threads begin a region, its cycles are those of all of them, as its instructions are.
#[test]
fn a_region_of_several_threads_has_the_cycles_of_all_of_them() {
    let experiment = experiment("vcore-switch.toml");
    let variant = experiment.variants.iter().find(|variant| variant.name == "two").unwrap();
    let (quantum, limit, interruption) = (LONGEST_QUANTUM, Some(u64::MAX), Interruption::NEVER);
    let trial =
        Trial::new(&experiment, variant, SEED, quantum, limit, &Unseen, interruption).unwrap();
    let outcome = trial.time(false, false).unwrap();
    let cycles = outcome.measured.cycles.unwrap().value;
    assert_eq!(cycles, outcome.ledger.elapsed_thread_cycles);
    let instructions = outcome.measured.counts.hypervisor_instructions;
    // A thread has four of eight dispatch slots.
    assert!(instructions < 4 * cycles, "{instructions} in {cycles}");
}
