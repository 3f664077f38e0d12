//! Partitions on two or three hardware threads: sleeping and waking, requests to vCPUs that run elsewhere, and the
//! end of a partition while its vCPUs run.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::papr::{Hypercall, mode};
use arch::registers::{lpcr, msr};
use loom::thread::spawn;

use super::machine::{Machine, Program, set_index};
use crate::console::Console;
use crate::dispatch::{Leave, Running};
use crate::hypercall::Answer;
use crate::memory::Range;
use crate::partition::{Outcome, Partition, StopReason};
use crate::registers::Registers;
use crate::schedule::WEIGHT_DEFAULT;
use crate::system::{Policy, System};
use crate::threads::{FAR, Schedule};
use crate::vcpu::{Activity, Vcpu};

const ENTRY: GuestRealAddress = GuestRealAddress(0x100);
/// A slice never ends, so that nobody is saved by it.
const POLICY: Policy = Policy { slice: FAR, patience: 1_000_000 };
/// A decrementer that does not expire.
const NEVER: u64 = 1 << 60;
const OVER: Leave = Leave::Ended(Outcome::PoweredOff);

fn registers() -> Registers {
    let mut registers = Registers::started(ENTRY, 0, 0);
    registers.msr |= msr::EE;
    registers.supervisor.decrementer_expires = NEVER;
    registers
}

/// Runs partitions with so many vCPUs each, which are all started, on so many hardware threads, in every order with
/// as many involuntary switches between threads as `POWERVISOR_SWITCHES` says, or two. All partitions switch
/// themselves off, once, and nothing is left running.
fn every_order(threads: usize, vcpus: &'static [usize], program: Program) {
    every_order_to(&Outcome::PoweredOff, threads, vcpus, program);
}

/// The same, where all partitions end otherwise.
fn every_order_to(
    end: &'static Outcome,
    threads: usize,
    vcpus: &'static [usize],
    program: Program,
) {
    let switches = std::env::var("POWERVISOR_SWITCHES").ok();
    let switches = switches.map_or(2, |text| text.parse().expect("the variable holds a number"));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(switches);
    model.max_branches = 5000;
    model.check(move || {
        // Loom's threads borrow nothing.
        let hal: &_ = Box::leak(Box::new(Machine::new(threads, program)));
        let console: &_ = Box::leak(Box::new(Console::default()));
        let mut schedule = Schedule::new(threads);
        let partition = |(index, vcpus): (usize, &usize)| {
            let memory = Range::new(0x1_0000 * index as u64, 0x1_0000);
            let name = index.to_string();
            let lpid = 1 + index as u32;
            let mut partition = Partition::new(hal, name, lpid, memory).expect("there are tables");
            for _ in 0..*vcpus {
                let id = schedule.queue.add(WEIGHT_DEFAULT);
                let mut vcpu = Vcpu::new(id, registers());
                vcpu.presentation.set_cppr(0xFF);
                schedule.start(&mut vcpu);
                partition.vcpus.push(vcpu);
            }
            partition
        };
        let partitions: Vec<_> = vcpus.iter().enumerate().map(partition).collect();
        console.set_shared(true);
        let cores = (0..threads as u32).collect();
        let again = &|_: usize, _: &mut Partition<Machine>| Ok(registers());
        let system = System::new(hal, console, POLICY, partitions, schedule, cores, again);
        let system: &_ = Box::leak(Box::new(system));
        let others: Vec<_> = (1..threads)
            .map(|index| {
                spawn(move || {
                    set_index(index);
                    system.run_thread(index);
                })
            })
            .collect();
        system.run_thread(0);
        others.into_iter().for_each(|thread| thread.join().expect("no thread has failed"));
        for partition in system.partitions() {
            let partition = partition.lock();
            assert_eq!(partition.outcome.as_ref(), Some(end), "{}", hal.fake.text());
            let is_over =
                |vcpu: &Vcpu<_>| vcpu.activity == Activity::Stopped && vcpu.registers.is_some();
            assert!(partition.vcpus.iter().all(is_over));
        }
        assert!(system.schedule.lock().queue.is_empty());
    });
}

/// Makes a hypercall; how the vCPU leaves, if it does.
fn call(
    running: &mut Running<'_, Machine>,
    call: Hypercall,
    first: u64,
    second: u64,
) -> Option<Leave> {
    match running.hypercall(call, [first, second, 0, 0, 0, 0, 0]) {
        Answer::Leave(_, _, leave) => Some(leave),
        _ => None,
    }
}

