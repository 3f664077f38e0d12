//! The machine as a whole, with small big-endian programs in place of a kernel: firmware's manners,
//! timers, reports, determinism and snapshots.

use arch::instruction::{Mnemonic, encode};
use arch::opal::{status, token};
use arch::registers::spr::Spr;
use simulator::{Machine, NoObserver, RunState};

mod firmware;
mod run;
use crate::support::{Program, report, two_threads};

const TEXT: u64 = 0x100_0000;
const LENGTH: u64 = 0x100_8000;

#[test]
fn the_entry_state_is_skiboots() {
    let (machine, end) = Program::default().power_off().run();
    assert!(matches!(end, RunState::PoweredOff));
    let machine_at_entry = Program::default().power_off().boot(|_| {});
    let thread = &machine_at_entry.state().threads[0];
    assert_eq!(thread.msr(), 0x9000_0000_0000_0000);
    assert_eq!(thread.gpr[4..7], [0, 0, 0x6550_4150]);
    assert_eq!(thread.gpr[8..10], [0x3000_0000, 0x3000_3760]);
    assert_eq!(thread.spr(Spr::Lpcr), 0x0040_0000_0000_A000);
    assert!(machine.instructions() > 0);
}

#[test]
fn power_off_happens_at_the_next_poll_and_not_before() {
    let end = Program::default().opal(token::CEC_POWER_DOWN, &[0]).forever().run().1;
    assert!(report(end).contains("watchdog"));
    assert!(matches!(Program::default().power_off().run().1, RunState::PoweredOff));
}

#[test]
fn a_console_write_of_6000_bytes_takes_4095_and_says_so() {
    let (mut machine, end) = Program::default()
        .set(10, LENGTH)
        .set(11, 6000)
        .op(Mnemonic::Std, &[11, 0, 10])
        .opal(token::CONSOLE_WRITE, &[0, LENGTH, TEXT])
        .op(Mnemonic::Or, &[31, 3, 3])
        .set(10, LENGTH)
        .op(Mnemonic::Ld, &[30, 0, 10])
        .power_off()
        .run();
    assert!(matches!(end, RunState::PoweredOff));
    let thread = &machine.state().threads[0];
    assert_eq!((thread.gpr[31] as i64, thread.gpr[30]), (status::SUCCESS, 4095));
    assert_eq!(machine.take_console_output(), [0; 4095]);
}

#[test]
fn unknown_tokens_and_wild_pointers_are_parameter_errors() {
    let calls: [(u64, &[u64]); 4] = [
        (9999, &[]),
        (token::CONSOLE_WRITE, &[1, LENGTH, TEXT]),
        (token::CONSOLE_WRITE, &[0, 0x1000_0000_0000_0000, TEXT]),
        (token::CONSOLE_WRITE_BUFFER_SPACE, &[0, 0xF000_0000]),
    ];
    for (number, arguments) in calls {
        let program = Program::default().opal(number, arguments).op(Mnemonic::Or, &[31, 3, 3]);
        let (machine, _) = program.power_off().run();
        let answer = machine.state().threads[0].gpr[31] as i64;
        assert_eq!(answer, status::PARAMETER, "{number} {arguments:x?}");
    }
}

#[test]
fn a_call_poisons_what_it_may_lose() {
    let (machine, _) = Program::default()
        .set(20, 7)
        .opal(token::TEST, &[0])
        .op(Mnemonic::Or, &[30, 4, 4])
        .op(Mnemonic::Or, &[31, 3, 3])
        .power_off()
        .run();
    let gpr = machine.state().threads[0].gpr;
    assert_eq!((gpr[20], gpr[31]), (7, 0xFEED_F00D));
    assert_ne!(gpr[30], 0, "r4 is lost");
}

