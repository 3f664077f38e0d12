//! What the timing model promises whatever it models: every cycle is charged once, and neither stopping,
//! saving nor observing changes anything.

use arch::instruction::Mnemonic as M;
use arch::marker::Mark;
use simulator::ledger::{Cause, CauseSet};
use simulator::pipeline::{Plan, Settings};
use simulator::{Machine, NoObserver, RunState};

use super::measure::{DATA, Marks, REGION};
use crate::support::Program;

/// A little of everything, for so many rounds.
fn mixture(rounds: u64) -> Program {
    Program::default()
        .set(9, DATA)
        .word(Mark::Begin(REGION).word())
        .rounds(rounds, |p| {
            p.op(M::Mulli, &[20, 20, 0x6C5])
                .op(M::Addi, &[20, 20, 0x3039])
                .op(M::Rldicl, &[21, 20, 44, 48])
                .op(M::Rldicr, &[22, 21, 3, 60])
                .op(M::Stdx, &[20, 9, 22])
                .op(M::Ldx, &[23, 9, 22])
                .op(M::AndiRc, &[21, 21, 1])
                .op(M::Bc, &[4, 2, 8, 0, 0])
                .op(M::Divd, &[24, 23, 20])
                .op(M::Mtspr, &[272, 20])
                .op(M::Mfspr, &[25, 272])
                .op(M::Mfspr, &[26, 268])
                .op(M::Ldarx, &[27, 0, 9, 0])
                .op(M::Stdcx, &[27, 0, 9])
        })
        .word(Mark::End(REGION).word())
        .power_off()
}

fn timed(settings: Settings) -> Machine {
    let mut machine = mixture(300).boot(|_| {});
    machine.start_timing(settings);
    machine
}

fn finish(mut machine: Machine, step: u64) -> Machine {
    while let RunState::Running = machine.run(step, &mut NoObserver) {}
    machine
}

fn cycles(machine: &Machine) -> u64 {
    machine.state().threads[0].time.cycles()
}

#[test]
fn the_charges_are_the_elapsed_time() {
    let machine = finish(timed(Settings::default()), 1_000_000);
    let lines: u64 = machine.charges().unwrap().lines().map(|line| line.cycles).sum();
    assert_eq!(lines, cycles(&machine));
    assert!(lines > 10_000);
}

#[test]
fn stopping_to_look_changes_nothing() {
    let whole = finish(timed(Settings::default()), 1_000_000);
    for step in [1, 7, 97, 1009] {
        assert!(finish(timed(Settings::default()), step) == whole, "in steps of {step}");
    }
}

#[test]
fn a_restored_machine_goes_on_as_the_saved_one() {
    let whole = finish(timed(Settings::default()), 1_000_000);
    for save_at in [0, 1, 500, 3000] {
        let mut machine = timed(Settings::default());
        machine.run(save_at, &mut NoObserver);
        let restored = Machine::restore(&machine.snapshot()).unwrap();
        assert!(machine == restored, "saved at {save_at}");
        let restored = finish(restored, 1000);
        assert!(restored == whole, "restored at {save_at}");
        assert!(restored.snapshot() == whole.snapshot(), "restored at {save_at}");
    }
}

#[test]
fn shortcuts_change_nothing() {
    let whole = finish(timed(Settings::default()), 1_000_000);
    let mut machine = timed(Settings::default());
    while let RunState::Running = machine.run(100, &mut NoObserver) {
        machine.forget_shortcuts();
    }
    assert!(machine == whole);
}

#[test]
fn observing_changes_nothing() {
    let whole = finish(timed(Settings::default()), 1_000_000);
    let mut machine = timed(Settings::default());
    while let RunState::Running = machine.run(1000, &mut Marks::default()) {}
    assert!(machine == whole);
}

#[test]
fn timing_changes_no_result() {
    let functional = finish(mixture(300).boot(|_| {}), 1_000_000);
    let timed = finish(timed(Settings::default()), 1_000_000);
    let [first, second] = [&functional, &timed].map(|machine| &machine.state().threads[0]);
    // r26 is the time base.
    assert_eq!(first.gpr[20..26], second.gpr[20..26]);
    assert_eq!(first.completed, second.completed);
}

