//! Partitions on two or three hardware threads: sleeping and waking, requests to vCPUs that run elsewhere, and the
//! end of a partition while its vCPUs run. What concerns its life alone is in [`super::lives`].

use arch::papr::{Hypercall, mode};
use arch::registers::lpcr;

use super::calls::{ENTRY, call, turn};
use super::machine::Machine;
use super::orders::Model;
use crate::dispatch::Running;
use crate::life::outcome::{Departure, Outcome, StopReason};

const OVER: Departure = Departure::Ended(Outcome::PoweredOff);

#[test]
fn a_vcpu_that_is_prodded_goes_on_whether_it_sleeps_or_is_about_to() {
    Model::of(2, &[2]).try_with(|running, _| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Prod, [1, 0, 0]).unwrap_or(Departure::Stopped),
        (0, _) => Departure::Stopped,
        (_, 0) => Departure::Ceded,
        _ => OVER,
    });
}

#[test]
fn a_vcpu_that_is_prodded_finds_an_idle_thread_while_the_other_runs_on() {
    Model::of(2, &[2]).try_with(|running, until| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Prod, [1, 0, 0])
            .unwrap_or_else(|| Machine::compute(running, until)),
        (0, _) => Machine::compute(running, until),
        (_, 0) => Departure::Ceded,
        _ => OVER,
    });
}

#[test]
fn an_interrupt_ends_a_sleep() {
    Model::of(2, &[2]).try_with(|running, _| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Ipi, [1, 5, 0]).unwrap_or(Departure::Stopped),
        (0, _) => Departure::Stopped,
        _ if running.registers.pc == ENTRY.0 => Departure::Ceded,
        _ => OVER,
    });
}

#[test]
fn an_interrupt_reaches_a_vcpu_that_runs_elsewhere() {
    Model::of(2, &[2]).try_with(|running, until| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Ipi, [1, 5, 0]).unwrap_or(Departure::Stopped),
        (0, _) => Departure::Stopped,
        _ if running.registers.pc == ENTRY.0 => Machine::compute(running, until),
        _ => OVER,
    });
}

/// Neither of the two who change the presentation, with the partition unlocked, takes back what the other has done.
#[test]
fn an_interrupt_is_taken_by_a_vcpu_that_just_lets_it() {
    Model::of(2, &[2]).try_with(|running, _| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Ipi, [1, 5, 0]).unwrap_or(Departure::Stopped),
        (0, _) => Departure::Stopped,
        _ if running.registers.pc != ENTRY.0 => OVER,
        (_, 0) => {
            let refuses = call(running, Hypercall::Cppr, [0; 3]);
            let lets = call(running, Hypercall::Cppr, [0xFF, 0, 0]);
            lets.or(refuses).unwrap_or(Departure::Ceded)
        }
        _ => Departure::Ceded,
    });
}

#[test]
fn a_change_of_mode_reaches_a_vcpu_that_runs_elsewhere() {
    Model::of(2, &[2]).try_with(|running, until| match (running.place.1, turn(running)) {
        (0, 0) => {
            call(running, Hypercall::SetMode, [1, mode::ENDIANNESS, 0]).expect("it is called back")
        }
        (0, _) => Departure::Stopped,
        _ if running.lpcr & lpcr::ILE == 0 => Machine::compute(running, until),
        _ => OVER,
    });
}

#[test]
fn a_partition_ends_while_its_other_vcpu_runs() {
    Model::of(2, &[2]).try_with(|running, until| match running.place.1 {
        0 => OVER,
        _ => Machine::compute(running, until),
    });
}

#[test]
fn a_partition_ends_while_its_other_vcpu_falls_asleep() {
    Model::of(2, &[2]).try_with(|running, _| match running.place.1 {
        0 => OVER,
        _ => Departure::Ceded,
    });
}

#[test]
fn two_vcpus_end_their_partition_once() {
    Model::of(2, &[2]).try_with(|_, _| OVER);
}

#[test]
fn the_last_partition_to_end_ends_all_threads() {
    Model::of(2, &[1, 1]).try_with(|_, _| OVER);
}

#[test]
fn a_partition_starts_anew_while_its_other_vcpu_runs() {
    Model::of(2, &[2]).try_with(|running, until| {
        let restarts = running.system.partitions()[0].lock().statistics.restarts;
        match (running.place.1, restarts) {
            (0, 0) => Departure::Restarted,
            (0, _) => OVER,
            _ => Machine::compute(running, until),
        }
    });
}