#[test]
fn a_secondary_starts_with_its_pir_and_only_once() {
    let start = |address| {
        Program::default()
            .opal(token::START_CPU, &[1, address])
            .op(Mnemonic::Or, &[30, 3, 3])
            .opal(token::START_CPU, &[1, address])
            .op(Mnemonic::Or, &[31, 3, 3])
            // Time for the other thread: 2000 turns of a loop of one instruction.
            .op(Mnemonic::Addi, &[3, 0, 2000])
            .op(Mnemonic::Mtspr, &[9, 3])
            .op(Mnemonic::Bc, &[16, 0, 0, 0, 0])
    };
    let main = start(0).power_off().0.len() as u64;
    let mut program = start(0x2000_0000 + main).power_off();
    program = program.op(Mnemonic::Or, &[29, 3, 3]).forever();
    let mut machine = program.boot(two_threads);
    let end = machine.run(1_000_000, &mut NoObserver);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    let threads = &machine.state().threads;
    let answers = [threads[0].gpr[30] as i64, threads[0].gpr[31] as i64];
    assert_eq!(answers, [status::SUCCESS, status::WRONG_STATE]);
    assert_eq!((threads[1].gpr[29], threads[1].spr(Spr::Pir)), (1, 1));
}

#[test]
fn what_is_not_modelled_stops_with_a_report_that_names_it() {
    let cases = [
        (Program::default().set(3, 1).op(Mnemonic::Mtspr, &[338, 3]), "PCR"),
        (Program::default().op(Mnemonic::Mfspr, &[3, 25]), "SPR 25"),
        (Program::default().op(Mnemonic::Cpabort, &[]), "cpabort is not modelled"),
        (Program::default().op(Mnemonic::Ldu, &[3, 8, 0]), "invalid form of ldu"),
        (Program::default().set(3, 1 << 40).op(Mnemonic::Ld, &[4, 0, 3]), "0x0000010000000000"),
        (
            Program::default()
                .set(3, 0x40_0000)
                .op(Mnemonic::Mtspr, &[318, 3])
                .set(3, 0x30)
                .op(Mnemonic::Mtmsrd, &[3, 0]),
            "segment tables",
        ),
    ];
    for (program, expected) in cases {
        let text = report(program.forever().run().1);
        assert!(text.contains(expected), "{expected}: {text}");
        let is_placed = if expected == "segment tables" {
            text.contains("CIA has no translation")
        } else {
            text.contains("=> 0x000000002000")
                && text.contains("CIA is real address 0x000000002000")
        };
        assert!(is_placed, "the place is shown: {text}");
    }
}

#[test]
fn a_storm_of_interrupts_that_completes_nothing_is_ended_by_the_watchdog() {
    // The decrementer is negative; its vector, and the one for illegal instructions, hold zeros.
    let program = Program::default()
        .op(Mnemonic::Mfmsr, &[3])
        .op(Mnemonic::Ori, &[3, 3, 0x8000])
        .op(Mnemonic::Mtmsrd, &[3, 0]);
    assert!(report(program.run().1).contains("watchdog"));
}

#[test]
fn opal_called_with_external_interrupts_on_is_reported() {
    let program = Program::default()
        .set(3, 1 << 30)
        .op(Mnemonic::Mtspr, &[22, 3])
        .op(Mnemonic::Mfmsr, &[3])
        .op(Mnemonic::Ori, &[3, 3, 0x8000])
        .op(Mnemonic::Mtmsrd, &[3, 0])
        .opal(token::TEST, &[0]);
    assert!(report(program.run().1).contains("LE, IR, DR and EE must be 0"));
}

#[test]
fn a_restored_machine_draws_the_same_random_numbers() {
    let draw = || Program::default().op(Mnemonic::Darn, &[20, 1]).op(Mnemonic::Darn, &[21, 1]);
    let mut machine = draw().power_off().boot(|_| {});
    machine.run(1, &mut NoObserver);
    let mut restored = Machine::restore(&machine.snapshot()).unwrap();
    for machine in [&mut machine, &mut restored] {
        assert!(matches!(machine.run(1_000_000, &mut NoObserver), RunState::PoweredOff));
    }
    assert!(machine == restored);
    let gpr = machine.state().threads[0].gpr;
    assert_ne!(gpr[20], gpr[21]);
}

