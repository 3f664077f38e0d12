//! Dispatching against the fake machine, whose guests do what a script says.

use std::cell::RefCell;
use std::rc::Rc;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use arch::address::GuestRealAddress;

use super::{Dispatcher, Leave, Policy};
use crate::console::Console;
use crate::fake::Fake;
use crate::memory::Range;
use crate::partition::{Outcome, Partition, StopReason};
use crate::registers::Registers;
use crate::schedule::WEIGHT_DEFAULT;
use crate::vcpu::{Activity, Schedule, Vcpu};

const SLICE: u64 = 1000;
const MIB: u64 = 1 << 20;

/// Partitions with so many vCPUs each, all of which are started.
fn partitions(hal: &Fake, vcpus: &[usize]) -> (Vec<Partition<Fake>>, Schedule) {
    let mut schedule = Schedule::default();
    let make = |(index, vcpus): (usize, &usize)| {
        let mut partition = hal.partition(Range::new(2 * MIB * index as u64, 2 * MIB));
        partition.name = index.to_string();
        for _ in 0..*vcpus {
            let id = schedule.queue.add(WEIGHT_DEFAULT);
            let registers = Registers::started(GuestRealAddress(0), 0, 0);
            let mut vcpu = Vcpu { id, registers, activity: Activity::Stopped };
            schedule.start(&mut vcpu);
            partition.vcpus.push(vcpu);
        }
        partition
    };
    (vcpus.iter().enumerate().map(make).collect(), schedule)
}

fn run(
    hal: &Fake,
    (partitions, schedule): (Vec<Partition<Fake>>, Schedule),
) -> Vec<Partition<Fake>> {
    let console = Console::default();
    console.set_shared(partitions.len() > 1);
    let policy = Policy { slice: SLICE };
    Dispatcher::new(hal, &console, policy, partitions, schedule).run()
}

#[test]
fn partitions_take_turns_until_each_is_over_and_nobody_can_stop_the_others() {
    let hal = Fake::new(8 << 20);
    let order = Rc::new(RefCell::new(Vec::new()));
    let seen = order.clone();
    hal.play(move |hal, guest, _, until| {
        let name = guest.partition.name.clone();
        seen.borrow_mut().push((name.clone(), until - hal.timebase.get()));
        hal.timebase.set(until);
        let left = guest.partition.vcpus[0].registers.gpr[3];
        guest.partition.vcpus[0].registers.gpr[3] += 1;
        match name.as_str() {
            // An endless loop, but for the time limit.
            "0" => Leave::Preempted,
            _ if left == 2 => Leave::Ended(Outcome::PoweredOff),
            _ => Leave::Preempted,
        }
    });
    let mut setup = partitions(&hal, &[1, 1, 1]);
    setup.0[0].time_limit = Some(5 * SLICE + 10);
    let ended = run(&hal, setup);
    let stopped = Outcome::Stopped(StopReason::TimeLimit);
    let outcomes: Vec<_> = ended.iter().map(|p| p.outcome.clone().unwrap()).collect();
    assert_eq!(outcomes, [stopped, Outcome::PoweredOff, Outcome::PoweredOff]);
    let order = order.borrow();
    let names: String = order.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, "0120120120");
    // Alone, it runs to its limit; the limit ends the last slice early.
    assert!(order[..9].iter().all(|(_, ticks)| *ticks == SLICE));
    assert_eq!(order[9].1, 2 * SLICE + 10);
    assert_eq!(ended[0].statistics.ran, 5 * SLICE + 10);
}

#[test]
fn floating_point_registers_are_moved_only_between_vcpus_and_never_seen_by_another() {
    let hal = Fake::new(8 << 20);
    let entries = Rc::new(RefCell::new(vec![0u64; 3]));
    let counted = entries.clone();
    hal.play(move |hal, guest, _, until| {
        hal.timebase.set(until);
        let index = guest.partition.vcpus[guest.vcpu].id.0 as usize;
        let entry = counted.borrow()[index];
        // What it finds is what it left.
        let mine = |entry: u64| (index as u64 + 1) << 32 | entry;
        let expected = if entry == 0 { 0 } else { mine(entry - 1) };
        assert_eq!(hal.floating.borrow().fpr, [expected; 32]);
        assert_eq!(hal.floating.borrow().fpscr, expected);
        hal.floating.borrow_mut().fpr = [mine(entry); 32];
        hal.floating.borrow_mut().fpscr = mine(entry);
        counted.borrow_mut()[index] += 1;
        if entry < 20 { Leave::Changed } else { Leave::Ended(Outcome::PoweredOff) }
    });
    let ended = run(&hal, partitions(&hal, &[2, 1]));
    assert!(ended.iter().all(|partition| partition.outcome == Some(Outcome::PoweredOff)));
    assert!(entries.borrow().iter().all(|entries| *entries > 10));
}

#[test]
fn lines_of_partitions_that_share_the_console_are_whole_and_named() {
    let hal = Fake::new(8 << 20);
    hal.play(|hal, guest, _, until| {
        hal.timebase.set(until);
        let turn = guest.partition.vcpus[0].registers.gpr[3];
        guest.partition.vcpus[0].registers.gpr[3] += 1;
        let text: &[u8] = match turn {
            0 => b"one",
            1 => b" line\nnext",
            _ => b"",
        };
        guest.console.guest(hal, guest.partition, text);
        if turn < 2 { Leave::Preempted } else { Leave::Ended(Outcome::PoweredOff) }
    });
    run(&hal, partitions(&hal, &[1, 1]));
    assert_eq!(hal.text(), "[0] one line\n[1] one line\n[0] next\n[1] next\n");
}
