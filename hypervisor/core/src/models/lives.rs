//! Transitions in the life of a partition and its vCPUs (the tables of [`crate::life`]) that take more than one
//! hold of a lock, beside others of two hardware threads. [`super::pairs`] has all calls beside all
//! conclusions.

use arch::papr::Hypercall;
use arch::registers::lpcr;

use super::calls::{Buffer, call, is_started, register_area, register_log, rtas, turn};
use super::machine::Machine;
use super::orders::Model;
use crate::dispatch::Running;
use crate::life::activity::Activity;
use crate::life::outcome::{Departure, Outcome, StopReason};

pub(super) type Vcpu<'a, 'b> = &'a mut Running<'b, Machine>;

const OFF: Departure = Departure::Ended(Outcome::PoweredOff);
pub(super) const LIMIT: Outcome = Outcome::Stopped(StopReason::TimeLimit);
pub(super) const ALL_STOPPED: Outcome = Outcome::Stopped(StopReason::AllStopped);

pub(super) fn power_off(running: Vcpu<'_, '_>) -> Departure {
    rtas(running, Buffer::PowerOff).expect("it does not return")
}

pub(super) fn restart(running: Vcpu<'_, '_>) -> Departure {
    rtas(running, Buffer::Restart).expect("it does not return")
}

pub(super) fn stop_self(running: Vcpu<'_, '_>) -> Departure {
    rtas(running, Buffer::StopSelf).expect("it does not return")
}

/// vCPU 0 ends its partition, by what `end` does; vCPU 1 does `other`, and then whatever it is let do until it is
/// called back; vCPU 2 stops itself first, and ends the partition again if it is started. Beside them there is a
/// partition that sleeps for a while: whether it still runs then is what a wrong count would show.
pub(super) fn beside_the_end(
    running: Vcpu<'_, '_>,
    until: u64,
    end: fn(Vcpu<'_, '_>) -> Departure,
    other: fn(Vcpu<'_, '_>) -> Option<Departure>,
) -> Departure {
    if running.place.0 == 1 {
        return if turn(running) == 0 {
            running.registers.supervisor.decrementer_expires = 100;
            Departure::Ceded
        } else {
            OFF
        };
    }
    let is_new = running.system.partitions()[0].lock().statistics.restarts > 0;
    match running.place.1 {
        // The buffers are gone with everything else.
        0 if is_new => OFF,
        0 => end(running),
        1 => other(running).unwrap_or_else(|| Machine::compute(running, until)),
        _ if is_started(running) => power_off(running),
        _ => stop_self(running),
    }
}

/// The same with a restart, after which the first vCPU finds itself alone, and everything as it was at first.
pub(super) fn beside_the_restart(
    running: Vcpu<'_, '_>,
    until: u64,
    other: fn(Vcpu<'_, '_>) -> Option<Departure>,
) -> Departure {
    let partition = running.system.partitions()[0].lock();
    let is_new = partition.statistics.restarts > 0;
    if is_new {
        assert_eq!(running.place.1, 0, "only the first vCPU was started");
        for vcpu in &partition.vcpus {
            assert!(vcpu.is_running() || vcpu.activity() == Activity::Stopped);
            assert!(!vcpu.vpa.has_area() && vcpu.vpa.log.is_none() && !vcpu.is_prodded);
            assert!(!vcpu.presentation.is_pending());
        }
        assert_eq!(running.lpcr & lpcr::ILE, 0);
    }
    drop(partition);
    match running.place.1 {
        // The buffers are gone with everything else.
        0 if is_new => OFF,
        0 => restart(running),
        1 => other(running).unwrap_or_else(|| Machine::compute(running, until)),
        _ if is_started(running) => power_off(running),
        _ => stop_self(running),
    }
}

const TWO: Model = Model::of(2, &[3, 1]);
pub(super) const ONE: Model = Model::of(2, &[3]);

#[test]
fn a_vcpu_that_is_started_while_its_partition_ends_does_not_run() {
    TWO.try_with(|running, until| {
        beside_the_end(running, until, power_off, |running| rtas(running, Buffer::Start))
    });
}

