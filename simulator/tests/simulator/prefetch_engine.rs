//! POWER8's prefetch engine without time: what its commands write, whose memory that is, and what it refuses.

use arch::address::RealAddress;
use arch::instruction::{Mnemonic, Word, encode};
use arch::interrupt::{Vector, program};
use arch::registers::{mppr, msr};
use simulator::exec::{Mode, select};
use simulator::oracle::engine::Tables;
use simulator::state::prefetch_engine::Work;
use simulator::state::thread::trap::Cause;
use simulator::{Boot, Description, Machine, NoObserver, Observer, RunState};

use crate::support::{Program, changed, report};

const POWER8: &str = include_str!("../../../machines/power8.toml");
/// `logmpp` as the patch of 2014 writes it, with the buffer's operand in r5.
const PATCH: Word = Word(0x7C00_07E4 | 5 << 11);
/// Where r0 points, and where r5 does.
const ZERO: u64 = 0x500_0000;
const FIVE: u64 = 0x600_0000;
const L2: u64 = mppr::LOG.set(0, mppr::log::L2);
const BOTH: u64 = mppr::LOG.set(0, mppr::log::L2_AND_L3);
const MPPR: i64 = 184;
/// What memory holds that nobody overwrote.
const FILL: u8 = 0xA5;

/// A POWER8 whose description was changed so.
fn power8(changes: &[(&str, &str)]) -> Description {
    changed(POWER8, changes)
}

fn patch_reading() -> Description {
    power8(&[("value = \"corrected\"", "value = \"2014-patch\"")])
}

/// Runs `program` to its end, with memory filled from [`ZERO`] and from [`FIVE`] on, 256 KiB each.
fn run<O: Observer>(
    description: Description,
    program: Program,
    observer: &mut O,
) -> (Machine, RunState) {
    let mut machine = Machine::new(description, 1);
    let boot = Boot { kernel: program.power_off().0, initrd: None, arguments: String::new() };
    machine.boot(&boot).unwrap();
    let (_, shared) = machine.parts_mut();
    for address in [ZERO, FIVE] {
        shared.memory.copy_in(RealAddress(address), &[FILL; 256 << 10]).unwrap();
    }
    let end = machine.run(100_000, observer);
    (machine, end)
}

/// Bytes from `address` on that are zeros now.
fn overwritten(machine: &Machine, address: u64) -> usize {
    let bytes = machine.state().shared.memory.copy_out(RealAddress(address), 256 << 10).unwrap();
    let end = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    assert!(bytes[end..].iter().all(|&byte| byte == FILL), "what lies behind is as it was");
    end
}

fn work(machine: &Machine) -> Work {
    machine.state().shared.cores[0].engine.work
}

fn log(operand: u64) -> Program {
    Program::default().set(0, ZERO | L2).set(5, operand).word(PATCH)
}

#[test]
fn the_word_of_the_patch_overwrites_what_r0_points_to() {
    let mut tables = Tables::default();
    tables.allow(FIVE..FIVE + mppr::L2_TABLE_BYTES);
    tables.owns(ZERO..ZERO + (64 << 10), "partition 7");
    let (machine, end) = run(power8(&[]), log(FIVE | L2), &mut tables);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    assert_eq!([ZERO, FIVE].map(|at| overwritten(&machine, at)), [32 << 10, 0]);
    let finding = tables.findings()[0].to_string();
    let named =
        "the prefetch engine of core 0 overwrote 32768 bytes at 0x0000000005000000 of partition 7";
    assert_eq!((tables.findings().len(), finding.as_str()), (1, named));
    assert_eq!(tables.written(), 0);
}

#[test]
fn read_as_the_patch_meant_it_overwrites_its_buffer() {
    let mut tables = Tables::default();
    tables.allow(FIVE..FIVE + mppr::L2_TABLE_BYTES);
    let (machine, end) = run(patch_reading(), log(FIVE | L2), &mut tables);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    assert_eq!([ZERO, FIVE].map(|at| overwritten(&machine, at)), [0, 32 << 10]);
    assert_eq!((tables.findings(), tables.written()), (&[][..], 32 << 10));
    let Work { logs, logged, blocks_written, .. } = work(&machine);
    assert_eq!((logs, logged, blocks_written), (1, 0, 256), "no caches, no lines");
}

