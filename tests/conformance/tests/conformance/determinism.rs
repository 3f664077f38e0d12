//! A rule's run with several threads is the same run however it is done: again, watched, in pieces, without
//! shortcuts, or saved and restored on the way.

use conformance::assemble;
use conformance::rule::{self, Rule};
use conformance::simulator::PATIENCE;
use simulator::blocks::Op;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Machine, NoObserver, Observer, RegionCounts, RunState};

/// Sees everything and remembers the order in which it happened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Witness {
    digest: u64,
    instructions: u64,
    /// Threads, and offsets of vectors.
    interrupts: Vec<(usize, u64)>,
    calls: Vec<(usize, u64)>,
}

impl Observer for Witness {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        let what = thread.cia ^ u64::from(op.word.0) << 32 ^ (thread.index as u64) << 24;
        self.digest = (self.digest ^ what).wrapping_mul(0x0000_0100_0000_01B3);
        self.instructions += 1;
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        self.interrupts.push((thread.index, taken.vector.offset()));
    }

    fn firmware_called(&mut self, thread: &Thread, token: u64) {
        self.calls.push((thread.index, token));
    }
}

/// The rules with several threads or cores, and their images; not those whose machines fail from outside.
fn rules() -> Vec<(Rule, Vec<u8>)> {
    let has_several = |rule: &Rule| {
        let file = &rule.file;
        file.maintenance.is_empty() && (file.threads.is_some() || file.cores.is_some())
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = |rule: Rule| {
        let image = assemble::assemble(&rule, rule.file.processors[0], folder.path());
        (rule, image)
    };
    rule::all().into_iter().filter(has_several).map(image).collect()
}

fn storm(threads: &str) -> (Rule, Vec<u8>) {
    let name = format!("threads-storm{threads}");
    rules().into_iter().find(|(rule, _)| rule.name == name).expect("there is this rule")
}

/// The machine of a rule's first processor; how a run is done does not depend on which.
fn machine(rule: &Rule, image: &[u8]) -> Machine {
    conformance::simulator::machine(rule, rule.file.processors[0], image)
}

/// Runs to the end.
fn finish<O: Observer>(machine: &mut Machine, observer: &mut O) {
    let end = machine.run(PATIENCE, observer);
    assert!(!matches!(end, RunState::Running), "the program hangs");
}

#[test]
fn a_run_done_again_is_the_same_to_the_last_event() {
    for (rule, image) in rules() {
        let runs = [(); 2].map(|()| {
            let (mut machine, mut witness) = (machine(&rule, &image), Witness::default());
            finish(&mut machine, &mut witness);
            (machine, witness)
        });
        let [(one, seen), (other, seen_again)] = runs;
        assert_eq!(seen, seen_again, "{}", rule.name);
        assert!(one == other && one.snapshot() == other.snapshot(), "{}", rule.name);
        assert!(seen.instructions > 0 && !seen.calls.is_empty(), "{}", rule.name);
    }
}

#[test]
fn no_observer_changes_a_run() {
    for (rule, image) in rules() {
        let mut alone = machine(&rule, &image);
        finish(&mut alone, &mut NoObserver);
        let (mut counted, mut witnessed) = (machine(&rule, &image), machine(&rule, &image));
        let mut witness = Witness::default();
        finish(&mut counted, &mut RegionCounts::new());
        finish(&mut witnessed, &mut witness);
        assert!(alone == counted && alone == witnessed, "{}", rule.name);
        // What it saw is what the machine counts; where firmware holds a thread, that spins unseen.
        if rule.name != "opal-quiesce" {
            assert_eq!(alone.instructions(), witness.instructions, "{}", rule.name);
        }
    }
}

#[test]
fn the_storm_has_interrupts_and_stops_of_every_kind() {
    for threads in ["", "-4"] {
        let (rule, image) = storm(threads);
        let mut witness = Witness::default();
        finish(&mut machine(&rule, &image), &mut witness);
        // Decrementer, directed hypervisor doorbell, system reset.
        for vector in [0x900, 0xE80, 0x100] {
            let taken = witness.interrupts.iter().filter(|(_, taken)| *taken == vector).count();
            assert!(taken > 10, "{}: {taken} times {vector:#x}", rule.name);
        }
    }
}

#[test]
fn pieces_and_lost_shortcuts_do_not_change_a_run() {
    for threads in ["", "-4"] {
        let (rule, image) = storm(threads);
        let mut whole = machine(&rule, &image);
        finish(&mut whole, &mut NoObserver);
        for steps in [1, 7, 4999] {
            let mut pieces = machine(&rule, &image);
            while matches!(pieces.run(steps, &mut NoObserver), RunState::Running) {
                if steps > 1 {
                    pieces.forget_shortcuts();
                }
            }
            assert!(whole == pieces, "{} in pieces of {steps}", rule.name);
        }
    }
}

#[test]
fn saving_and_restoring_at_random_steps_does_not_change_a_run() {
    for threads in ["", "-4"] {
        let (rule, image) = storm(threads);
        let mut whole = machine(&rule, &image);
        finish(&mut whole, &mut NoObserver);
        let end = whole.snapshot();
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..25 {
            // Numbers that only have to be spread, after Knuth.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let steps = (random >> 33) % whole.instructions();
            let mut saved = machine(&rule, &image);
            saved.run(steps, &mut NoObserver);
            let snapshot = saved.snapshot();
            let mut restored = Machine::restore(&snapshot).expect("a snapshot can be restored");
            assert!(restored == saved, "{} after {steps} steps", rule.name);
            assert!(restored.snapshot() == snapshot, "{} after {steps} steps", rule.name);
            finish(&mut restored, &mut NoObserver);
            assert!(restored.snapshot() == end, "{} restored after {steps} steps", rule.name);
        }
    }
}
