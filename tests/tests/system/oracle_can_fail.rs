//! The oracle can fail: each register that a partition can see is broken, once just before the hypervisor
//! enters a vCPU and once just behind the exit, and the oracle names the register each time.

use std::collections::{BTreeMap, BTreeSet};

use arch::interrupt::Vector;
use arch::papr::Hypercall;
use arch::registers::msr;
use arch::registers::spr::Spr;
use arch::tag::{self, tagged};
use lab::on_simulator;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::oracle::policy::{Row, Rule, rows};
use simulator::oracle::register::Register;
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Machine, Observer, Oracle};
use system_tests::changed_system;

/// Why a vCPU left, as far as the rules differ by it: the vector, and a hypercall's number if it is known.
type Exit = (Vector, Option<&'static str>);

/// Notes at which step of the machine the last exit of each kind was taken, and its entry made.
#[derive(Default)]
struct Steps {
    exit: Option<(Exit, u64)>,
    /// The step of the first entry, by which a vCPU starts.
    start: Option<u64>,
    /// The step behind the exit and the step of the return.
    by_exit: BTreeMap<Exit, (u64, u64)>,
    /// Owners of tagged values that a partition has left with so far: the oracle knows them.
    known: BTreeSet<u8>,
}

/// Partitions of the storm.
const PARTITIONS: usize = 3;

impl Observer for Steps {
    const SEES_INSTRUCTIONS: bool = false;

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            self.known.extend(thread.gpr.iter().filter_map(|value| tag::owner(*value)));
            let call = (taken.vector == Vector::SystemCall)
                .then(|| Hypercall::from_number(thread.gpr[3]).map(Hypercall::name))
                .flatten();
            self.exit = Some(((taken.vector, call), thread.completed_now() + thread.interrupts));
        }
    }

    fn returned(&mut self, thread: &Thread, _: &Shared, mode: Mode) {
        if mode.is_hypervisor() && thread.msr() & msr::HV == 0 {
            let step = thread.completed_now() + thread.interrupts;
            self.start.get_or_insert(step);
            if let Some((exit, behind)) = self.exit.take()
                && self.known.len() == PARTITIONS
            {
                self.by_exit.insert(exit, (behind, step));
            }
        }
    }
}

/// A short storm, at its first instruction.
fn start() -> Machine {
    let changes = [("rounds=300", "rounds=60")];
    let system = changed_system("examples/storm.toml", &changes);
    on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"))
}

fn steps() -> Steps {
    let mut steps = Steps::default();
    start().run(u64::MAX, &mut steps);
    steps
}

fn run_to(machine: &mut Machine, step: u64, oracle: &mut Oracle) {
    let steps = machine.state().steps();
    machine.run(step - steps, oracle);
    assert_eq!(machine.state().steps(), step);
    assert_eq!(oracle.findings(), []);
}

/// Makes a register of the partition on the first thread another one, with another partition's value where
/// one fits, by the number of the `attempt`: `false` if it is the machine's and cannot be changed.
fn corrupt(machine: &mut Machine, register: Register, attempt: usize) -> bool {
    let (threads, shared) = machine.parts_mut();
    let thread = &mut threads[0];
    let was = register.read(thread, shared);
    let foreign = tagged(thread.spr(Spr::Lpidr) as u8 % 3 + 1, 0x12_3456_7890);
    match register {
        // They come from the registers that the hypervisor returns by.
        Register::Pc => {
            thread.set_spr(Spr::Srr0, foreign & !3);
            thread.set_spr(Spr::Hsrr0, foreign & !3);
            true
        }
        Register::Msr => {
            for spr in [Spr::Srr1, Spr::Hsrr1] {
                thread.set_spr(spr, thread.spr(spr) ^ msr::FE0);
            }
            true
        }
        Register::CrField(_) => {
            let other = (1..16).filter(|&value| value != was).nth(attempt).expect("another value");
            register.corrupt(thread, shared, other)
        }
        // Any value here could be a return to the hypervisor itself.
        Register::Spr(Spr::Srr1) => register.corrupt(thread, shared, was ^ msr::FE0),
        Register::Spr(Spr::Psscr) => register.corrupt(thread, shared, was ^ 1),
        _ => register.corrupt(thread, shared, foreign),
    }
}

fn names(oracle: &Oracle, register: Register) -> bool {
    oracle.findings().iter().any(|finding| finding.register == register)
}