#[test]
fn the_control_field_says_how_much_is_written() {
    let written = |operand| {
        let (machine, end) = run(patch_reading(), log(operand), &mut NoObserver);
        assert!(matches!(end, RunState::PoweredOff), "{end:?}");
        overwritten(&machine, FIVE)
    };
    let abort = mppr::LOG.set(0, mppr::log::ABORT);
    assert_eq!([FIVE, FIVE | abort, FIVE | L2].map(written), [0, 0, 32 << 10]);
    assert_eq!(written(FIVE | BOTH), 128 << 10);
    // Bits that are no address do not count.
    assert_eq!(written(0xF000_0000_0000_3FFF | FIVE | L2), 32 << 10);
}

fn fetch(value: u64) -> Program {
    Program::default()
        .set(5, value)
        .op(Mnemonic::Mtspr, &[MPPR, 5])
        .op(Mnemonic::Mfspr, &[20, MPPR])
}

#[test]
fn a_fetch_reads_the_table_to_its_end() {
    // Two full blocks of entries, and one more that is the last.
    let entry = |index: u64| (0x700_0000 + index * 128) | if index == 32 { 3 } else { 1 };
    let entries = |program: Program, index| program.store(FIVE + index * 8, entry(index));
    let table = (0..33).fold(Program::default(), entries);
    let value = mppr::FETCH.set(FIVE, mppr::fetch::TO_THE_END);
    let program = Program([table.0, fetch(value).0].concat());
    let (machine, end) = run(power8(&[]), program, &mut NoObserver);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    let Work { fetches, blocks_read, fetched, nowhere, .. } = work(&machine);
    assert_eq!((fetches, blocks_read, fetched, nowhere), (1, 3, 0, 0));
    assert_eq!(machine.state().threads[0].gpr[20], value, "nothing is under way any more");
}

#[test]
fn a_table_of_garbage_is_read_as_far_as_it_says() {
    // FILL is no address of memory, and says that it is valid and not the last.
    let (machine, _) =
        run(power8(&[]), fetch(mppr::FETCH.set(ZERO, mppr::fetch::TO_THE_END)), &mut NoObserver);
    let Work { blocks_read, nowhere, .. } = work(&machine);
    assert_eq!((blocks_read, nowhere), (1024, 16 * 1024));
}

#[test]
fn what_no_source_defines_stops_the_machine_by_name() {
    let stopped = |program| report(run(patch_reading(), program, &mut NoObserver).1);
    let whole = mppr::FETCH.set(0, mppr::fetch::TO_THE_END);
    let unaligned = "a table that is not aligned to its largest size";
    for (program, reason) in [
        (log((FIVE + 0x4000) | L2), unaligned),
        (log((FIVE + 0x8000) | BOTH), unaligned),
        (fetch((FIVE + 0x4000) | whole), unaligned),
        (fetch(mppr::FETCH.set(FIVE, 1)), "a table size that is not published"),
        (fetch(mppr::FETCH.set(FIVE, 3)), "a table size that is not published"),
        (fetch(FIVE | whole | 5 << 56), "a rate that is not published"),
        (log(0x8000_0000 | L2), "log of a prefetch engine to real address 0x0000000080000000"),
        (
            fetch(0x8000_0000 | whole),
            "fetch of a prefetch engine from real address 0x0000000080000000",
        ),
    ] {
        let report = stopped(program);
        assert!(report.contains(reason), "{reason}: {report}");
    }
    for rate in 0..=4 {
        let (_, end) = run(patch_reading(), fetch(FIVE | whole | rate << 56), &mut NoObserver);
        assert!(matches!(end, RunState::PoweredOff), "rate {rate}: {end:?}");
    }
}

#[test]
fn a_table_across_the_end_of_memory_is_written_to_there() {
    let short = [("bytes = 0x8000_0000", "bytes = 0x7FFF_4000")];
    let mut description = power8(&short);
    description.set_watchdog_instructions(100_000);
    let program = Program::default().set(0, 0x7FFE_0000 | BOTH).set(5, 0).word(PATCH);
    let mut tables = Tables::default();
    let (machine, end) = run(description, program, &mut tables);
    assert!(report(end).contains("real address 0x000000007fff4000: no memory"));
    assert_eq!(tables.findings()[0].bytes, 0x14000);
    assert_eq!(work(&machine).blocks_written, 0x14000 / 128);
}