/// It is suspended as soon as a thread looks, or ends before.
pub(super) const SUSPENDED: Model = Model { is_suspended: true, ..Model::of(2, &[2]) };

/// vCPU 1 sleeps, or is about to; vCPU 0 does `wake`, and then whatever it is let do until it is called back.
fn suspended_beside(
    running: Vcpu<'_, '_>,
    until: u64,
    wake: fn(Vcpu<'_, '_>) -> Option<Departure>,
) -> Departure {
    match (running.place.1, turn(running)) {
        (0, 0) => wake(running).unwrap_or_else(|| Machine::compute(running, until)),
        (0, _) => Machine::compute(running, until),
        _ => Departure::Ceded,
    }
}

#[test]
fn an_interrupt_is_not_lost_to_a_suspension() {
    SUSPENDED.try_with(|running, until| {
        suspended_beside(running, until, |running| call(running, Hypercall::Ipi, [1, 5, 0]))
    });
}

#[test]
fn a_vcpu_is_suspended_that_confers() {
    SUSPENDED.try_with(|running, until| {
        suspended_beside(running, until, |running| {
            call(running, Hypercall::Confer, [u64::MAX, 0, 0])
        })
    });
}

#[test]
fn a_partition_ends_or_is_suspended() {
    SUSPENDED.try_with(|running, until| {
        suspended_beside(running, until, |running| rtas(running, Buffer::PowerOff))
    });
}

#[test]
fn areas_and_logs_of_a_stopped_vcpu_do_not_outlive_a_restart() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| {
            register_area(running, 2).or_else(|| register_log(running, 2))
        })
    });
}

/// vCPU 0 ends the partition or lets it start anew, vCPU 1 wakes vCPU 2, which sleeps.
fn beside_a_sleeper(
    running: Vcpu<'_, '_>,
    until: u64,
    end: fn(Vcpu<'_, '_>) -> Departure,
    wake: fn(Vcpu<'_, '_>) -> Option<Departure>,
) -> Departure {
    let is_new = running.system.partitions()[0].lock().statistics.restarts > 0;
    match (running.place.1, turn(running)) {
        (0, _) if is_new => OFF,
        (0, _) => end(running),
        _ if is_new => panic!("only the first vCPU was started"),
        (1, _) => wake(running).unwrap_or_else(|| Machine::compute(running, until)),
        (_, 0) => Departure::Ceded,
        _ => Machine::compute(running, until),
    }
}

#[test]
fn a_sleeper_that_is_woken_while_its_partition_ends_or_starts_anew_runs_no_more() {
    fn prod(running: Vcpu<'_, '_>) -> Option<Departure> {
        call(running, Hypercall::Prod, [2, 0, 0])
    }
    fn interrupt(running: Vcpu<'_, '_>) -> Option<Departure> {
        call(running, Hypercall::Ipi, [2, 5, 0])
    }
    ONE.try_with(|running, until| beside_a_sleeper(running, until, power_off, prod));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, restart, prod));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, power_off, interrupt));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, restart, interrupt));
}

#[test]
fn a_vcpu_wakes_by_its_timer_while_its_partition_ends_or_starts_anew() {
    fn sleep(running: Vcpu<'_, '_>) -> Option<Departure> {
        (turn(running) == 0).then(|| {
            running.registers.supervisor.decrementer_expires = 100;
            Departure::Ceded
        })
    }
    fn at_its_time(running: Vcpu<'_, '_>, until: u64) -> Option<Departure> {
        let until = until.min(100);
        (running.system.hal.fake.timebase.get() < 100).then(|| Machine::compute(running, until))
    }
    ONE.try_with(|running, until| {
        let early = (running.place == (0, 0)).then(|| at_its_time(running, until)).flatten();
        early.unwrap_or_else(|| beside_the_end(running, until, power_off, sleep))
    });
    ONE.try_with(|running, until| {
        let early = (running.place == (0, 0)).then(|| at_its_time(running, until)).flatten();
        early.unwrap_or_else(|| beside_the_restart(running, until, sleep))
    });
}

