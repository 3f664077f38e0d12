//! POWER8's prefetch engine with time: how long a log and a fetch take, what is in a table, and what a fetch brings
//! back.

use arch::address::RealAddress;
use arch::instruction::{Mnemonic, Word};
use arch::registers::mppr;
use simulator::oracle::engine::Tables;
use simulator::pipeline::Settings;
use simulator::quantity::Bound;
use simulator::state::prefetch_engine::{Engine, Work, entry};
use simulator::{Boot, Description, Machine, NoObserver, RunState};

use crate::support::{Program, changed, quiet, report};

const POWER8: &str = include_str!("../../../machines/power8.toml");
/// `logmpp` with its operand in r5, as RS.
const LOGMPP: Word = Word(0x7C00_07E4 | 5 << 21);
const TABLE: u64 = 0x600_0000;
const OTHER_TABLE: u64 = 0x602_0000;
const L2: u64 = mppr::LOG.set(0, mppr::log::L2);
const WHOLE: u64 = mppr::FETCH.set(0, mppr::fetch::TO_THE_END);
const MPPR: i64 = 184;
/// What the programs read: so many lines from here on.
const AREA: u64 = 0x700_0000;
const LINES: u64 = 64;
/// Lines that an L2's table has room for.
const ROOM: u64 = mppr::L2_TABLE_BYTES / 8;

/// A POWER8 that fetches nothing ahead by itself.
fn description() -> Description {
    quiet(POWER8, 16)
}

fn machine(program: Program) -> Machine {
    machine_of(description(), program)
}

fn machine_of(description: Description, program: Program) -> Machine {
    let mut machine = Machine::new(description, 1);
    let boot = Boot { kernel: program.power_off().0, initrd: None, arguments: String::new() };
    machine.boot(&boot).unwrap();
    machine.start_timing(Settings::default());
    machine
}

fn run(program: Program) -> Machine {
    let mut machine = machine(program);
    let end = machine.run(1_000_000, &mut NoObserver);
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    machine
}

fn engine(machine: &Machine) -> &Engine {
    &machine.state().shared.cores[0].engine
}

fn work(machine: &Machine) -> Work {
    engine(machine).work
}

fn cycles(machine: &Machine) -> u64 {
    machine.state().threads[0].time.cycles()
}

trait Steps {
    /// Reads the area's lines, the last one first.
    fn reads(self) -> Self;
    /// Takes the area's lines out of all caches.
    fn flushes(self) -> Self;
    fn logs(self, operand: u64) -> Self;
    fn fetches(self, value: u64) -> Self;
    /// Waits until reading MPPR shows nothing under way.
    fn waits(self) -> Self;
    /// The time base into r`register`.
    fn time(self, register: i64) -> Self;
}

impl Steps for Program {
    fn reads(self) -> Self {
        let read = |program: Self, line| program.op(Mnemonic::Ld, &[8, line as i64 * 128, 7]);
        (0..LINES).rev().fold(self.set(7, AREA), read).op(Mnemonic::Sync, &[0])
    }

    fn flushes(self) -> Self {
        let flush =
            |program: Self, line| program.set(7, AREA + line * 128).op(Mnemonic::Dcbf, &[0, 7, 0]);
        (0..LINES).fold(self, flush).op(Mnemonic::Sync, &[0])
    }

    fn logs(self, operand: u64) -> Self {
        self.set(5, operand).word(LOGMPP)
    }

    fn fetches(self, value: u64) -> Self {
        self.set(5, value).op(Mnemonic::Mtspr, &[MPPR, 5])
    }

    fn waits(self) -> Self {
        // andi. r9,r9,3; bne to mfspr.
        self.op(Mnemonic::Mfspr, &[9, MPPR]).word(Word(0x7129_0003)).word(Word(0x4082_FFF8))
    }

    fn time(self, register: i64) -> Self {
        self.op(Mnemonic::Mfspr, &[register, 268])
    }
}