#[test]
fn somebody_comes_for_every_timer() {
    Model::of(2, &[2]).try_with(|running, until| match (running.place.1, turn(running)) {
        (0, 0) => {
            running.registers.supervisor.decrementer_expires = 100;
            Departure::Ceded
        }
        (0, _) => {
            assert!(running.system.hal.fake.timebase.get() >= 100);
            OVER
        }
        _ => Machine::compute(running, until),
    });
}

/// A sleeper's time comes when somebody prods it.
#[test]
fn a_vcpu_that_two_wake_runs_once() {
    Model::of(2, &[2]).try_with(|running, until| match (running.place.1, turn(running)) {
        (0, 0) => call(running, Hypercall::Prod, [1, 0, 0])
            .unwrap_or_else(|| Machine::compute(running, until)),
        (0, _) => Machine::compute(running, until),
        (_, 0) => {
            running.registers.supervisor.decrementer_expires = 100;
            Departure::Ceded
        }
        (_, 1) => Departure::Changed,
        _ => OVER,
    });
}

/// Two vCPUs become ready at a time, one by a prod and one by its timer, and there are threads for both.
#[test]
fn no_thread_sleeps_while_a_vcpu_is_ready() {
    // With three switches there are too many orders, in the nightly run too.
    Model { switches: Some(2), ..Model::of(3, &[3]) }.try_with(|running, until| {
        match (running.place.1, turn(running)) {
            (0, 0) => Departure::AwaitsProd,
            (1, 0) => {
                running.registers.supervisor.decrementer_expires = 100;
                Departure::Ceded
            }
            (1, _) => OVER,
            (2, 0) => call(running, Hypercall::Prod, [0, 0, 0])
                .unwrap_or_else(|| Machine::compute(running, until)),
            _ => Machine::compute(running, until),
        }
    });
}

#[test]
fn sleepers_that_nothing_will_wake_are_stopped_once() {
    const ENDS: &[Outcome] = &[Outcome::Stopped(StopReason::NothingToWake)];
    const STUCK: Model = Model { ends: ENDS, ..Model::of(2, &[2, 1]) };
    STUCK.try_with(|_, _| Departure::Ceded);
}

/// Each gives the other the rest of its slice, while that one runs, sleeps or stops.
#[test]
fn a_slice_is_given_to_one_that_is_ready_or_to_nobody() {
    fn confer_to(running: &mut Running<'_, Machine>, server: u64) -> Departure {
        call(running, Hypercall::Confer, [server, 0, 0]).unwrap_or(Departure::Changed)
    }
    Model::of(2, &[3]).try_with(|running, _| match (running.place.1, turn(running)) {
        (0, 0) => confer_to(running, 2),
        (1, 0) => confer_to(running, 2),
        (2, 0) => confer_to(running, 0),
        (0, _) => OVER,
        _ => Departure::Stopped,
    });
    Model::of(2, &[3]).try_with(|running, _| match (running.place.1, turn(running)) {
        (0, 0) => confer_to(running, 1),
        (0, _) => OVER,
        (1, 0) => Departure::Ceded,
        (2, 0) => call(running, Hypercall::Prod, [1, 0, 0]).unwrap_or(Departure::Changed),
        (2, 1) => confer_to(running, u64::MAX),
        _ => Departure::Stopped,
    });
}

/// A block of pages changes its size while no vCPU of the partition is in it, and before the one goes on for which it
/// does.
#[test]
fn a_block_changes_its_size_while_nobody_is_in_the_partition() {
    fn changes(running: &Running<'_, Machine>) -> u64 {
        let table = running.system.hash_table(running.place.0).expect("a table");
        table.superpages().expect("superpages").failures
    }
    let model = Model { has_superpages: true, ..Model::of(2, &[2]) };
    model.try_with(|running, until| {
        let before = changes(running);
        let departure = match (running.place.1, turn(running)) {
            (0, 0) => {
                running.system.hash_table(running.place.0).expect("a table").wants_change();
                Departure::Changed
            }
            (0, _) => {
                assert_eq!(before, 1, "it goes on before that");
                Departure::Stopped
            }
            _ if before == 0 => Machine::compute(running, until),
            _ => OVER,
        };
        assert_eq!(changes(running), before, "it is in the partition meanwhile");
        departure
    });
}
