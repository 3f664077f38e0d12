//! The performance monitor in timing mode: what does not happen without caches and a predictor.

use arch::bits::Field;
use arch::instruction::{Mnemonic, Word};
use arch::registers::{monitor, msr};
use simulator::pipeline::Settings;
use simulator::state::thread::counters::Missing;
use simulator::{Boot, Description, Machine, NoObserver, RunState};

use crate::support::{Program, quiet};

const POWER8: &str = include_str!("../../../machines/power8.toml");
const POWER9: &str = include_str!("../../../machines/power9.toml");
/// What the programs read and write: so many lines from here on.
const AREA: u64 = 0x700_0000;
const LINES: i64 = 64;
const LINE: i64 = 128;
const MMCR0: i64 = 795;
const MMCR1: i64 = 798;
const PMC1: i64 = 787;
const CTR: i64 = 9;
/// Bytes to a line that nothing fetches ahead.
const FAR: i64 = 4096;

fn power8() -> Description {
    quiet(POWER8, 16)
}

fn power9() -> Description {
    quiet(POWER9, 8)
}

/// MMCR1 for these events of PMC1 to PMC4, each with its unit.
fn events(events: [(u64, u64); 4]) -> u64 {
    let units = [0, 4, 8, 12].map(|first| Field::new(first, first + 3));
    let fields = units.into_iter().zip(monitor::EVENTS).zip(events);
    fields.fold(0, |all, ((unit, number), event): ((Field, Field), _)| {
        number.set(unit.set(all, event.0), event.1)
    })
}

/// The machine after the program.
fn run(description: Description, is_timed: bool, program: Program) -> Machine {
    let mut machine = Machine::new(description, 1);
    let boot = Boot { kernel: program.power_off().0, initrd: None, arguments: String::new() };
    machine.boot(&boot).unwrap();
    if is_timed {
        machine.start_timing(Settings::default());
    }
    let end = machine.run(100_000, &mut NoObserver);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    machine
}

/// A program that lets these events count from here on.
fn counts(mmcr1: u64, mmcr0: u64) -> Program {
    let program = Program::default().set(5, mmcr1).op(Mnemonic::Mtspr, &[MMCR1, 5]);
    program.set(4, AREA).set(5, mmcr0).op(Mnemonic::Mtspr, &[MMCR0, 5])
}

/// It makes an access to each line.
fn each_line(program: Program, mnemonic: Mnemonic) -> Program {
    (0..LINES).fold(program, |program, line| program.op(mnemonic, &[6, LINE * line, 4]))
}

/// It keeps PMC1 to PMC4 in four registers.
fn keeps(program: Program, first: i64) -> Program {
    (0..4).fold(program, |program, counter| {
        program.op(Mnemonic::Mfspr, &[first + counter, PMC1 + counter])
    })
}

fn kept(machine: &Machine, first: usize) -> [u64; 4] {
    std::array::from_fn(|counter| machine.state().threads[0].gpr[first + counter])
}

#[test]
fn loads_and_stores_that_miss_are_counted() {
    // What joins two events: the L2's loads and stores have one number on a POWER9.
    for (machine, l2_store, joined, other) in
        [(power8 as fn() -> _, 7, 0, 1 << 35), (power9, 6, 2 << 38, 0)]
    {
        // Stores at the L2, loads from beyond it, loads from beyond the L3, loads that missed the L1.
        let mmcr1 = joined | events([(l2_store, 0x80), (0, 0xFE), (0, 0xFE), (0, 0xF0)]);
        let program = each_line(counts(mmcr1, 0), Mnemonic::Ld);
        let program = each_line(keeps(program, 14), Mnemonic::Ld);
        let program = each_line(keeps(program, 18), Mnemonic::Std);
        let ran = run(machine(), true, keeps(program, 22));
        let lines = LINES as u64;
        assert_eq!(kept(&ran, 14), [0, lines, lines, lines]);
        assert_eq!(kept(&ran, 18), [0, lines, lines, lines], "all is there");
        assert_eq!(kept(&ran, 22), [lines, lines, lines, lines]);
        assert_eq!(ran.state().shared.missing().collect::<Vec<_>>(), []);
        // The other one's, and other events of the L2.
        let loads = other | events([(l2_store, 0x80), (0, 0), (0, 0), (0, 0)]);
        let ran = run(machine(), true, each_line(counts(loads, 0), Mnemonic::Std));
        assert_eq!(ran.state().shared.missing().count(), 1);
        let others = events([(13 - l2_store, 0x80), (0, 0), (0, 0), (0, 0)]);
        let ran = run(machine(), true, counts(others, 0));
        let missing: Vec<_> = ran.state().shared.missing().collect();
        assert_eq!(missing, [Missing::Event(0x1_0080 | (13 - l2_store as u32) << 12)]);
    }
}