#[test]
fn a_region_is_timed_by_plan() {
    let mut machine = mixture(300).boot(|_| {});
    machine.plan(Mark::Begin(REGION), Plan::Start(Settings::default()));
    machine.plan(Mark::End(REGION), Plan::Stop);
    let machine = finish(machine, 1_000_000);
    assert!(machine.state().timing.is_none());
    let charges = machine.charges().unwrap();
    let addresses: Vec<u64> = charges.lines().map(|line| line.address).collect();
    let (first, last) = (addresses.iter().min().unwrap(), addresses.iter().max().unwrap());
    assert!(last - first <= 4 * 24, "{first:#x} to {last:#x} is more than the loop");

    let mut cleared = mixture(300).boot(|_| {});
    cleared.start_timing(Settings::default());
    cleared.plan(Mark::Begin(REGION), Plan::Clear);
    cleared.plan(Mark::End(REGION), Plan::Stop);
    let cleared = finish(cleared, 777);
    let total = |machine: &Machine| machine.charges().unwrap().total(0) as f64;
    assert!((total(&cleared) / total(&machine) - 1.0).abs() < 0.05);
}

/// The change that a line of the ledger predicts is the change that is found, for causes that stand by
/// themselves.
#[test]
fn a_free_cause_saves_what_was_charged_to_it() {
    let priced = finish(timed(Settings::default()), 1_000_000);
    for cause in [Cause::SprTimeBase, Cause::SprScoreboard, Cause::LatencyDivide] {
        let lines = priced.charges().unwrap().lines().filter(|line| line.cause == cause);
        let charged: u64 = lines.map(|line| line.cycles).sum();
        let free = CauseSet::default().with(cause);
        let cheaper = finish(timed(Settings { free, ..Settings::default() }), 1_000_000);
        let saved = cycles(&priced) as f64 - cycles(&cheaper) as f64;
        assert!(cheaper.charges().unwrap().lines().all(|line| line.cause != cause));
        assert!(
            (saved / charged as f64 - 1.0).abs() < 0.25,
            "{}: {charged} charged, {saved} saved",
            cause.name()
        );
    }
}

#[test]
fn an_updated_base_is_free_with_what_makes_it() {
    let chain = || {
        let update = |p: Program, _| p.op(M::Ldu, &[3, 0, 9]);
        Program::default().set(9, DATA).many(8, update).mark().many(64, update).mark()
    };
    let free = CauseSet::default().with(Cause::LatencyFixed);
    let (usual, cheaper) =
        (chain().cycles(), chain().cycles_with(Settings { free, ..Settings::default() }));
    assert!(usual >= 2 * 64 && cheaper < 64, "{usual} cycles, {cheaper} if free");
}

/// What passes beside something longer is nobody's cost.
#[test]
fn a_chain_beside_a_longer_one_is_not_charged() {
    let program = || {
        let body = |p: Program| {
            let read = |p: Program| p.op(M::Mfspr, &[3, 272]).op(M::Addi, &[3, 3, 1]);
            p.many(4, |p, _| read(p).op(M::Addi, &[4, 3, 1])).op(M::Mtspr, &[272, 5])
        };
        Program::default().rounds(1000, body).power_off()
    };
    let timed = |free| {
        let mut machine = program().boot(|_| {});
        machine.start_timing(Settings { free, ..Settings::default() });
        finish(machine, 1_000_000)
    };
    let priced = timed(CauseSet::default());
    for cause in [Cause::LatencyFixed, Cause::SprRead] {
        let lines = priced.charges().unwrap().lines().filter(|line| line.cause == cause);
        let charged = lines.map(|line| line.cycles).sum::<u64>() as f64;
        let saved = cycles(&priced) - cycles(&timed(CauseSet::default().with(cause)));
        let difference = (charged - saved as f64).abs() / cycles(&priced) as f64;
        assert!(difference < 0.02, "{}: {charged} charged, {saved} saved", cause.name());
    }
}
