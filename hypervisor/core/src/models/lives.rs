//! Pairs of transitions in the life of a partition and its vCPUs (the tables of [`crate::partition::life`]) that two hardware threads
//! make at a time: an end and a restart beside each other, themselves, and all else that a vCPU can do or suffer.

use arch::papr::{Hypercall, mode};
use arch::registers::lpcr;

use super::calls::{Buffer, call, is_started, register_area, register_log, rtas, touch, turn};
use super::machine::Machine;
use super::orders::Model;
use crate::dispatch::Running;
use crate::partition::outcome::Leave;
use crate::partition::outcome::{Outcome, StopReason};
use crate::vcpu::activity::Activity;

type Vcpu<'a, 'b> = &'a mut Running<'b, Machine>;

const OFF: Leave = Leave::Ended(Outcome::PoweredOff);
const LIMIT: Outcome = Outcome::Stopped(StopReason::TimeLimit);
const ALL_STOPPED: Outcome = Outcome::Stopped(StopReason::AllStopped);

fn power_off(running: Vcpu<'_, '_>) -> Leave {
    rtas(running, Buffer::PowerOff).expect("it does not return")
}

fn restart(running: Vcpu<'_, '_>) -> Leave {
    rtas(running, Buffer::Restart).expect("it does not return")
}

fn stop_self(running: Vcpu<'_, '_>) -> Leave {
    rtas(running, Buffer::StopSelf).expect("it does not return")
}

/// vCPU 0 ends its partition, by what `end` does; vCPU 1 does `other`, and then whatever it is let do until it is
/// called back; vCPU 2 stops itself first, and ends the partition again if it is started. Beside them there is a
/// partition that sleeps for a while: whether it still runs then is what a wrong count would show.
fn beside_the_end(
    running: Vcpu<'_, '_>,
    until: u64,
    end: fn(Vcpu<'_, '_>) -> Leave,
    other: fn(Vcpu<'_, '_>) -> Option<Leave>,
) -> Leave {
    if running.place.0 == 1 {
        return if turn(running) == 0 {
            running.registers.supervisor.decrementer_expires = 100;
            Leave::Ceded
        } else {
            OFF
        };
    }
    match running.place.1 {
        0 => end(running),
        1 => other(running).unwrap_or_else(|| Machine::compute(running, until)),
        _ if is_started(running) => power_off(running),
        _ => stop_self(running),
    }
}

/// The same with a restart, after which the first vCPU finds itself alone, and everything as it was at first.
fn beside_the_restart(
    running: Vcpu<'_, '_>,
    until: u64,
    other: fn(Vcpu<'_, '_>) -> Option<Leave>,
) -> Leave {
    let partition = running.system.partitions()[0].lock();
    let is_new = partition.statistics.restarts > 0;
    if is_new {
        assert_eq!(running.place.1, 0, "only the first vCPU was started");
        for vcpu in &partition.vcpus {
            assert!(vcpu.is_running() || vcpu.activity() == Activity::Stopped);
            assert!(!vcpu.areas.has_area() && vcpu.areas.log.is_none() && !vcpu.is_prodded);
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
const ONE: Model = Model::of(2, &[3]);

#[test]
fn a_vcpu_that_is_started_while_its_partition_ends_does_not_run() {
    TWO.try_with(|running, until| {
        beside_the_end(running, until, power_off, |running| rtas(running, Buffer::Start))
    });
}

#[test]
fn a_vcpu_that_is_started_while_its_partition_starts_anew_does_not_run() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| rtas(running, Buffer::Start))
    });
}

#[test]
fn an_area_that_is_registered_while_its_partition_ends_is_not_kept() {
    TWO.try_with(|running, until| {
        beside_the_end(running, until, power_off, |running| register_area(running, 2))
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

#[test]
fn areas_of_who_asked_for_the_restart_do_not_outlive_it() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| register_area(running, 0))
    });
}

#[test]
fn a_vcpu_that_is_prodded_while_its_partition_starts_anew_does_not_know_it_after() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| call(running, Hypercall::Prod, [0; 3]))
    });
}

#[test]
fn an_interrupt_does_not_outlive_a_restart() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| call(running, Hypercall::Ipi, [0, 5, 0]))
    });
}