/// How often a vCPU was here before: it counts in a register of its own.
fn turn(running: &mut Running<'_, Machine>) -> u64 {
    let turn = running.registers.gpr[14];
    running.registers.gpr[14] += 1;
    turn
}

#[test]
fn a_vcpu_that_is_prodded_goes_on_whether_it_sleeps_or_is_about_to() {
    every_order(2, &[2], |running, _| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Prod, 1, 0).unwrap_or(Leave::Stopped),
        (0, _) => Leave::Stopped,
        (_, 0) => Leave::Ceded,
        _ => OVER,
    });
}

#[test]
fn an_interrupt_ends_a_sleep() {
    every_order(2, &[2], |running, _| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Ipi, 1, 5).unwrap_or(Leave::Stopped),
        (0, _) => Leave::Stopped,
        _ if running.registers.pc == ENTRY.0 => Leave::Ceded,
        _ => OVER,
    });
}

#[test]
fn an_interrupt_reaches_a_vcpu_that_runs_elsewhere() {
    every_order(2, &[2], |running, until| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Ipi, 1, 5).unwrap_or(Leave::Stopped),
        (0, _) => Leave::Stopped,
        _ if running.registers.pc == ENTRY.0 => Machine::compute(running, until),
        _ => OVER,
    });
}

#[test]
fn a_change_of_mode_reaches_a_vcpu_that_runs_elsewhere() {
    every_order(2, &[2], |running, until| match (running.place.1, turn(running)) {
        (0, 0) => {
            call(running, Hypercall::SetMode, 1, mode::ENDIANNESS).expect("it is called back")
        }
        (0, _) => Leave::Stopped,
        _ if running.lpcr & lpcr::ILE == 0 => Machine::compute(running, until),
        _ => OVER,
    });
}

#[test]
fn a_partition_ends_while_its_other_vcpu_runs() {
    every_order(2, &[2], |running, until| match running.place.1 {
        0 => OVER,
        _ => Machine::compute(running, until),
    });
}

#[test]
fn a_partition_ends_while_its_other_vcpu_falls_asleep() {
    every_order(2, &[2], |running, _| match running.place.1 {
        0 => OVER,
        _ => Leave::Ceded,
    });
}

#[test]
fn two_vcpus_end_their_partition_once() {
    every_order(2, &[2], |_, _| OVER);
}

#[test]
fn the_last_partition_to_end_ends_all_threads() {
    every_order(2, &[1, 1], |_, _| OVER);
}

#[test]
fn a_partition_starts_anew_while_its_other_vcpu_runs() {
    every_order(2, &[2], |running, until| {
        let restarts = running.system.partitions()[0].lock().statistics.restarts;
        match (running.place.1, restarts) {
            (0, 0) => Leave::Restarted,
            (0, _) => OVER,
            _ => Machine::compute(running, until),
        }
    });
}

#[test]
fn somebody_comes_for_every_timer() {
    every_order(2, &[2], |running, until| match (running.place.1, turn(running)) {
        (0, 0) => {
            running.registers.supervisor.decrementer_expires = 100;
            Leave::Ceded
        }
        (0, _) => {
            assert!(running.system.hal.fake.timebase.get() >= 100);
            OVER
        }
        _ => Machine::compute(running, until),
    });
}

/// Two vCPUs become ready at a time, one by a prod and one by its timer, and there are threads for both.
#[test]
fn no_thread_sleeps_while_a_vcpu_is_ready() {
    every_order(3, &[3], |running, until| match (running.place.1, turn(running)) {
        (0, 0) => Leave::AwaitsProd,
        (1, 0) => {
            running.registers.supervisor.decrementer_expires = 100;
            Leave::Ceded
        }
        (1, _) => OVER,
        (2, 0) => {
            call(running, Hypercall::Prod, 0, 0).unwrap_or_else(|| Machine::compute(running, until))
        }
        _ => Machine::compute(running, until),
    });
}

#[test]
fn sleepers_that_nothing_will_wake_are_stopped_once() {
    const END: Outcome = Outcome::Stopped(StopReason::NothingToWake);
    every_order_to(&END, 2, &[2, 1], |_, _| Leave::Ceded);
}