/// A loop of 100 rounds whose end is foretold wrongly once or twice, a branch to code that comes from memory, and
/// stores to lines that nobody had; and one page of data, which is translated while instructions are not.
#[test]
fn fetches_branches_stores_and_translations_are_counted() {
    let mmcr1 = events([(0, 0), (0, 0xFD), (0, 0xF0), (0, 0xF6)]);
    let program = each_line(counts(mmcr1, 0), Mnemonic::Std)
        .set(5, 100)
        .op(Mnemonic::Mtspr, &[CTR, 5])
        .op(Mnemonic::Bc, &[16, 0, 0, 0, 0])
        .op(Mnemonic::B, &[FAR, 0, 0]);
    // No line ahead of what was fetched before.
    let program = (4..FAR).step_by(4).fold(program, |program, _| program.word(Word(0)));
    let machine = run(power9(), true, keeps(program, 14));
    let [_, fetches, stores, mispredictions] = kept(&machine, 14);
    assert!((1..=2).contains(&fetches), "{fetches}");
    assert_eq!(stores, LINES as u64);
    assert!((1..=2).contains(&mispredictions), "{mispredictions}");

    let mmcr1 = events([(0, 0), (0, 0), (0, 0xFC), (0, 0xFC)]);
    let translated = msr::SF | msr::HV | msr::DR;
    let program = Program([Program::default().identity_tables().0, counts(mmcr1, 0).0].concat());
    let program = program.set(6, translated).op(Mnemonic::Mtmsrd, &[6, 0]);
    let program = keeps(each_line(program, Mnemonic::Ld), 14);
    let program = program.set(6, translated & !msr::DR).op(Mnemonic::Mtmsrd, &[6, 0]);
    let [_, _, data, fetches] = kept(&run(power9(), true, program), 14);
    assert_eq!((data, fetches), (1, 0));
}

#[test]
fn nothing_counts_while_it_is_frozen() {
    let mmcr1 = events([(0, 0), (0, 0xFE), (0, 0xFE), (0, 0xF0)]);
    let program = each_line(counts(mmcr1, monitor::FCH), Mnemonic::Ld);
    let program = keeps(program.set(5, 0).op(Mnemonic::Mtspr, &[MMCR0, 5]), 14);
    let program = each_line(program.set(4, AREA + (1 << 20)), Mnemonic::Ld);
    let machine = run(power8(), true, keeps(program, 18));
    assert_eq!(kept(&machine, 14), [0; 4], "what was missed before is not counted later");
    assert_eq!(kept(&machine, 18)[3], LINES as u64);
}