#[test]
fn a_program_and_a_partitions_kernel_get_a_program_interrupt() {
    let (mut threads, mut shared) = Machine::new(power8(&[]), 1).into_parts();
    let thread = &mut threads[0];
    let mppr = |mnemonic| {
        let operands = if mnemonic == Mnemonic::Mtspr { [MPPR, 5] } else { [5, MPPR] };
        encode(mnemonic, &operands, false, false).unwrap()
    };
    // The last is a partition's kernel.
    for state in [msr::SF | msr::PR, msr::SF | msr::PR | msr::HV, msr::SF] {
        thread.set_msr(state);
        for word in [PATCH, mppr(Mnemonic::Mtspr), mppr(Mnemonic::Mfspr)] {
            let (handler, word, _) = select(word, shared.processor, Mode::from_msr(state));
            assert!(handler(thread, &mut shared, word).is_err());
            let Some(Cause::Interrupt(interrupt)) = thread.take_cause() else {
                panic!("{word:?} interrupts")
            };
            let expected = (Vector::Program, program::PRIVILEGED);
            assert_eq!((interrupt.vector, interrupt.status), expected);
        }
    }
}

#[test]
fn a_machine_file_may_round_a_table_down() {
    let misaligned = "[prefetch_engine.misaligned]\nvalue = ";
    let rounds =
        power8(&[(&format!("{misaligned}\"stop\""), &format!("{misaligned}\"rounded-down\""))]);
    let program = Program::default().set(0, (ZERO + 0x8000) | BOTH).set(5, 0).word(PATCH);
    let (machine, end) = run(rounds, program, &mut NoObserver);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    assert_eq!(overwritten(&machine, ZERO), 128 << 10);
}

#[test]
fn an_engine_overwrites_code_and_breaks_reservations() {
    // It reserves a doubleword that the engine overwrites, and stores there only if it still has it.
    let program = Program::default()
        .set(0, ZERO | L2)
        .set(5, 0)
        .set(7, ZERO)
        .op(Mnemonic::Ldarx, &[8, 0, 7, 0])
        .word(PATCH)
        .op(Mnemonic::Stdcx, &[8, 0, 7])
        .op(Mnemonic::Mfcr, &[20]);
    let (machine, _) = run(power8(&[]), program, &mut NoObserver);
    assert_eq!(machine.state().threads[0].gpr[20] >> 29 & 1, 0, "CR0[EQ]: it stored nothing");
    assert_eq!(overwritten(&machine, ZERO), 32 << 10);

    // It goes on in memory that the engine has overwritten, from the instruction behind `logmpp`.
    let program = Program::default().set(0, 0x2000_0000 | L2).set(5, 0).word(PATCH);
    let (machine, end) = run(power8(&[]), program, &mut NoObserver);
    assert!(!matches!(end, RunState::PoweredOff), "its end was overwritten");
    assert_eq!(work(&machine).blocks_written, 256);
}

#[test]
fn a_machine_file_that_cannot_be_is_refused() {
    let refused = |from: &str, to: &str| {
        assert!(POWER8.contains(from), "{from}");
        Description::from_toml(&POWER8.replace(from, to)).unwrap_err().to_string()
    };
    let without = POWER8.split("[prefetch_engine.encoding]").next().unwrap();
    let switches = POWER8.find("# Decisions where").unwrap();
    let without = format!("{without}{}", &POWER8[switches..]);
    let error = Description::from_toml(&without).unwrap_err().to_string();
    assert!(error.contains("missing field `prefetch_engine`"), "{error}");
    let engine = &POWER8[POWER8.find("[prefetch_engine.encoding]").unwrap()..switches];
    let power9 = include_str!("../../../machines/power9.toml").to_owned() + "\n" + engine;
    let error = Description::from_toml(&power9).unwrap_err().to_string();
    assert!(error.contains("prefetch_engine: POWER9 has none"), "{error}");
    for (from, to, says) in [
        ("value = [5, 7]", "value = [3, 7]", "rate_bits: 3 to 7"),
        ("value = [5, 7]", "value = [7, 5]", "rate_bits: 7 to 5"),
        ("value = [5, 7]", "value = [5, 6]", "bits 5 to 6 hold 1 to 4 rates, and there are 5"),
        ("value = [0, 8,", "value = [5000, 8,", "rates: 5000 is out of range"),
        ("value = \"corrected\"", "value = \"2015\"", "unknown variant `2015`"),
        (
            "low = 4\nhigh = 64\nunit = \"lines\"",
            "low = 0\nhigh = 64\nunit = \"lines\"",
            "1 at least",
        ),
    ] {
        let error = refused(from, to);
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn a_saved_machine_remembers_the_engines_work() {
    let (machine, _) = run(power8(&[]), log(FIVE | L2), &mut NoObserver);
    let restored = Machine::restore(&machine.snapshot()).unwrap();
    assert_eq!(work(&restored), work(&machine));
    assert!(restored == machine);
}
