//! Several threads: what a core shares, priorities, `stop`, and that their order of simulation is no
//! accident.

use arch::instruction::Mnemonic as M;
use arch::opal::token;
use simulator::ledger::{Cause, Owner};
use simulator::pipeline::Settings;
use simulator::{Description, Machine, NoObserver, RunState};

use super::measure::{DATA, between_marks};
use crate::support::Program;

/// Where firmware puts a kernel.
const KERNEL: u64 = 0x2000_0000;

/// A machine whose first thread starts the others: each executes `others`, and then the first one `main`.
fn boot(
    cores: u32,
    threads_per_core: u32,
    main: impl Fn(Program) -> Program,
    others: impl Fn(Program) -> Program,
) -> Machine {
    boot_on([1, cores, threads_per_core], main, others)
}

/// The same with so many chips, cores of each and threads of each.
pub(crate) fn boot_on(
    [chips, cores, threads_per_core]: [u32; 3],
    main: impl Fn(Program) -> Program,
    others: impl Fn(Program) -> Program,
) -> Machine {
    // Threads of a core have PIRs that follow each other, cores four of them, chips 256.
    let pirs = (0..chips).flat_map(|chip| {
        (0..cores)
            .flat_map(move |core| (0..threads_per_core).map(move |t| 256 * chip + 4 * core + t))
    });
    let pirs: Vec<u64> = pirs.map(u64::from).collect();
    let start = |address: u64| {
        let program = Program::default();
        let program = pirs[1..]
            .iter()
            .fold(program, |program, &pir| program.opal(token::START_CPU, &[pir, address]));
        // Time for them to begin.
        main(program.set(9, DATA).rounds(2000, |p| p))
    };
    let address = KERNEL + start(KERNEL).forever().0.len() as u64;
    let program = others(start(address).forever().set(9, DATA)).forever();
    let mut machine = program.boot(|description| {
        let text = include_str!("../../../../machines/power9.toml");
        *description = Description::from_toml(text).unwrap();
        description.set_topology(chips, cores, threads_per_core).unwrap();
    });
    machine.start_timing(Settings::default());
    machine
}

/// 400 independent additions in 20 rounds, between marks.
fn work(program: Program) -> Program {
    let adds = |p: Program| p.many(40, |p, index| p.op(M::Add, &[10 + index as i64 % 8, 4, 5]));
    program.rounds(3, adds).mark().rounds(400, adds).mark()
}

fn spin(program: Program) -> Program {
    program
        .many(64, |p, index| p.op(M::Add, &[10 + index as i64 % 8, 4, 5]))
        .op(M::B, &[-256, 0, 0])
}

/// The same at this priority: `or rx,rx,rx`.
fn spin_at(register: i64) -> impl Fn(Program) -> Program {
    move |program| spin(program.op(M::Or, &[register, register, register]))
}

#[test]
fn siblings_take_their_share_of_the_core() {
    let alone = between_marks(&mut boot(1, 4, work, Program::forever_stopped)) as f64;
    let beside_one = between_marks(&mut boot(1, 2, work, spin)) as f64;
    let beside_three = between_marks(&mut boot(1, 4, work, spin)) as f64;
    let elsewhere = between_marks(&mut boot(2, 1, work, spin)) as f64;
    assert!((elsewhere / alone - 1.0).abs() < 0.05, "{elsewhere} and {alone}");
    assert!((1.2..2.2).contains(&(beside_one / alone)), "{beside_one} and {alone}");
    assert!((2.4..6.0).contains(&(beside_three / alone)), "{beside_three} and {alone}");
}

#[test]
fn a_sibling_of_low_priority_takes_less() {
    let equal = between_marks(&mut boot(1, 2, work, spin));
    let low = between_marks(&mut boot(1, 2, work, spin_at(1)));
    let very_low = between_marks(&mut boot(1, 2, work, spin_at(31)));
    assert!(very_low <= low && low < equal, "{very_low}, {low}, {equal}");
}

