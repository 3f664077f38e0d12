//! Each way in which a partition is concluded, beside each call that another of its vCPUs makes meanwhile: the table of
//! `docs/decisions/0006-hand-overs.md`, by its rows and columns.

use arch::papr::{Hypercall, area, mode, process_table};

use super::calls::{Buffer, call, register_area, register_log, rtas, touch, turn, walk_outside};
use super::lives::{
    ALL_STOPPED, LIMIT, ONE, Vcpu, beside_the_end, beside_the_restart, power_off, restart,
    stop_self,
};
use super::machine::Machine;
use super::orders::Model;
use crate::guest_memory::AccessError;
use crate::life::outcome::{Departure, Outcome, StopReason};
use arch::address::GuestRealAddress;

/// Outside of a partition's memory.
const OUTSIDE: u64 = 0x7000_0000;
const WILD: Outcome =
    Outcome::Stopped(StopReason::Access(AccessError::Outside(GuestRealAddress(OUTSIDE))));
const ENDS: &[Outcome] = &[Outcome::PoweredOff, WILD, ALL_STOPPED, LIMIT];
/// There are too many for three switches, in the nightly run too.
const ANY_END: Model = Model { ends: ENDS, switches: Some(2), ..ONE };
const LIMITED: Model = Model { time_limit: Some(50), ..ANY_END };

fn wild_access(running: Vcpu<'_, '_>) -> Departure {
    walk_outside(running, OUTSIDE).expect("it is not its memory")
}

/// Runs until its partition has no time left.
fn use_up_the_time(running: Vcpu<'_, '_>) -> Departure {
    Machine::compute(running, running.system.hal.fake.timebase.get() + 50)
}

/// Makes a call that leaves, and not again when it has returned: that would be without end.
fn once(running: Vcpu<'_, '_>, which: Hypercall, arguments: [u64; 3]) -> Option<Departure> {
    if turn(running) == 0 { call(running, which, arguments) } else { None }
}

/// A module for each call, with a test for each conclusion.
macro_rules! beside_each_conclusion {
    ($($name:ident: $call:expr;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn beside_power_off() {
                ANY_END.try_with(|running, until| beside_the_end(running, until, power_off, $call));
            }

            #[test]
            fn beside_an_exit_that_ends() {
                ANY_END.try_with(|running, until| beside_the_end(running, until, wild_access, $call));
            }

            #[test]
            fn beside_a_time_limit() {
                LIMITED.try_with(|running, until| {
                    beside_the_end(running, until, use_up_the_time, $call)
                });
            }

            #[test]
            fn beside_a_restart() {
                ANY_END.try_with(|running, until| beside_the_restart(running, until, $call));
            }
        }
    )* };
}

beside_each_conclusion! {
    power_off_again: |running| Some(power_off(running));
    restart_again: |running| Some(restart(running));
    access_outside: |running| Some(wild_access(running));
    start_cpu: |running| rtas(running, Buffer::Start);
    stop_self_too: |running| Some(stop_self(running));
    cede: |_| Some(Departure::Ceded);
    confer_to_itself: |_| Some(Departure::AwaitsProd);
    confer: |running| once(running, Hypercall::Confer, [0, 0, 0]);
    confer_to_any: |running| once(running, Hypercall::Confer, [u64::MAX, 0, 0]);
    prod: |running| call(running, Hypercall::Prod, [0; 3]);
    interrupt: |running| call(running, Hypercall::Ipi, [0, 5, 0]);
    area_of_its_own: |running| register_area(running, 1);
    area_of_a_stopped_one: |running| register_area(running, 2);
    log_of_another: |running| register_area(running, 0).or_else(|| register_log(running, 0));
    area_taken_back: |running| {
        let flags = area::FUNCTION.set(0, area::DEREGISTER_AREA);
        register_area(running, 0).or_else(|| call(running, Hypercall::RegisterVpa, [flags, 0, 0]))
    };
    change_of_mode: |running| call(running, Hypercall::SetMode, [1, mode::ENDIANNESS, 0]);
    process_table_taken_back: |running| {
        call(running, Hypercall::RegisterProcTbl, [process_table::DEREGISTER, 0, 0])
    };
    fault: |running| if turn(running) == 0 { touch(running, 0x8000) } else { None };
}