#[test]
fn a_partition_is_loaded_again_beside_one_that_sleeps() {
    const BESIDE: Model = Model::of(2, &[2, 1]);
    BESIDE.try_with(|running, until| {
        let restarts = running.system.partitions()[0].lock().statistics.restarts;
        match (running.place, turn(running)) {
            ((1, _), 0) => {
                running.registers.supervisor.decrementer_expires = 100;
                Departure::Ceded
            }
            ((0, 0), 0) if restarts == 0 => restart(running),
            ((0, 1), _) => Machine::compute(running, until),
            _ => OFF,
        }
    });
}

#[test]
fn two_vcpus_that_end_their_partition_end_it_once() {
    TWO.try_with(|running, until| {
        beside_the_end(running, until, power_off, |r| Some(power_off(r)))
    });
}

#[test]
fn a_time_limit_ends_a_partition_once_whatever_the_others_do() {
    const LIMITED: Model =
        Model { ends: &[Outcome::PoweredOff, LIMIT], time_limit: Some(50), ..ONE };
    fn compute(running: Vcpu<'_, '_>) -> Departure {
        Machine::compute(running, running.system.hal.fake.timebase.get() + 50)
    }
    LIMITED.try_with(|running, until| {
        beside_the_end(running, until, compute, |running| rtas(running, Buffer::Start))
    });
    LIMITED.try_with(|running, until| {
        beside_the_end(running, until, compute, |running| Some(power_off(running)))
    });
    LIMITED.try_with(|running, until| match running.place.1 {
        0 if running.system.partitions()[0].lock().statistics.restarts == 0 => restart(running),
        2 => stop_self(running),
        _ => Machine::compute(running, until),
    });
}

#[test]
fn a_vcpu_that_stops_itself_is_started_again_or_its_partition_is_over() {
    const STOPPED: Model = Model { ends: &[Outcome::PoweredOff, ALL_STOPPED], ..ONE };
    STOPPED.try_with(|running, _| match (running.place.1, turn(running)) {
        _ if is_started(running) => power_off(running),
        (1, 0) => rtas(running, Buffer::Start).unwrap_or(Departure::Changed),
        _ => stop_self(running),
    });
}

#[test]
fn of_two_that_start_a_vcpu_one_does() {
    const STOPPED: Model = Model { ends: &[Outcome::PoweredOff, ALL_STOPPED], ..ONE };
    STOPPED.try_with(|running, _| match (running.place.1, turn(running)) {
        _ if is_started(running) => power_off(running),
        (0 | 1, 0) => rtas(running, Buffer::Start).unwrap_or(Departure::Changed),
        _ => stop_self(running),
    });
}

/// A hardware thread has taken the first vCPU from the queue when another one lets the partition start anew,
/// which makes that vCPU ready again.
#[test]
fn a_vcpu_that_was_taken_when_its_partition_started_anew_runs_and_is_not_ready() {
    const THREE: Model = Model { switches: Some(3), ..Model::of(2, &[2]) };
    THREE.try_with(|running, until| {
        let is_new = running.system.partitions()[0].lock().statistics.restarts > 0;
        match (running.place.1, turn(running)) {
            (0, _) if is_new => OFF,
            (0, 0) => Departure::AwaitsProd,
            (0, _) => Machine::compute(running, until),
            (_, 0) => call(running, Hypercall::Prod, [0; 3]).unwrap_or(Departure::Changed),
            _ => restart(running),
        }
    });
}

/// Between a thread's finding that nothing will happen and the end of all partitions, another thread's timer comes.
#[test]
fn a_sleeper_that_wakes_after_all_was_given_up_runs_no_more_or_ends_in_good_order() {
    const NOTHING: Outcome = Outcome::Stopped(StopReason::NothingToWake);
    const LATE: Model = Model { ends: &[Outcome::PoweredOff, NOTHING], ..Model::of(2, &[1, 1]) };
    LATE.try_with(|running, _| match turn(running) {
        0 => {
            // Longer than the patience of the models.
            running.registers.supervisor.decrementer_expires = 3_000_000;
            Departure::Ceded
        }
        _ => OFF,
    });
}