/// Whether the machine looks at each instruction, since a counter could become negative, or only where somebody reads
/// or what counts changes, it counts the same.
#[test]
fn what_counts_changes_at_the_instruction_that_changes_it() {
    for mmcr0 in [monitor::FCM1, monitor::FCM1 | monitor::PMC1CE | monitor::PMCJCE] {
        let mmcr1 = events([(0, 0x02), (0, 0xFE), (0, 0xFE), (0, 0xF0)]);
        let state = |program: Program, bits: u64| {
            program.set(6, msr::SF | msr::HV | bits).op(Mnemonic::Mtmsrd, &[6, 0])
        };
        let program = each_line(counts(mmcr1, mmcr0), Mnemonic::Ld);
        let program = state(program, msr::PMM).set(4, AREA + (1 << 20));
        let program = state(each_line(program, Mnemonic::Ld), 0).set(4, AREA + (2 << 20));
        let program = program.op(Mnemonic::Ld, &[6, 0, 4]).op(Mnemonic::Ld, &[6, FAR, 4]);
        let machine = run(power8(), true, keeps(program, 14));
        let counted = LINES as u64 + 2;
        assert_eq!(kept(&machine, 14)[1..], [counted; 3], "{mmcr0:#x}");
    }
}

/// What is missed while the run latch is off is not counted later, whatever follows in the block that turns it off; and
/// a read of a counter does not count what its own fetch misses.
#[test]
fn the_run_latch_ends_counting_in_the_middle_of_a_block() {
    const CTRL: i64 = 152;
    let mmcr1 = events([(0, 0), (0, 0xFE), (0, 0), (0, 0)]);
    let program = counts(mmcr1, monitor::FC1_4WAIT).set(5, 0).set(7, 1);
    let program = program.op(Mnemonic::Mtspr, &[CTRL, 5]).op(Mnemonic::Add, &[8, 7, 7]);
    let program = each_line(program, Mnemonic::Ld).op(Mnemonic::Mtspr, &[CTRL, 7]);
    let program = program.op(Mnemonic::Ld, &[6, 1 << 14, 4]).op(Mnemonic::B, &[4, 0, 0]);
    let machine = run(power8(), true, keeps(program, 14));
    assert_eq!(kept(&machine, 14)[1], 1);

    let mmcr1 = events([(0, 0), (0, 0xFD), (0, 0), (0, 0)]);
    let program = counts(mmcr1, 0).op(Mnemonic::B, &[FAR, 0, 0]);
    let program = (4..FAR).step_by(4).fold(program, |program, _| program.word(Word(0)));
    let read = |program: Program, to: i64| program.op(Mnemonic::Mfspr, &[to, PMC1 + 1]);
    let machine = run(power8(), true, read(read(program, 14), 15));
    assert_eq!(kept(&machine, 14)[..2], [0, 1]);
}

#[test]
fn an_event_makes_an_alert_as_an_instruction_does() {
    let armed = monitor::PMAE | monitor::PMCJCE | monitor::FCECE;
    let mmcr1 = events([(0, 0), (0, 0), (0, 0), (0, 0xF0)]);
    let begin = u64::from(u32::MAX >> 1) + 1 - 10;
    let program = Program::default().set(5, begin).op(Mnemonic::Mtspr, &[PMC1 + 3, 5]);
    let program = Program([program.0, counts(mmcr1, armed).0].concat());
    let program = each_line(program, Mnemonic::Ld).op(Mnemonic::Mfspr, &[21, MMCR0]);
    let machine = run(power9(), true, keeps(program, 22));
    let occurred = armed & !monitor::PMAE | monitor::PMAO | monitor::FC;
    assert_eq!(machine.state().threads[0].gpr[21], occurred);
    assert_eq!(kept(&machine, 22)[3], monitor::NEGATIVE, "it froze with the tenth");
}

#[test]
fn without_time_it_never_happens_and_is_named() {
    let mmcr1 = events([(7, 0x80), (0, 0xFE), (0, 0x1E), (0, 0xF0)]);
    let program = each_line(counts(mmcr1, 0), Mnemonic::Ld);
    let machine = run(power8(), false, keeps(program, 14));
    let [stores, beyond, cycles, misses] = kept(&machine, 14);
    assert!((stores, beyond, misses) == (0, 0, 0) && cycles > LINES as u64);
    let untimed = Missing::Untimed;
    let missing: Vec<_> = machine.state().shared.missing().collect();
    assert_eq!(missing, [untimed(0x1_7080), untimed(0x2_00FE), untimed(0x4_00F0)]);
}