/// Breaks the register, takes the next step and puts everything back: whether the oracle names the register;
/// `None` if it cannot be broken.
fn is_named(machine: &mut Machine, oracle: &Oracle, register: Register) -> Option<bool> {
    let thread = machine.state().threads[0].clone();
    let core = machine.state().shared.cores[0].clone();
    // The first value may happen to be what a lost register held.
    let named = [0, 1].map(|attempt| {
        let is_corrupt = corrupt(machine, register, attempt);
        let mut oracle = oracle.clone();
        machine.run(1, &mut oracle);
        let (threads, shared) = machine.parts_mut();
        threads[0] = thread.clone();
        shared.cores[0] = core.clone();
        is_corrupt.then(|| names(&oracle, register))
    });
    named.into_iter().flatten().max()
}

#[test]
fn every_register_that_is_broken_before_an_entry_is_named() {
    let mut entries: Vec<(u64, Exit)> =
        steps().by_exit.into_iter().map(|(exit, (_, step))| (step, exit)).collect();
    entries.sort();
    // Hypercalls that are none and that are, and three other kinds of exits.
    assert!(entries.len() >= 15, "{entries:?}");
    let (mut machine, mut oracle) = watched();
    for (step, exit) in entries {
        run_to(&mut machine, step, &mut oracle);
        let mut unchanged = Vec::new();
        let mut broken = 0;
        for Row { register, .. } in visible_rows(&machine) {
            match is_named(&mut machine, &oracle, register) {
                Some(is_named) => assert!(is_named, "{exit:?}: {register}"),
                None => unchanged.push(register),
            }
            broken += 1;
        }
        let of_machine = [Spr::Tb, Spr::Pvr, Spr::Cir].map(Register::Spr);
        assert_eq!(unchanged, of_machine, "{exit:?}");
        // 32 GPRs, 32 FPRs, 8 CR fields, 64 halves of the lookaside buffer, and the special ones.
        assert!(broken > 170, "{exit:?}: {broken}");
    }
}

#[test]
fn every_register_that_is_broken_before_a_start_is_named() {
    let (mut machine, mut oracle) = watched();
    run_to(&mut machine, steps().start.expect("a start"), &mut oracle);
    let mut broken = 0;
    for Row { register, exit, .. } in visible_rows(&machine) {
        // PAPR says where a vCPU starts and what r3 to r5 are.
        let is_free = matches!(register, Register::Pc | Register::Gpr(3..=5));
        if matches!(exit, Rule::Kept | Rule::Spent | Rule::Segment) && !is_free {
            assert_eq!(is_named(&mut machine, &oracle, register), Some(true), "{register}");
            broken += 1;
        }
    }
    // Not the floating-point registers, which are withheld from one that starts.
    assert!(broken > 125, "{broken}");
}

/// A machine at its start, and an oracle that has seen nothing.
fn watched() -> (Machine, Oracle) {
    let machine = start();
    let oracle = Oracle::new(machine.state().shared.processor);
    (machine, oracle)
}

fn visible_rows(machine: &Machine) -> Vec<Row> {
    let (thread, shared) = (&machine.state().threads[0], &machine.state().shared);
    rows(shared.processor).into_iter().filter(|row| row.register.is_visible(thread)).collect()
}

#[test]
fn every_register_that_is_broken_at_an_exit_is_named() {
    let steps = steps();
    for exit in [
        (Vector::SystemCall, None),
        (Vector::HypervisorDecrementer, None),
        (Vector::HypervisorDataStorage, None),
    ] {
        let (mut machine, mut oracle) = watched();
        run_to(&mut machine, steps.by_exit[&exit].0, &mut oracle);
        let saved = machine.snapshot();
        let mut broken = 0;
        for Row { register, hypercall, exit: other } in visible_rows(&machine) {
            let rule = if exit.0 == Vector::SystemCall { hypercall } else { other };
            if rule != Rule::Kept {
                continue;
            }
            let mut machine = Machine::restore(&saved).expect("a snapshot of this machine");
            assert!(corrupt(&mut machine, register, 0));
            let mut oracle = oracle.clone();
            for _ in 0..200 {
                if oracle.findings().is_empty() {
                    machine.run(10_000, &mut oracle);
                }
            }
            assert!(names(&oracle, register), "{exit:?}: {register}: {:?}", oracle.findings());
            broken += 1;
        }
        assert!(broken > 80, "{exit:?}: {broken}");
    }
}