#[test]
fn a_mode_does_not_outlive_a_restart() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| {
            call(running, Hypercall::SetMode, [1, mode::ENDIANNESS, 0])
        })
    });
}

#[test]
fn a_fault_beside_a_restart_or_an_end_does_no_harm() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| touch(running, 0x8000))
    });
    TWO.try_with(|running, until| {
        beside_the_end(running, until, power_off, |running| touch(running, 0x8000))
    });
}

#[test]
fn a_vcpu_stops_itself_while_its_partition_ends_or_starts_anew() {
    ONE.try_with(|running, until| {
        beside_the_restart(running, until, |running| Some(stop_self(running)))
    });
    ONE.try_with(|running, until| {
        beside_the_end(running, until, power_off, |running| Some(stop_self(running)))
    });
}

#[test]
fn a_vcpu_falls_asleep_while_its_partition_starts_anew() {
    ONE.try_with(|running, until| beside_the_restart(running, until, |_| Some(Leave::Ceded)));
    ONE.try_with(|running, until| beside_the_restart(running, until, |_| Some(Leave::AwaitsProd)));
}

/// vCPU 0 ends the partition or lets it start anew, vCPU 1 wakes vCPU 2, which sleeps.
fn beside_a_sleeper(
    running: Vcpu<'_, '_>,
    until: u64,
    end: fn(Vcpu<'_, '_>) -> Leave,
    wake: fn(Vcpu<'_, '_>) -> Option<Leave>,
) -> Leave {
    let is_new = running.system.partitions()[0].lock().statistics.restarts > 0;
    match (running.place.1, turn(running)) {
        (0, _) if is_new => OFF,
        (0, _) => end(running),
        _ if is_new => panic!("only the first vCPU was started"),
        (1, _) => wake(running).unwrap_or_else(|| Machine::compute(running, until)),
        (_, 0) => Leave::Ceded,
        _ => Machine::compute(running, until),
    }
}

#[test]
fn a_sleeper_that_is_woken_while_its_partition_ends_or_starts_anew_runs_no_more() {
    fn prod(running: Vcpu<'_, '_>) -> Option<Leave> {
        call(running, Hypercall::Prod, [2, 0, 0])
    }
    fn interrupt(running: Vcpu<'_, '_>) -> Option<Leave> {
        call(running, Hypercall::Ipi, [2, 5, 0])
    }
    ONE.try_with(|running, until| beside_a_sleeper(running, until, power_off, prod));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, restart, prod));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, power_off, interrupt));
    ONE.try_with(|running, until| beside_a_sleeper(running, until, restart, interrupt));
}

#[test]
fn a_vcpu_wakes_by_its_timer_while_its_partition_ends_or_starts_anew() {
    fn sleep(running: Vcpu<'_, '_>) -> Option<Leave> {
        (turn(running) == 0).then(|| {
            running.registers.supervisor.decrementer_expires = 100;
            Leave::Ceded
        })
    }
    fn at_its_time(running: Vcpu<'_, '_>, until: u64) -> Option<Leave> {
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
fn a_partition_that_ends_while_it_starts_anew_is_over_once() {
    ONE.try_with(|running, until| beside_the_restart(running, until, |r| Some(power_off(r))));
}

#[test]
fn two_vcpus_that_restart_their_partition_at_a_time_do_so_once_or_one_after_the_other() {
    ONE.try_with(|running, until| beside_the_restart(running, until, |r| Some(restart(r))));
}

#[test]
fn a_partition_is_loaded_again_beside_one_that_sleeps() {
    const BESIDE: Model = Model::of(2, &[2, 1]);
    BESIDE.try_with(|running, until| {
        let restarts = running.system.partitions()[0].lock().statistics.restarts;
        match (running.place, turn(running)) {
            ((1, _), 0) => {
                running.registers.supervisor.decrementer_expires = 100;
                Leave::Ceded
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
    fn compute(running: Vcpu<'_, '_>) -> Leave {
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
        (1, 0) => rtas(running, Buffer::Start).unwrap_or(Leave::Changed),
        _ => stop_self(running),
    });
}
