//! OPAL calls that no payload of the project makes, and their answers.

use arch::address::RealAddress;
use arch::instruction::Mnemonic;
use arch::opal::{event, reinit, status, token};
use simulator::machine::state::State;
use simulator::{Description, NoObserver, RunState};

use crate::support::{Program, report, two_threads};

const CELL: u64 = 0x100_0000;

/// The answer of one call, and the doubleword at [`CELL`] after it.
fn answer(number: u64, arguments: &[u64]) -> (i64, u64) {
    let program = Program::default()
        .opal(number, arguments)
        .op(Mnemonic::Or, &[31, 3, 3])
        .set(10, CELL)
        .op(Mnemonic::Ld, &[30, 0, 10]);
    let (machine, end) = program.power_off().run();
    assert!(matches!(end, RunState::PoweredOff), "{number}: {end:?}");
    let gpr = machine.state().threads[0].gpr;
    (gpr[31] as i64, gpr[30])
}

#[test]
fn tokens_that_are_there_are_those_that_are_served() {
    let there = |number| answer(token::CHECK_TOKEN, &[number]).0 == 1;
    let known: Vec<_> = (0..256).filter(|&number| token::name(number).is_some()).collect();
    let served: Vec<_> = (0..256).filter(|&number| there(number)).collect();
    assert_eq!(served, known);
}

#[test]
fn events_are_input_that_waits() {
    assert_eq!(answer(token::POLL_EVENTS, &[CELL]), (status::SUCCESS, 0));
    assert_eq!(answer(token::POLL_EVENTS, &[0]), (status::SUCCESS, 0));
    let program = Program::default()
        .opal(token::POLL_EVENTS, &[CELL])
        .set(10, CELL)
        .op(Mnemonic::Ld, &[30, 0, 10]);
    let mut machine = program.power_off().boot(|_| {});
    machine.console_input(b"x");
    assert!(matches!(machine.run(1_000_000, &mut NoObserver), RunState::PoweredOff));
    assert_eq!(machine.state().threads[0].gpr[30], event::CONSOLE_INPUT);
}

#[test]
fn reinit_sets_the_endianness_of_interrupts_and_the_kind_of_translation() {
    let hid0 = |flags| {
        let (machine, _) = Program::default()
            .opal(token::REINIT_CPUS, &[flags])
            .op(Mnemonic::Or, &[31, 3, 3])
            .op(Mnemonic::Mfspr, &[30, 1008])
            .power_off()
            .run();
        let gpr = machine.state().threads[0].gpr;
        (gpr[31] as i64, gpr[30])
    };
    let (little, radix) = (1 << 59, 1 << 55);
    assert_eq!(hid0(0), (status::SUCCESS, radix));
    assert_eq!(hid0(reinit::HILE_LITTLE), (status::SUCCESS, little | radix));
    assert_eq!(hid0(reinit::HILE_LITTLE | reinit::MMU_HASH), (status::SUCCESS, little));
    assert_eq!(hid0(reinit::HILE_BIG | reinit::MMU_RADIX), (status::SUCCESS, radix));
    assert_eq!(hid0(1 << 9), (status::UNSUPPORTED, radix));
}

#[test]
fn reinit_needs_every_other_thread_inside_firmware() {
    let program = || {
        Program::default()
            .opal(token::REINIT_CPUS, &[reinit::HILE_LITTLE])
            .op(Mnemonic::Or, &[30, 3, 3])
            .opal(token::START_CPU, &[1, 0x2000_0000])
            .opal(token::REINIT_CPUS, &[reinit::HILE_BIG])
            .op(Mnemonic::Or, &[31, 3, 3])
            .op(Mnemonic::Mfspr, &[29, 1008])
            .forever()
    };
    let mut machine = program().boot(two_threads);
    machine.run(200, &mut NoObserver);
    let gpr = machine.state().threads[0].gpr;
    assert_eq!(
        [gpr[30], gpr[31]].map(|answer| answer as i64),
        [status::SUCCESS, status::WRONG_STATE]
    );
    assert_eq!(gpr[29] >> 59 & 1, 1, "the second call changed nothing");
}

