//! How the run loop counts, waits and gives up, and what a snapshot leaves out.

use arch::instruction::Mnemonic;
use arch::opal::token;
use arch::registers::spr::Spr;
use simulator::pipeline::Settings;
use simulator::{Machine, NoObserver, RunState};

use crate::support::{Program, report, two_threads};

#[test]
fn a_run_ends_after_as_many_steps_as_asked_for_inside_of_straight_code() {
    let straight = || {
        let nothing = |program: Program, _| program.op(Mnemonic::Addi, &[5, 5, 1]);
        (0..50).fold(Program::default(), nothing).forever().boot(|_| {})
    };
    for steps in [1, 7, 49] {
        let mut machine = straight();
        for so_far in [steps, 2 * steps, 3 * steps].into_iter().filter(|&so_far| so_far < 50) {
            assert!(matches!(machine.run(steps, &mut NoObserver), RunState::Running));
            assert_eq!(machine.instructions(), so_far);
            assert_eq!(machine.state().threads[0].gpr[5], so_far);
        }
    }
}

#[test]
fn the_watchdog_waits_as_long_as_it_is_told() {
    let mut machine = Program::default().forever().boot(|_| {});
    // In two runs, the second of which has not the whole time left.
    assert!(matches!(machine.run(60_000, &mut NoObserver), RunState::Running));
    let end = machine.run(u64::MAX, &mut NoObserver);
    assert!(report(end).contains("watchdog: 100000 steps"));
    assert_eq!(machine.instructions(), 100_000);
}

#[test]
fn a_system_call_is_an_instruction_that_completed() {
    let mut machine = Program::default().op(Mnemonic::Sc, &[0]).boot(|_| {});
    machine.run(1, &mut NoObserver);
    let thread = &machine.state().threads[0];
    assert_eq!((thread.completed, thread.interrupts, thread.nia), (1, 1, 0xC00));
    assert_eq!(thread.spr(Spr::Srr0), 0x2000_0004);
}

#[test]
fn time_goes_on_with_the_instructions() {
    let mut machine = Program::default().forever().boot(|_| {});
    machine.run(38_000, &mut NoObserver);
    // 512 MHz and 3.8 GHz.
    assert_eq!(machine.timebase(), 5_120);
    assert!((machine.simulated_seconds() - 1e-5).abs() < 1e-12);
}

#[test]
fn what_was_decoded_is_not_saved() {
    let mut machine = Program::default().forever().boot(|_| {});
    machine.run(100, &mut NoObserver);
    let saved = machine.snapshot();
    machine.forget_shortcuts();
    assert!(machine.snapshot() == saved);
    assert!(Machine::restore(&saved).unwrap().snapshot() == saved);
}

/// Enters a partition that does nothing but hypercalls.
fn calls_for_ever() -> Program {
    let rfid = 0x4C00_0024_u64;
    let hypercall_and_back = 0x4400_0022_4BFF_FFFC_u64;
    Program::default()
        .store(0xC00, rfid << 32)
        .store(0x110_0000, hypercall_and_back)
        .identity_tables()
        .op(Mnemonic::Addi, &[3, 0, 1])
        .op(Mnemonic::Mtspr, &[319, 3])
        .set(3, 0x110_0000)
        .op(Mnemonic::Mtspr, &[314, 3])
        .set(3, 0x8000_0000_0000_0000)
        .op(Mnemonic::Mtspr, &[315, 3])
        .op(Mnemonic::Hrfid, &[])
}

#[test]
fn hypercalls_are_progress() {
    let mut machine = calls_for_ever().boot(|_| {});
    let end = machine.run(1_000_000, &mut NoObserver);
    assert!(matches!(end, RunState::Running), "{end:?}");
    let thread = &machine.state().threads[0];
    assert!(thread.interrupts > 200_000, "{} hypercalls", thread.interrupts);
}