fn table(machine: &Machine) -> Vec<u64> {
    let memory = &machine.state().shared.memory;
    let bytes = memory.copy_out(RealAddress(TABLE), mppr::L2_TABLE_BYTES as usize).unwrap();
    bytes.chunks(8).map(|word| u64::from_be_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_log_names_what_was_read_in_its_order_and_takes_its_time() {
    let machine = run(Program::default().reads().logs(TABLE | L2).time(20).waits().time(21));
    let table = table(&machine);
    let end = table.iter().position(|entry| entry & entry::LAST != 0).unwrap() + 1;
    assert_eq!(work(&machine).logged, end as u64);
    assert!(table[end..].iter().all(|&entry| entry == 0));
    let area = |entry: &u64| (AREA..AREA + LINES * 128).contains(entry);
    let named = table[..end].iter().map(|entry| entry & entry::ADDRESS).filter(area);
    let read = (0..LINES).rev().map(|line| AREA + line * 128);
    assert_eq!(named.collect::<Vec<_>>(), read.collect::<Vec<_>>());

    let pace = description().prefetch_engine_pace(Bound::Value)[0];
    let clock = machine.state().shared.clock;
    let thread = &machine.state().threads[0];
    let ticks = thread.gpr[21] - thread.gpr[20];
    let least = clock.ticks(ROOM * pace);
    assert!((least..least + least / 8).contains(&ticks), "{ticks} ticks, {least} at least");
}

#[test]
fn a_log_that_is_ended_leaves_the_rest_of_its_table() {
    let nothing = |program: Program, _| program.op(Mnemonic::Addi, &[8, 8, 1]);
    let spent = |program: Program| (0..6000).fold(program, nothing);
    let mut program = Program::default();
    for at in [0x100, 0x7F00] {
        program = program.store(TABLE + at, 0x1234);
    }
    let abort = TABLE | mppr::LOG.set(0, mppr::log::ABORT);
    let machine = run(spent(program.reads().logs(TABLE | L2)).logs(abort).time(20));
    let Work { logs, logs_aborted, blocks_written, .. } = work(&machine);
    assert_eq!((logs, logs_aborted), (1, 1));
    assert!((3..200).contains(&blocks_written), "{blocks_written}");
    assert_ne!(table(&machine)[0x100 / 8], 0x1234);
    assert_eq!(table(&machine)[0x7F00 / 8], 0x1234, "it was not written");
}

#[test]
fn what_no_source_defines_stops_the_machine_while_the_engine_works() {
    let again = [
        (Program::default().logs(TABLE | L2).logs(TABLE | L2), "still logging"),
        (Program::default().logs(TABLE | L2).fetches(TABLE | WHOLE), "still logging"),
        (
            Program::default()
                .reads()
                .logs(TABLE | L2)
                .waits()
                .fetches(TABLE | WHOLE)
                .logs(TABLE | L2),
            "still fetching",
        ),
    ];
    for (program, reason) in again {
        let report = report(machine(program).run(1_000_000, &mut NoObserver));
        assert!(report.contains(reason), "{reason}: {report}");
    }
}

/// Misses of the L2, with and without a fetch before the second reading, and what the engine did.
fn read_again(fetch: Option<u64>) -> (u64, Work) {
    let logged = Program::default().reads().logs(TABLE | L2).waits().flushes();
    let fetched = match fetch {
        Some(value) => logged.fetches(value).waits(),
        None => logged,
    };
    let machine = run(fetched.reads());
    (machine.timing().unwrap().misses(0).0.l2, work(&machine))
}

#[test]
fn a_fetch_brings_back_what_was_flushed() {
    let (without, _) = read_again(None);
    let (with, work) = read_again(Some(TABLE | WHOLE));
    assert!(work.fetched >= LINES, "{work:?}");
    assert!(with + LINES * 3 / 4 <= without, "{with} misses with a fetch, {without} without");
}

#[test]
fn a_slower_rate_takes_longer() {
    let took = |rate: u64| {
        let logged = Program::default().reads().logs(TABLE | L2).waits().flushes();
        let value = TABLE | WHOLE | rate << 56;
        let machine = run(logged.time(20).fetches(value).waits().time(21));
        let thread = &machine.state().threads[0];
        (thread.gpr[21] - thread.gpr[20], work(&machine))
    };
    let (fast, of_fast) = took(0);
    let (slow, of_slow) = took(4);
    assert!(fast < slow, "{fast} and {slow} ticks");
    assert_eq!(of_fast.blocks_read, of_slow.blocks_read);
    let entries = of_slow.fetched + of_slow.found;
    let clock = description().clock();
    assert!(slow >= clock.ticks(32 * (entries - 1)), "a line every 32 cycles");
}

/// As many lines of a set as it has ways push one of the area out of the L2, and the L3 has it.
#[test]
fn a_line_that_the_l3_has_is_found_there() {
    let from_l3 = |others: u64| {
        let logged = Program::default().reads().logs(TABLE | L2).waits();
        let read = |program: Program, number: u64| {
            // The program itself has nothing in the sets of the area's middle.
            let line = AREA + LINES / 2 * 128;
            program.set(7, line + number * (64 << 10)).op(Mnemonic::Ld, &[8, 0, 7])
        };
        let pushed = (1..=others).fold(logged, read).op(Mnemonic::Sync, &[0]);
        let work = work(&run(pushed.fetches(TABLE | WHOLE).waits()));
        assert!(work.found >= LINES, "{work:?}");
        work.from_l3
    };
    assert_eq!([0, 8].map(from_l3), [0, 1]);
}

#[test]
fn a_fetch_that_is_ended_brings_no_more() {
    let logged = Program::default().reads().logs(TABLE | L2).waits().flushes();
    let machine = run(logged.fetches(TABLE | WHOLE | 4 << 56).fetches(TABLE).waits());
    let Work { fetches, fetches_aborted, fetched, .. } = work(&machine);
    assert_eq!((fetches, fetches_aborted), (1, 1));
    assert!(fetched < LINES, "{fetched}");
}

#[test]
fn a_machine_that_is_saved_while_its_engine_works_goes_on_as_it_would_have() {
    let program =
        || Program::default().reads().logs(TABLE | L2).waits().fetches(TABLE | WHOLE).waits();
    let whole = run(program());
    let mut at = 0;
    for steps in [150, 400, 3000, 5000] {
        let mut machine = machine(program());
        assert!(matches!(machine.run(steps, &mut NoObserver), RunState::Running));
        at += usize::from(engine(&machine).log.is_some() || engine(&machine).fetch.is_some());
        let mut restored = Machine::restore(&machine.snapshot()).unwrap();
        assert!(matches!(restored.run(1_000_000, &mut NoObserver), RunState::PoweredOff));
        assert_eq!(cycles(&restored), cycles(&whole));
        assert!(restored == whole, "after {steps} steps");
    }
    assert!(at > 0, "one of them saved a working engine");
}

#[test]
fn the_oracle_sees_only_tables_written() {
    let mut tables = Tables::default();
    tables.allow(TABLE..TABLE + mppr::L2_TABLE_BYTES);
    let mut machine = machine(Program::default().reads().logs(TABLE | L2).waits());
    assert!(matches!(machine.run(1_000_000, &mut tables), RunState::PoweredOff));
    assert_eq!((tables.findings(), tables.written()), (&[][..], mppr::L2_TABLE_BYTES));
}

/// Four commands, of which none is over when the next one comes: the machine stops at the second one, or does the last.
#[test]
fn a_machine_file_may_let_the_newest_command_win() {
    let run = |description| {
        let program = Program::default()
            .set(5, TABLE | L2)
            .word(LOGMPP)
            .set(5, OTHER_TABLE | L2)
            .word(LOGMPP)
            .set(5, TABLE | WHOLE)
            .op(Mnemonic::Mtspr, &[MPPR, 5])
            .set(5, OTHER_TABLE | L2)
            .word(LOGMPP);
        let mut machine = machine_of(description, program);
        let end = machine.run(1_000_000, &mut NoObserver);
        let Work { logs, logs_aborted, fetches, fetches_aborted, .. } = work(&machine);
        (end, [logs, logs_aborted, fetches, fetches_aborted])
    };
    let (end, work) = run(description());
    assert!(report(end).contains("logmpp while the core's engine is still logging"));
    assert_eq!(work, [1, 0, 0, 0]);
    let overlap = "[prefetch_engine.overlap]\nvalue = ";
    let (stops, newest) = (format!("{overlap}\"stop\""), format!("{overlap}\"newest\""));
    let (end, work) = run(changed(POWER8, &[(&stops, &newest)]));
    assert!(matches!(end, RunState::PoweredOff), "{end:?}");
    assert_eq!(work, [3, 2, 1, 1]);
}