#[test]
fn a_call_with_relocation_of_data_or_interrupts_on_is_reported() {
    for bits in [0x8000, 0x10] {
        let program = Program::default()
            .identity_tables()
            .set(3, 1 << 30)
            .op(Mnemonic::Mtspr, &[22, 3])
            .op(Mnemonic::Mfmsr, &[3])
            .op(Mnemonic::Ori, &[3, 3, bits])
            .op(Mnemonic::Mtmsrd, &[3, 0])
            .opal(token::TEST, &[1]);
        let text = report(program.run().1);
        assert!(text.contains("LE, IR, DR and EE must be 0"), "MSR bits {bits:#x}: {text}");
    }
}

#[test]
fn a_reboot_is_asked_for_by_either_call() {
    for number in [token::CEC_REBOOT, token::CEC_REBOOT2] {
        let end = Program::default().opal(number, &[0, 0]).forever().run().1;
        assert!(matches!(end, RunState::Rebooted), "{number}: {end:?}");
    }
}

#[test]
fn there_is_one_terminal() {
    for (number, second) in [(token::CONSOLE_FLUSH, 0), (token::CONSOLE_WRITE_BUFFER_SPACE, CELL)] {
        assert_eq!(answer(number, &[0, second]).0, status::SUCCESS, "{number}");
        assert_eq!(answer(number, &[1, second]).0, status::PARAMETER, "{number}");
    }
    assert_eq!(answer(token::CONSOLE_WRITE_BUFFER_SPACE, &[0, CELL]).1, 4095);
    assert_eq!(answer(token::CONSOLE_READ, &[1, CELL, CELL]).0, status::PARAMETER);
}

#[test]
fn input_is_read_with_its_length() {
    let program = Program::default()
        .store(CELL, 100)
        .opal(token::CONSOLE_READ, &[0, CELL, CELL + 8])
        .op(Mnemonic::Or, &[31, 3, 3])
        .set(10, CELL)
        .op(Mnemonic::Ld, &[30, 0, 10])
        .op(Mnemonic::Ld, &[29, 8, 10]);
    let mut machine = program.power_off().boot(|_| {});
    machine.console_input(b"abc");
    machine.run(1_000_000, &mut NoObserver);
    let gpr = machine.state().threads[0].gpr;
    assert_eq!((gpr[31] as i64, gpr[30], gpr[29] >> 40), (status::SUCCESS, 3, 0x61_6263));
}

#[test]
fn firmwares_event_can_be_routed_and_asked_for() {
    assert_eq!(answer(token::HANDLE_INTERRUPT, &[16, CELL]), (status::SUCCESS, 0));
    assert_eq!(answer(token::HANDLE_INTERRUPT, &[17, CELL]).0, status::PARAMETER);
    assert_eq!(answer(token::SET_XIVE, &[16, 0, 5]).0, status::SUCCESS);
    assert_eq!(answer(token::SET_XIVE, &[17, 0, 5]).0, status::PARAMETER);
    assert_eq!(answer(token::SET_XIVE, &[16, 9 << 2, 5]).0, status::PARAMETER);
    assert_eq!(answer(token::GET_XIVE, &[17, CELL, CELL + 2]).0, status::PARAMETER);
    let program = Program::default()
        .opal(token::SET_XIVE, &[16, 1 << 2, 5])
        .opal(token::GET_XIVE, &[16, CELL, CELL + 2])
        .op(Mnemonic::Or, &[31, 3, 3])
        .set(10, CELL)
        .op(Mnemonic::Ld, &[30, 0, 10])
        .power_off();
    let mut machine = program.boot(two_threads);
    machine.run(1_000_000, &mut NoObserver);
    let gpr = machine.state().threads[0].gpr;
    // The server with two bits below it, and the priority.
    assert_eq!((gpr[31] as i64, gpr[30] >> 40), (status::SUCCESS, 0x405));
}