#[test]
fn a_report_says_what_other_threads_wait_for() {
    for (enable, expected) in [(0, "for ever"), (0x2000, "for a timer")] {
        let sleeper = || {
            Program::default()
                .set(3, enable)
                .op(Mnemonic::Mtspr, &[318, 3])
                .set(3, 0x7FFF_FFFF)
                .op(Mnemonic::Mtspr, &[22, 3])
                .set(3, 0x30_0000)
                .op(Mnemonic::Mtspr, &[855, 3])
                .op(Mnemonic::Stop, &[])
        };
        let mut program = sleeper().forever();
        let main = program.0.len() as u64;
        // The other thread begins at the image's first instruction, this one jumps over it.
        let entry = 0x2000_0000;
        let skip = Program::default().op(Mnemonic::B, &[main as i64 + 4, 0, 0]);
        program.0.splice(0..0, skip.0);
        let program = program
            .opal(arch::opal::token::START_CPU, &[1, entry + 4])
            .op(Mnemonic::Addi, &[3, 0, 2000])
            .op(Mnemonic::Mtspr, &[9, 3])
            .op(Mnemonic::Bc, &[16, 0, 0, 0, 0])
            .op(Mnemonic::Mfspr, &[3, 25]);
        let mut machine = program.boot(two_threads);
        let text = report(machine.run(1_000_000, &mut NoObserver));
        let expected = format!("thread 0x1: waits in stop, PSSCR 0x300000, {expected}");
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}

#[test]
fn a_run_sleeps_no_longer_than_it_may_and_goes_on_as_one_that_may() {
    let sleeper = || {
        let program = Program::default().set(3, 0x2000).op(Mnemonic::Mtspr, &[318, 3]);
        let program = program.set(3, 0x10_0000).op(Mnemonic::Mtspr, &[22, 3]);
        let program = program.set(3, 0x30_0000).op(Mnemonic::Mtspr, &[855, 3]);
        program.op(Mnemonic::Stop, &[]).forever().boot(|_| {})
    };
    let mut whole = sleeper();
    assert!(matches!(whole.run(1000, &mut NoObserver), RunState::Running));
    let mut machine = sleeper();
    machine.sleep_until(5000);
    let RunState::Asleep { until } = machine.run(1000, &mut NoObserver) else {
        panic!("it does not sleep")
    };
    assert!(machine.cycle() < 1000 && until > 0x10_0000, "{} {until}", machine.cycle());
    machine.sleep_until(until - 1);
    assert!(matches!(machine.run(1000, &mut NoObserver), RunState::Asleep { .. }));
    machine.sleep_until(until);
    let left = 1000 - machine.state().steps();
    assert!(matches!(machine.run(left, &mut NoObserver), RunState::Running));
    assert!(machine == whole && machine.cycle() > until);
}

/// Two threads that hand time bases to each other through one doubleword. Each counts in r10 the rounds, and stops the
/// machine's count in r11 when it reads an earlier time base than one that it was handed.
fn hand_over_time_bases() -> Program {
    const PLACE: u64 = 0x200_0000;
    let round = |program: Program| {
        program
            .set(3, PLACE)
            .set(10, 0)
            .set(11, 0)
            .op(Mnemonic::Ld, &[5, 0, 3])
            .op(Mnemonic::Mfspr, &[6, 268])
            .op(Mnemonic::Cmpl, &[0, 1, 6, 5])
            .op(Mnemonic::Bc, &[4, 0, 8, 0, 0])
            .op(Mnemonic::Addi, &[11, 11, 1])
            .op(Mnemonic::Std, &[6, 0, 3])
            .op(Mnemonic::Addi, &[10, 10, 1])
            .op(Mnemonic::B, &[-28, 0, 0])
    };
    let start = |address| Program::default().opal(token::START_CPU, &[1, address]);
    let main = round(start(0)).0.len() as u64;
    let mut program = round(start(0x2000_0000 + main));
    program.0.extend(round(Program::default()).0);
    program
}

#[test]
fn nobody_reads_an_earlier_time_base_than_one_that_was_handed_to_it() {
    for is_timed in [false, true] {
        let mut machine = hand_over_time_bases().boot(two_threads);
        if is_timed {
            machine.start_timing(Settings::default());
        }
        machine.run(400_000, &mut NoObserver);
        let mut restored = Machine::restore(&machine.snapshot()).unwrap();
        for threads in [&mut machine, &mut restored].map(|machine| {
            machine.run(100_000, &mut NoObserver);
            [0, 1].map(|index| machine.state().threads[index].gpr)
        }) {
            let rounds = threads.map(|gpr| gpr[10]);
            assert!(rounds.iter().all(|rounds| *rounds > 1000), "timed: {is_timed}, {rounds:?}");
            assert_eq!(threads.map(|gpr| gpr[11]), [0, 0], "timed: {is_timed}");
        }
        assert!(machine == restored, "timed: {is_timed}");
    }
}