/// What waits before it is dispatched holds no entry of the issue queue: registers that are not renamed.
#[test]
fn a_sibling_that_reads_or_writes_special_registers_is_no_dearer_than_one_that_adds() {
    let spin_on = |mnemonic, operands: &'static [i64]| {
        let others =
            move |p: Program| p.many(8, |p, _| p.op(mnemonic, operands)).op(M::B, &[-32, 0, 0]);
        between_marks(&mut boot(1, 2, work, others)) as f64
    };
    let adds = between_marks(&mut boot(1, 2, work, spin)) as f64;
    for (mnemonic, operands) in
        [(M::Mfspr, &[10, 272]), (M::Mtspr, &[272, 4]), (M::Mfspr, &[10, 268])]
    {
        let beside = spin_on(mnemonic, operands);
        assert!(beside < adds, "{}: {beside} cycles, {adds} beside additions", mnemonic.row().name);
    }
}

/// Threads that increment one counter, each a hundred times.
fn counters(cores: u32, threads: u32) -> Machine {
    let increment = |p: Program| {
        p.rounds(100, |p| {
            p.op(M::Ldarx, &[3, 0, 9, 0])
                .op(M::Addi, &[3, 3, 1])
                .op(M::Stdcx, &[3, 0, 9])
                .op(M::Bc, &[4, 2, -12, 0, 0])
        })
    };
    boot(cores, threads, increment, increment)
}

fn finish(machine: &mut Machine, step: u64) {
    let steps = machine.state().steps();
    while machine.state().steps() < steps + 100_000 {
        let left = steps + 100_000 - machine.state().steps();
        assert!(matches!(machine.run(step.min(left), &mut NoObserver), RunState::Running));
    }
}

#[test]
fn many_threads_are_one_machine_however_it_is_looked_at() {
    for (cores, threads) in [(1, 4), (2, 2)] {
        let mut whole = counters(cores, threads);
        finish(&mut whole, u64::MAX);
        let bytes = whole.state().shared.memory.read::<8>(DATA as usize);
        assert_eq!(u64::from_be_bytes(bytes), 100 * u64::from(cores * threads));
        for step in [13, 1009] {
            let mut sliced = counters(cores, threads);
            finish(&mut sliced, step);
            assert!(sliced == whole, "{cores} cores of {threads} threads, in steps of {step}");
        }
        let mut saved = counters(cores, threads);
        saved.run(31_000, &mut NoObserver);
        let mut restored = Machine::restore(&saved.snapshot()).unwrap();
        assert!(restored == saved);
        for machine in [&mut saved, &mut restored] {
            finish(machine, 5000);
        }
        assert!(restored == saved);
    }
}

#[test]
fn a_line_that_another_core_wrote_comes_from_there() {
    let machine = &mut counters(2, 1);
    finish(machine, 1000);
    let lines: Vec<_> = machine.charges().unwrap().lines().collect();
    let is_remote = |cause| matches!(cause, Cause::LoadRemote | Cause::StoreDrain | Cause::LoadL2);
    assert!(lines.iter().any(|line| is_remote(line.cause)));
}

#[test]
fn a_stopped_thread_waits_on_nobodys_account() {
    // DEC in 1000 ticks ends a stop that gives nothing up.
    let stop = |p: Program| p.op(M::Addi, &[3, 0, 1000]).op(M::Mtspr, &[22, 3]).op(M::Stop, &[]);
    let machine = &mut boot(1, 1, stop, |p| p);
    finish(machine, 1000);
    let of = |cause| {
        let lines = machine.charges().unwrap().lines();
        let lines = lines.filter(move |line| line.cause == cause);
        lines.map(|line| (line.owner, line.cycles)).collect::<Vec<_>>()
    };
    let [(Owner::Idle, waited)] = of(Cause::WaitStop)[..] else { panic!("one wait") };
    // 1000 ticks of 512 MHz are 7422 cycles of 3.8 GHz.
    assert!((7300..7430).contains(&waited), "{waited}");
    // 593 ns.
    assert_eq!(of(Cause::WaitWake), [(Owner::Idle, 2254)]);
}