#[test]
fn input_interrupts_until_firmware_has_fetched_it_and_is_an_event_until_it_is_read() {
    const END: u64 = 0xFF00_0010;
    let mut machine = Program::default()
        .opal(token::SET_XIVE, &[16, 0, 5])
        .opal(token::INT_SET_CPPR, &[0xFF])
        .opal(token::INT_GET_XIRR, &[CELL, 0])
        .opal(token::HANDLE_INTERRUPT, &[16, CELL + 8])
        .opal(token::INT_EOI, &[END])
        .op(Mnemonic::Or, &[26, 3, 3])
        .opal(token::POLL_EVENTS, &[CELL + 16])
        .set(27, 1)
        // More input comes here. Its interrupt is ended without a look at it, and comes again.
        .opal(token::INT_GET_XIRR, &[CELL + 4, 0])
        .opal(token::INT_EOI, &[END])
        .op(Mnemonic::Or, &[28, 3, 3])
        .store(CELL + 24, 100)
        .opal(token::CONSOLE_READ, &[0, CELL + 24, CELL + 32])
        .opal(token::INT_GET_XIRR, &[CELL + 40, 0])
        .opal(token::POLL_EVENTS, &[CELL + 48])
        .power_off()
        .boot(|_| {});
    machine.console_input(b"a");
    while machine.state().threads[0].gpr[27] != 1 {
        assert!(matches!(machine.run(1, &mut NoObserver), RunState::Running));
    }
    machine.console_input(b"b");
    assert!(matches!(machine.run(1_000_000, &mut NoObserver), RunState::PoweredOff));
    let State { threads, shared, .. } = machine.state();
    let [first, second] = [26, 28].map(|register| threads[0].gpr[register]);
    assert_eq!((first, second), (0, 1), "whether another interrupt waits");
    let cell = |offset| shared.memory.read_be64(RealAddress(CELL + offset)).unwrap();
    assert_eq!(cell(0), 0xFF00_0010_FF00_0010, "both inputs interrupt");
    assert_eq!([cell(8), cell(16)], [event::CONSOLE_INPUT; 2], "fetched and not read");
    assert_eq!((cell(24), cell(32) >> 48), (2, 0x6162));
    assert_eq!((cell(40) >> 32, cell(48)), (0xFF00_0000, 0), "all is read");
}

#[test]
fn a_thread_is_started_or_inside_firmware() {
    let program = Program::default()
        .opal(token::QUERY_CPU_STATUS, &[0, CELL])
        .opal(token::QUERY_CPU_STATUS, &[1, CELL + 1])
        .op(Mnemonic::Or, &[31, 3, 3])
        .opal(token::QUERY_CPU_STATUS, &[2, CELL + 2])
        .op(Mnemonic::Or, &[29, 3, 3])
        .set(10, CELL)
        .op(Mnemonic::Ld, &[30, 0, 10])
        .power_off();
    let mut machine = program.boot(two_threads);
    machine.run(1_000_000, &mut NoObserver);
    let gpr = machine.state().threads[0].gpr;
    let answers = [gpr[31], gpr[29]].map(|answer| answer as i64);
    assert_eq!(answers, [status::SUCCESS, status::PARAMETER]);
    assert_eq!(gpr[30] >> 48, 0x0100);
}

#[test]
fn maintenance_finds_nothing_and_says_so() {
    assert_eq!(answer(token::HANDLE_HMI, &[]).0, status::SUCCESS);
    assert_eq!(answer(token::HANDLE_HMI2, &[CELL]), (status::SUCCESS, 0));
    assert_eq!(answer(token::HANDLE_HMI2, &[1 << 60]).0, status::PARAMETER);
}

#[test]
fn a_thread_inside_firmware_cannot_be_reset_here() {
    let program = Program::default().opal(token::SIGNAL_SYSTEM_RESET, &[1]).forever();
    let mut machine = program.boot(two_threads);
    assert!(report(machine.run(10_000, &mut NoObserver)).contains("waits inside firmware"));
}

#[test]
fn without_deep_states_nothing_is_to_be_restored() {
    let program =
        Program::default().opal(token::SLW_SET_REG, &[0, 9999, 1]).op(Mnemonic::Or, &[31, 3, 3]);
    let mut machine = program.power_off().boot(|description| {
        let text = include_str!("../../../../machines/power9.toml")
            .replace("enabled_levels = [0, 1, 2, 4, 5]", "enabled_levels = [0, 1, 2]");
        *description = Description::from_toml(&text).unwrap();
    });
    machine.run(1_000_000, &mut NoObserver);
    assert_eq!(machine.state().threads[0].gpr[31] as i64, status::SUCCESS);
    assert_eq!(answer(token::SLW_SET_REG, &[0, 9999, 1]).0, status::INTERNAL_ERROR);
}

#[test]
fn the_clock_shows_the_day_of_the_description() {
    let (done, date) = answer(token::RTC_READ, &[CELL, CELL + 8]);
    assert_eq!((done, date >> 32), (status::SUCCESS, 0x2026_0101));
}