/// Sets DEC to 100 ticks, enables interrupts and counts in r5 until the vector at 0x900, which
/// switches off.
fn timer() -> Program {
    let handler = Program::default().op(Mnemonic::Mfspr, &[26, 268]).power_off().0;
    let mut program = Program::default().set(7, 0x900);
    for word in handler.chunks(4) {
        let word = u32::from_be_bytes(word.try_into().unwrap());
        program = program
            .set(8, u64::from(word))
            .op(Mnemonic::Stw, &[8, 0, 7])
            .op(Mnemonic::Addi, &[7, 7, 4]);
    }
    let program = program
        .set(9, 0x3000)
        .op(Mnemonic::Addi, &[3, 0, 100])
        .op(Mnemonic::Mfspr, &[24, 268])
        .op(Mnemonic::Mtspr, &[22, 3])
        .op(Mnemonic::Mfmsr, &[3])
        .op(Mnemonic::Ori, &[3, 3, 0x8000])
        .op(Mnemonic::Mtmsrd, &[3, 1]);
    let start = program.0.len() as i64;
    let program = program.op(Mnemonic::Addi, &[5, 5, 1]).op(Mnemonic::Stwu, &[5, 4, 9]);
    let back = start - program.0.len() as i64;
    program.op(Mnemonic::B, &[back, 0, 0])
}

#[test]
fn the_decrementer_interrupts_when_it_passes_zero() {
    let (machine, end) = timer().run();
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    let gpr = machine.state().threads[0].gpr;
    let ticks = gpr[26] - gpr[24];
    assert!((100..=102).contains(&ticks), "{ticks} ticks for a decrementer of 100");
}

/// Machines are compared without printing them when they differ: that is all of their memory.
#[test]
fn stopping_to_look_changes_nothing_and_a_restored_machine_goes_on_as_the_saved_one() {
    let whole = timer().run().0;
    for step in [1, 7, 97, 331] {
        let mut machine = timer().boot(|_| {});
        while let RunState::Running = machine.run(step, &mut NoObserver) {}
        assert!(machine == whole, "in steps of {step}");
    }
    for save_at in [0, 1, 50, 400, 700] {
        let mut machine = timer().boot(|_| {});
        machine.run(save_at, &mut NoObserver);
        let bytes = machine.snapshot();
        let mut restored = Machine::restore(&bytes).unwrap();
        assert!(machine == restored, "saved at {save_at}");
        while let RunState::Running = restored.run(1000, &mut NoObserver) {}
        assert!(restored == whole, "restored at {save_at}");
    }
}

#[test]
fn damaged_snapshots_are_refused() {
    let bytes = timer().boot(|_| {}).snapshot();
    assert!(Machine::restore(&bytes[..bytes.len() - 1]).is_err());
    assert!(Machine::restore(&bytes[1..]).is_err());
    assert!(Machine::restore(b"").is_err());
}

/// Replaces the first instruction of its loop while it runs.
fn modifies_itself() -> Program {
    let program = Program::default()
        .set(7, 0x2000_0000)
        .set(8, u64::from(encode(Mnemonic::Addi, &[25, 25, 16], false, false).unwrap().0))
        .op(Mnemonic::Addi, &[6, 0, 2])
        .op(Mnemonic::Mtspr, &[9, 6]);
    let target = program.0.len() as i64;
    let program = program
        .op(Mnemonic::Addi, &[25, 25, 1])
        .op(Mnemonic::Stw, &[8, target, 7])
        .op(Mnemonic::Bc, &[16, 0, -8, 0, 0]);
    // Then the instruction after the store, where no branch has been in between.
    let program = program.op(Mnemonic::Addi, &[6, 6, 0]);
    let next = program.0.len() as i64 + 4;
    program.op(Mnemonic::Stw, &[8, next, 7]).op(Mnemonic::Addi, &[25, 25, 1]).power_off()
}

#[test]
fn a_store_into_code_is_executed_as_stored() {
    let (machine, end) = modifies_itself().run();
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    assert_eq!(machine.state().threads[0].gpr[25], 1 + 16 + 16);
}

#[test]
fn a_machine_without_shortcuts_is_the_same_at_every_step() {
    for program in [timer, modifies_itself] {
        let mut quick = program().boot(|_| {});
        let mut slow = program().boot(|_| {});
        let whole = program().run().0;
        loop {
            slow.forget_shortcuts();
            let (ended, slow_ended) = (quick.run(1, &mut NoObserver), slow.run(1, &mut NoObserver));
            assert_eq!(quick, slow, "after {} instructions", quick.instructions());
            if !matches!(ended, RunState::Running) {
                assert!(matches!(slow_ended, RunState::PoweredOff), "{slow_ended:?}");
                break;
            }
        }
        assert_eq!(slow, whole);
    }
}
