//! Dispatching against the fake machine, whose guests do what a script says.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use arch::address::GuestRealAddress;
use arch::bundle::{HashCallPolicy, RegisterPolicy, Translation};
use arch::hash::{first, second};
use arch::papr::Hypercall;
use arch::papr::hashed::EXACT;
use arch::papr::status::{H_FUNCTION, H_NOT_FOUND, H_SUCCESS};
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, monitor, msr};

use super::residence::Resident;
use super::{Chosen, Departure};
use crate::console::Console;
use crate::exit::{self, Action, Door, Exit};
use crate::facilities::Demanded;
use crate::fake::Fake;
use crate::guest_memory::GuestMemory;
use crate::hal::{Maps, Windows};
use crate::hash_table::HashTable;
use crate::hash_table::Options;
use crate::hypercall::Guest;
use crate::interrupts::doorbell::Doorbell;
use crate::interrupts::handler::Context;
use crate::life::activity::{self, Activity, Sleep};
use crate::life::outcome::{Outcome, StopReason};
use crate::memory::Range;
use crate::partition::Partition;
use crate::partition::image::{self, Image, Suspension};
use crate::report;
use crate::scheduling::meter::Stay;
use crate::scheduling::queue::WEIGHT_DEFAULT;
use crate::scheduling::schedule::Schedule;
use crate::system::{Policy, System};
use crate::vcpu::Vcpu;
use crate::vcpu::registers::{Registers, Supervisor};
use crate::vcpu::vpa::Log;
use crate::vcpu_id::VcpuId;

mod let_in;

const SLICE: u64 = 1000;
const PATIENCE: u64 = 1_000_000;
const ENTRY: GuestRealAddress = GuestRealAddress(0x100);
const MIB: u64 = 1 << 20;
const POLICY: Policy = Policy {
    slice: SLICE,
    patience: PATIENCE,
    registers: RegisterPolicy::Owned,
    hash_calls: HashCallPolicy::Fast,
};

/// Partitions with so many vCPUs each, all of which are started.
fn partitions(hal: &Fake, vcpus: &[usize]) -> (Vec<Partition<Fake>>, Schedule) {
    on_threads(1, hal, vcpus)
}

fn on_threads(threads: usize, hal: &Fake, vcpus: &[usize]) -> (Vec<Partition<Fake>>, Schedule) {
    let mut schedule = Schedule::new(threads);
    let make = |(index, vcpus): (usize, &usize)| {
        let mut partition = hal.partition(Range::new(2 * MIB * index as u64, 2 * MIB));
        partition.name = index.to_string();
        for _ in 0..*vcpus {
            let id = schedule.queue.add(WEIGHT_DEFAULT);
            let registers = Registers::started(ENTRY, 0, 0);
            partition.vcpus.push(Vcpu::new(id, registers));
            let last = partition.vcpus.len() - 1;
            schedule.start_in(&mut partition, last, 0);
        }
        partition
    };
    (vcpus.iter().enumerate().map(make).collect(), schedule)
}

fn run(
    hal: &Fake,
    (partitions, schedule): (Vec<Partition<Fake>>, Schedule),
) -> Vec<Partition<Fake>> {
    let (start, entries) = (hal.timebase.get(), hal.entries.get());
    let console = Console::default();
    console.set_shared(partitions.len() > 1);
    let system = System::new(hal, &console, POLICY, partitions, schedule, vec![0]);
    system.run_thread(0);
    let meter = *system.schedule.lock().meter(0);
    system.close_accounts();
    let partitions = system.into_partitions();
    // Each tick is somebody's.
    let ran: u64 = partitions.iter().map(|partition| partition.statistics.ran).sum();
    assert_eq!(meter.elapsed, hal.timebase.get() - start);
    assert_eq!(ran + meter.idle + meter.own + meter.ends, meter.elapsed);
    // The fake guest makes one hypercall each time that it is entered.
    let calls = partitions.iter().flat_map(|partition| &partition.statistics.exits);
    assert_eq!(calls.map(|exits| exits.hypercalls).sum::<u64>(), hal.entries.get() - entries);
    partitions
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
        let left = guest.partition.vcpus[0].registers.as_mut().unwrap().gpr[3];
        guest.partition.vcpus[0].registers.as_mut().unwrap().gpr[3] += 1;
        match name.as_str() {
            // An endless loop, but for the time limit.
            "0" => Departure::Preempted,
            _ if left == 2 => Departure::Ended(Outcome::PoweredOff),
            _ => Departure::Preempted,
        }
    });
    let mut setup = partitions(&hal, &[1, 1, 1]);
    setup.0[0].time_limit = Some(5 * SLICE + 10);
    let ended = run(&hal, setup);
    let stopped = Outcome::Stopped(StopReason::TimeLimit);
    let outcomes: Vec<_> = ended.iter().map(|p| p.life.outcome().unwrap().clone()).collect();
    assert_eq!(outcomes, [stopped, Outcome::PoweredOff, Outcome::PoweredOff]);
    let order = order.borrow();
    let names: String = order.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, "0120120120");
    // Alone, it runs to its limit. What its exits took before others came, they pay.
    assert!(order[..9].iter().all(|(_, ticks)| *ticks == SLICE));
    assert!((2 * SLICE..3 * SLICE).contains(&order[9].1), "{order:?}");
    let limit = 5 * SLICE + 10;
    assert!((limit..limit + SLICE).contains(&ended[0].statistics.ran), "{:?}", ended[0].statistics);
}

/// Runs three vCPUs of two partitions on one thread, 20 entries of each, and does `check` at every one: with
/// the number of the vCPU and of the entry.
fn at_each_entry(mut check: impl FnMut(&Fake, &mut Guest<'_, Fake>, usize, u64) + 'static) {
    let hal = Fake::new(8 << 20);
    let entries = Rc::new(RefCell::new(vec![0u64; 3]));
    let counted = entries.clone();
    hal.play(move |hal, guest, _, until| {
        hal.timebase.set(until);
        let index = guest.partition.vcpus[guest.vcpu].id.0 as usize;
        let entry = counted.borrow()[index];
        check(hal, guest, index, entry);
        counted.borrow_mut()[index] += 1;
        if entry < 20 { Departure::Changed } else { Departure::Ended(Outcome::PoweredOff) }
    });
    let ended = run(&hal, partitions(&hal, &[2, 1]));
    assert!(ended.iter().all(|partition| partition.life.outcome() == Some(&Outcome::PoweredOff)));
    assert!(entries.borrow().iter().all(|entries| *entries > 10));
}

/// What vCPU `index` leaves in registers at an entry: no other does, nor at another one.
fn mine(index: usize, entry: u64) -> u64 {
    (index as u64 + 1) << 32 | entry
}

/// What comes of the vCPU's use of a facility that it does not have.
fn uses(hal: &Fake, guest: &mut Guest<'_, Fake>, facility: Facility) -> Action {
    let interrupted = Context { pc: 0, msr: msr::SF };
    let exit = Exit::FacilityUnavailable { interrupted, facility: Some(facility) };
    exit::handle(guest.partition, guest.vcpu, hal, Door::Real, exit)
}

/// The vCPU uses a facility that it does not have, and goes on with it.
fn use_for_the_first_time(hal: &Fake, guest: &mut Guest<'_, Fake>, facility: Facility) {
    assert_eq!(uses(hal, guest, facility), Action::Resume);
}

#[test]
fn floating_point_registers_are_never_seen_by_another_and_become_a_part_of_vectors() {
    at_each_entry(|hal, guest, index, entry| {
        // vCPU 1 never uses vectors; the others do, behind two entries with floating point.
        if entry == 0 {
            use_for_the_first_time(hal, guest, Facility::Fp);
        } else if entry == 2 && index != 1 {
            use_for_the_first_time(hal, guest, Facility::VecVsx);
        }
        // What it finds is what it left.
        let expected = if entry == 0 { 0 } else { mine(index, entry - 1) };
        let mut on = hal.facilities.borrow_mut();
        assert_eq!(on.is_given(Facility::VecVsx), index != 1 && entry >= 2);
        assert!(on.vsr[..32].iter().all(|vsr| vsr[0] == expected) && on.fpscr == expected);
        on.fpscr = mine(index, entry);
        on.vsr[..32].iter_mut().for_each(|vsr| vsr[0] = mine(index, entry));
    });
}

#[test]
fn facilities_move_with_the_vcpu_that_used_them_and_no_other_has_them() {
    at_each_entry(|hal, guest, index, entry| {
        // vCPU 1 never uses vectors; the others from their third entry on.
        let has = hal.facilities.borrow().facilities & Facility::VecVsx.bit() != 0;
        assert_eq!(has, index != 1 && entry > 2);
        if index == 1 || entry < 2 {
            return;
        }
        if entry == 2 {
            use_for_the_first_time(hal, guest, Facility::VecVsx);
        }
        let expected = if entry == 2 { 0 } else { mine(index, entry - 1) };
        let mut facilities = hal.facilities.borrow_mut();
        assert_eq!((facilities.vsr, facilities.vscr), ([[expected; 2]; 64], [expected; 2]));
        (facilities.vsr, facilities.vscr) =
            ([[mine(index, entry); 2]; 64], [mine(index, entry); 2]);
    });
}

#[test]
fn of_a_silent_partition_the_first_facility_that_is_withheld_is_told() {
    let hal = Fake::new(8 << 20);
    let console = Console::default();
    let (mut partitions, _) = partitions(&hal, &[1, 1]);
    let [silent, speaks] = &mut partitions[..] else { panic!("two") };
    console.guest(&hal, speaks, b"hello\n");
    for partition in [silent, speaks] {
        for facility in [Facility::Pm, Facility::Tm] {
            report::withheld(&console, &hal, partition, 0, 0x1234, Some(facility));
        }
    }
    let text = "hello\npowervisor: withheld: partition 0: vCPU 0 uses the performance monitor at \
        0000000000001234, which HFSCR withholds, before it wrote a character: an illegal instruction to it\n";
    assert_eq!(hal.text(), text);
}

/// The first illegal instruction too, and if it lies where a handler would, what that is for.
#[test]
fn of_a_silent_partition_the_first_illegal_instruction_is_told() {
    let hal = Fake::new(8 << 20);
    let console = Console::default();
    let (mut partitions, _) = partitions(&hal, &[1, 1, 1]);
    console.guest(&hal, &mut partitions[2], b"hello\n");
    for (partition, address) in partitions.iter_mut().zip([0x1234, 0x300, 0x1234]) {
        for before in [0x5678, 0x9ABC] {
            report::illegal(&console, &hal, partition, 0, address, before);
        }
    }
    let text = "hello\npowervisor: illegal: partition 0: vCPU 0 finds no instruction of this processor at \
        0000000000001234, before it wrote a character\npowervisor: illegal: partition 1: vCPU 0 finds no instruction of \
        this processor at 0000000000000300, before it wrote a character: no handler for Data Storage, which it has from \
        0000000000005678\n";
    assert_eq!(hal.text(), text);
}

#[test]
fn lines_of_partitions_that_share_the_console_are_whole_and_named() {
    let hal = Fake::new(8 << 20);
    hal.play(|hal, guest, _, until| {
        hal.timebase.set(until);
        let turn = guest.partition.vcpus[0].registers.as_mut().unwrap().gpr[3];
        guest.partition.vcpus[0].registers.as_mut().unwrap().gpr[3] += 1;
        let text: &[u8] = match turn {
            0 => b"one",
            1 => b" line\nnext",
            _ => b"",
        };
        guest.console.guest(hal, guest.partition, text);
        if turn < 2 { Departure::Preempted } else { Departure::Ended(Outcome::PoweredOff) }
    });
    run(&hal, partitions(&hal, &[1, 1]));
    assert_eq!(hal.text(), "[0] one line\n[1] one line\n[0] next\n[1] next\n");
}

/// Partitions of which only the first vCPU was started.
fn with_idle_vcpus(hal: &Fake, vcpus: &[usize]) -> (Vec<Partition<Fake>>, Schedule) {
    let (mut partitions, mut schedule) = partitions(hal, vcpus);
    for vcpu in partitions.iter_mut().flat_map(|partition| &mut partition.vcpus[1..]) {
        schedule.stop(vcpu);
    }
    (partitions, schedule)
}

/// Who ran, from when to when.
type Stays = Rc<RefCell<Vec<(u32, u64, u64)>>>;

/// Lets vCPU 0 do `first` after a quarter of its first slice, and all others `others` for as long as they may
/// run and `ticks` at most; it is over when all have run twice.
fn stays(
    setup: impl FnOnce(&Fake) -> (Vec<Partition<Fake>>, Schedule),
    first: Departure,
    others: impl Fn(u32) -> (u64, Departure) + 'static,
) -> Vec<(u32, u64, u64)> {
    let hal = Fake::new(8 << 20);
    let stays = Stays::default();
    let seen = stays.clone();
    hal.play(move |hal, guest, _, until| {
        let id = guest.partition.vcpus[guest.vcpu].id.0;
        let from = hal.timebase.get();
        let is_first = seen.borrow().is_empty();
        let (ticks, departure) = if is_first { (SLICE / 4, first.clone()) } else { others(id) };
        let to = until.min(from + ticks);
        hal.timebase.set(to);
        seen.borrow_mut().push((id, from, to));
        match seen.borrow().len() {
            0..7 if to == until => Departure::Preempted,
            0..7 => departure,
            _ => OFF,
        }
    });
    run(&hal, setup(&hal));
    stays.take()
}

#[test]
fn a_slice_that_is_conferred_runs_to_its_end_at_the_expense_of_who_conferred_it() {
    let confer = Departure::Conferred(Some(VcpuId(2)));
    let stays =
        stays(|hal| partitions(hal, &[3, 1]), confer, |_| (SLICE * 100, Departure::Preempted));
    // vCPU 2 has the other three quarters; it and the others then have slices of their own, and vCPU 0,
    // which has paid for a whole one, comes after them.
    let slice = |number: u64| (SLICE * number, SLICE * (number + 1));
    let expected = [
        (0, 0, SLICE / 4),
        (2, SLICE / 4, SLICE),
        (1, slice(1).0, slice(1).1),
        (2, slice(2).0, slice(2).1),
        (3, slice(3).0, slice(3).1),
        (0, slice(4).0, slice(4).1),
    ];
    assert_eq!(stays[..6], expected);
}

#[test]
fn who_leaves_early_uses_no_more_of_a_conferred_slice_and_may_confer_it_on() {
    let confer = |to| Departure::Conferred(Some(VcpuId(to)));
    let runs = stays(
        |hal| partitions(hal, &[4]),
        confer(2),
        move |id| (SLICE / 4, if id == 2 { confer(3) } else { Departure::AwaitsProd }),
    );
    let quarter = SLICE / 4;
    // vCPU 0 has paid for three quarters by then: vCPU 1 comes first.
    let expected =
        [(0, 0, quarter), (2, quarter, 2 * quarter), (3, 2 * quarter, 3 * quarter), (1, 750, 1000)];
    assert_eq!(runs[..4], expected);
}

/// Two vCPUs that give each other their slices, or anybody, run a tenth of a slice at a time, and a third one of
/// another partition as long as it may; a fourth one sleeps for five slices at a time. When the third and the fourth
/// ran.
fn beside_two_that_confer(to: impl Fn(u32) -> Option<VcpuId> + 'static) -> [Vec<(u64, u64)>; 2] {
    let hal = Fake::new(8 << 20);
    let stays = Stays::default();
    let seen = stays.clone();
    hal.play(move |hal, guest, _, until| {
        let id = guest.partition.vcpus[guest.vcpu].id.0;
        let from = hal.timebase.get();
        let end = match id {
            2 => until.min(from + 100 * SLICE),
            _ => until.min(from + SLICE / 10),
        };
        hal.timebase.set(end);
        seen.borrow_mut().push((id, from, end));
        if end > 100 * SLICE {
            return OFF;
        }
        match id {
            0 | 1 if end < until => Departure::Conferred(to(id)),
            3 => {
                let supervisor =
                    &mut guest.partition.vcpus[0].registers.as_mut().unwrap().supervisor;
                supervisor.decrementer_expires = end + 5 * SLICE;
                Departure::Ceded
            }
            _ => Departure::Preempted,
        }
    });
    run(&hal, partitions(&hal, &[2, 1, 1]));
    let of = |wanted: u32| {
        let stays = stays.borrow();
        stays.iter().filter(|(id, ..)| *id == wanted).map(|(_, from, to)| (*from, *to)).collect()
    };
    [of(2), of(3)]
}

#[test]
fn who_confers_takes_nothing_from_others() {
    for to in [|id: u32| Some(VcpuId(1 - id)), |_: u32| None] {
        let [always, sleeper] = beside_two_that_confer(to);
        // In every interval a quarter of the time, less two slices: from the end of one stay to the begin of another.
        for (number, (_, from)) in always.iter().enumerate() {
            let mut ran = 0;
            for (begin, end) in &always[number + 1..] {
                assert!(4 * (ran + 2 * SLICE) >= begin - from, "{from} to {begin}: {always:?}");
                ran += end - begin;
            }
        }
        // Its timer is looked at whoever runs, and it does not wait for more than a slice then.
        let late = sleeper.windows(2).map(|pair| pair[1].0 - pair[0].1 - 5 * SLICE);
        assert!(late.max() <= Some(SLICE), "{sleeper:?}");
    }
}

#[test]
fn several_vcpus_that_run_at_a_time_keep_their_partitions_limit_within_a_slice() {
    const LIMIT: u64 = 10 * SLICE;
    let hal = Fake::new(8 << 20);
    let (mut partitions, schedule) = on_threads(4, &hal, &[4]);
    partitions[0].time_limit = Some(LIMIT);
    let console = Console::default();
    let policy = Policy {
        slice: SLICE,
        patience: PATIENCE,
        registers: RegisterPolicy::Owned,
        hash_calls: HashCallPolicy::Fast,
    };
    let cores = (0..4).collect();
    let system = System::new(&hal, &console, policy, partitions, schedule, cores);
    let stays = Rc::new(RefCell::new(Vec::new()));
    let seen = stays.clone();
    hal.play(move |hal, _, _, until| {
        seen.borrow_mut().push(until - hal.timebase.get());
        hal.timebase.set(until);
        Departure::Preempted
    });
    system.run_thread(0);
    // What is left is for all four, and at the end a quarter of a slice is.
    let stays = stays.borrow();
    assert_eq!(stays[0], SLICE);
    let (last, others) = stays.split_last().unwrap();
    assert!(others.iter().all(|ticks| (SLICE / 16..=SLICE).contains(ticks)), "{stays:?}");
    assert!(*last <= SLICE / 16, "{stays:?}");
    system.close_accounts();
    let ran = system.partitions()[0].lock().statistics.ran;
    assert!((LIMIT..LIMIT + SLICE / 4).contains(&ran), "{ran}");
}

#[test]
fn what_runs_and_was_not_charged_yet_counts_for_a_time_limit() {
    const LIMIT: u64 = 10 * SLICE;
    let hal = Fake::new(8 << 20);
    let (mut partitions, mut schedule) = on_threads(2, &hal, &[2]);
    partitions[0].time_limit = Some(LIMIT);
    let running = schedule.queue.take(1).unwrap();
    let stay = Stay {
        vcpu: running,
        payer: running,
        entered: 0,
        left: 100,
        is_interrupted: false,
        runs_on: false,
    };
    schedule.stayed(1, Stay { left: 0, ..stay });
    let Partition { life, vcpus, .. } = &mut partitions[0];
    vcpus[0].run(1, life.may_run().unwrap()).unwrap();
    assert_eq!(schedule.time_left(&partitions[0], 0), Some(LIMIT));
    assert_eq!(schedule.time_left(&partitions[0], 30), Some(LIMIT - 30));
    schedule.stayed(1, stay);
    assert_eq!(schedule.time_left(&partitions[0], 100), Some(LIMIT - 100));
}

/// One vCPU runs when the end is decided, at 100, and leaves at 150; another one was taken by a thread, and waits.
#[test]
fn what_an_end_takes_is_charged_to_nobody() {
    let hal = Fake::new(8 << 20);
    let (mut partitions, mut schedule) = on_threads(2, &hal, &[2]);
    let ids = [0, 1].map(|thread| schedule.queue.take(thread).unwrap());
    for (thread, vcpu) in ids.into_iter().enumerate() {
        let (is_interrupted, runs_on) = (true, false);
        let stay = Stay { vcpu, payer: vcpu, entered: 0, left: 0, is_interrupted, runs_on };
        schedule.stayed(thread, stay);
        schedule.expects(thread, vcpu);
    }
    schedule.enters(0, ids[0], false, 0);
    partitions[0].time_limit = Some(1000);
    assert_eq!(schedule.time_left(&partitions[0], 90), Some(1000 - 2 * 90));
    schedule.forgive(&partitions[0], 100);
    let (is_interrupted, runs_on) = (false, false);
    let (vcpu, payer) = (ids[0], ids[0]);
    let stay = Stay { vcpu, payer, entered: 10, left: 150, is_interrupted, runs_on };
    schedule.stayed(0, stay.until(100));
    schedule.vacates(0, ids[0], Some(100));
    for thread in [0, 1] {
        schedule.take_due(thread, 180);
        assert_eq!(schedule.meter(thread).ends, 80, "{thread}");
    }
    assert_eq!(schedule.charged(&partitions[0]), [200, 90]);
}

/// Who left before owes the way to the one that loads, and not what that does.
#[test]
fn who_loads_pays_for_what_it_loads() {
    let hal = Fake::new(8 << 20);
    let (_, mut schedule) = on_threads(1, &hal, &[1, 1]);
    let [before, loads] = [0, 0].map(|thread| schedule.queue.take(thread).unwrap());
    let (is_interrupted, runs_on) = (false, false);
    let stay = Stay { vcpu: before, payer: before, entered: 0, left: 0, is_interrupted, runs_on };
    schedule.stayed(0, stay);
    schedule.pay_entry(0, loads, 10);
    schedule.stayed(0, Stay { vcpu: loads, payer: loads, entered: 500, left: 500, ..stay });
    assert_eq!([before, loads].map(|id| schedule.queue.charged(id)[0]), [10, 490]);
}

#[test]
fn a_look_for_superpages_counts_nothing_that_the_vcpu_did() {
    let hal = Fake::new(8 << 20);
    let (mut partitions, schedule) = partitions(&hal, &[1]);
    let memory = Range::new(2 * MIB, 2 * MIB);
    partitions[0].memory = GuestMemory::new(
        &hal,
        1,
        memory,
        Translation::Hash,
        Options { has_superpages: true, ..Options::default() },
    )
    .unwrap();
    let looks = Rc::new(Cell::new(0));
    let (seen, last) = (looks.clone(), Cell::new(None));
    hal.play(move |hal, guest, _, until| {
        hal.timebase.set(until);
        let look = guest.partition.memory.hash_table().and_then(HashTable::next_look);
        seen.set(seen.get() + u32::from(last.replace(look) != look));
        if seen.get() < 5 { Departure::Changed } else { Departure::Ended(Outcome::PoweredOff) }
    });
    // It counts the hypercalls.
    run(&hal, (partitions, schedule));
    assert_eq!(looks.get(), 5);
}

#[test]
fn where_nobody_can_use_a_conferred_slice_the_next_runs_first() {
    let nobody = [None, Some(VcpuId(1))].map(Departure::Conferred);
    for confers in nobody.into_iter().chain([Departure::ConferredToAll]) {
        let setup = |hal: &Fake| with_idle_vcpus(hal, &[2, 1]);
        let runs = stays(setup, confers.clone(), |_| (SLICE, Departure::Preempted));
        assert_eq!(
            runs[..2],
            [(0, 0, SLICE / 4), (2, SLICE / 4, SLICE / 4 + SLICE)],
            "{confers:?}"
        );
    }
}

#[test]
fn a_slice_that_is_conferred_on_all_is_for_the_one_of_the_partition_that_has_waited_longest() {
    for (is_stopped, heir) in [(false, 1), (true, 2)] {
        let setup = |hal: &Fake| {
            let (mut partitions, mut schedule) = partitions(hal, &[3, 1]);
            if is_stopped {
                schedule.stop(&mut partitions[0].vcpus[1]);
            }
            (partitions, schedule)
        };
        let all = Departure::ConferredToAll;
        let runs = stays(setup, all, |_| (SLICE * 100, Departure::Preempted));
        assert_eq!(runs[..2], [(0, 0, SLICE / 4), (heir, SLICE / 4, SLICE)], "{runs:?}");
    }
}

#[test]
fn who_confers_where_nobody_else_can_run_goes_on_with_a_new_slice_and_its_limit() {
    let setup = |hal: &Fake| {
        let (mut partitions, schedule) = partitions(hal, &[1]);
        partitions[0].time_limit = Some(3 * SLICE);
        (partitions, schedule)
    };
    let all = || (SLICE / 4, Departure::ConferredToAll);
    let runs = stays(setup, all().1, move |_| all());
    let times: Vec<_> = (0..7).map(|stay| (0, stay * SLICE / 4, (stay + 1) * SLICE / 4)).collect();
    assert_eq!(runs[..7], times);
}

#[test]
fn a_core_forgets_what_a_vcpu_left_there_before_the_next_one_comes() {
    let hal = Fake::new(8 << 20);
    let (partitions, schedule) = on_threads(4, &hal, &[2]);
    let console = Console::default();
    let policy = Policy {
        slice: SLICE,
        patience: PATIENCE,
        registers: RegisterPolicy::Owned,
        hash_calls: HashCallPolicy::Fast,
    };
    let cores = vec![0, 0, 1, 1];
    let system = System::new(&hal, &console, policy, partitions, schedule, cores);
    hal.play(|_, _, _, _| Departure::AwaitsProd);
    let run = |thread, vcpu: usize| {
        let mut partition = system.partitions()[0].lock();
        system.schedule.lock().start_in(&mut partition, vcpu, hal.timebase.get());
        drop(partition);
        let mut resident = Resident::default();
        assert_eq!(
            super::run(&system, thread, &mut resident, Chosen::of(VcpuId(vcpu as u32))),
            None
        );
        resident.make_way(&system, thread, None);
        hal.forgotten.take()
    };
    assert_eq!([run(0, 0), run(1, 0), run(0, 1), run(1, 1)], [const { vec![] }; 4], "one core");
    assert_eq!(run(2, 0), [], "it was never there");
    assert_eq!(run(0, 1), [(1, false)], "another vCPU left this core");
    assert_eq!(run(0, 1), [], "once");
    assert_eq!(run(3, 1), [], "nobody has left that core");
    assert_eq!(run(0, 0), [(1, false)], "vCPU 1 has");
    // A vCPU leaves a core in which another one runs.
    {
        let partition = &mut *system.partitions()[0].lock();
        system.schedule.lock().start_in(partition, 1, hal.timebase.get());
        partition.vcpus[1].run(1, partition.life.may_run().unwrap());
    }
    assert_eq!(run(2, 0), [(1, true)]);
    assert_eq!(run(3, 0), []);
}

const OFF: Departure = Departure::Ended(Outcome::PoweredOff);

#[test]
fn a_ceded_vcpu_takes_interrupts_and_wakes_when_its_decrementer_expires() {
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |hal, guest, _, _| {
        let now = hal.timebase.get();
        let registers = guest.partition.vcpus[0].registers.as_mut().unwrap();
        turn.set(turn.get() + 1);
        match turn.get() {
            1 => {
                assert_eq!(registers.msr & msr::EE, 0);
                registers.supervisor.decrementer_expires = now + 5000;
                Departure::Ceded
            }
            _ => {
                assert_ne!(registers.msr & msr::EE, 0);
                assert_eq!(now, 5000);
                // It has expired already: there is nothing to wait for.
                if turn.get() == 2 { Departure::Ceded } else { OFF }
            }
        }
    });
    let ended = run(&hal, partitions(&hal, &[1]));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
    assert_eq!(ended[0].statistics.ran, 0, "sleep is not running");
}

#[test]
fn a_vcpu_that_pauses_in_a_stop_wakes_when_an_interrupt_is_there_and_takes_none_that_it_refuses() {
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |hal, guest, lpcr, _| {
        let now = hal.timebase.get();
        let vcpu = &mut guest.partition.vcpus[0];
        let registers = vcpu.registers.as_mut().unwrap();
        assert_eq!(registers.msr & msr::EE, 0, "only H_CEDE sets it");
        turn.set(turn.get() + 1);
        match turn.get() {
            1 => {
                // H_PROD is for H_CEDE and stays.
                vcpu.is_prodded = true;
                registers.supervisor.decrementer_expires = now + 5000;
            }
            2 => {
                assert_eq!(now, 5000);
                assert!(vcpu.is_prodded);
            }
            // It has expired already: there is nothing to wait for. Nor is there with an interrupt from another vCPU.
            3 => {
                assert_eq!(now, 5000);
                registers.supervisor.decrementer_expires = now + 5000;
                vcpu.presentation.set_cppr(0xFF);
                vcpu.presentation.set_mfrr(4);
            }
            _ => {
                assert_eq!(now, 5000);
                assert_ne!(lpcr & lpcr::MER, 0);
                return OFF;
            }
        }
        Departure::Paused
    });
    let ended = run(&hal, partitions(&hal, &[1]));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
}

/// The first vCPU has the performance monitor, and its decrementer expires in 5000 ticks.
fn counts_and_waits(hal: &Fake, guest: &mut Guest<'_, Fake>) {
    let expires = hal.timebase.get() + 5000;
    let vcpu = &mut guest.partition.vcpus[0];
    vcpu.registers.as_mut().unwrap().supervisor.decrementer_expires = expires;
    guest.partition.on_demand |= Facility::Pm.bit();
    use_for_the_first_time(hal, guest, Facility::Pm);
}

/// An alert of the performance monitor ends a `stop` of the processor's own, whatever MSR[EE] says.
#[test]
fn a_vcpu_does_not_pause_nor_cede_while_an_alert_of_its_monitor_waits() {
    for departure in [Departure::Paused, Departure::Ceded] {
        for (mmcr0, waits) in [
            (monitor::FC | monitor::PMAO, false),
            (monitor::FC | monitor::PMAO | monitor::EBE, true),
            (monitor::FC, true),
        ] {
            let hal = Fake::new(8 << 20);
            let turn = Cell::new(0);
            let departure = departure.clone();
            hal.play(move |hal, guest, _, _| {
                let now = hal.timebase.get();
                turn.set(turn.get() + 1);
                if turn.get() == 1 {
                    counts_and_waits(hal, guest);
                    hal.facilities.borrow_mut().monitor.mmcr0 = mmcr0;
                    return departure.clone();
                }
                assert_eq!(now == 5000, waits, "{mmcr0:#x}");
                OFF
            });
            let ended = run(&hal, partitions(&hal, &[1]));
            assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
        }
    }
}

/// Its counters count on until its registers are in its record.
#[test]
fn an_alert_that_comes_as_a_vcpu_falls_asleep_wakes_it() {
    for departure in [Departure::Paused, Departure::Ceded] {
        let hal = Fake::new(8 << 20);
        let turn = Cell::new(0);
        hal.play(move |hal, guest, _, _| {
            let now = hal.timebase.get();
            turn.set(turn.get() + 1);
            if turn.get() == 1 {
                counts_and_waits(hal, guest);
                hal.alerts_later.set(true);
                return departure.clone();
            }
            assert!(now < 5000, "its decrementer has woken it");
            OFF
        });
        let ended = run(&hal, partitions(&hal, &[1]));
        assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
    }
}

/// While others wait, a `stop` goes to the hypervisor, which gives the hardware thread away meanwhile.
#[test]
fn a_vcpu_has_its_stop_while_nobody_waits() {
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |hal, guest, _, _| {
        if guest.partition.name == "1" {
            return OFF;
        }
        guest.partition.on_demand |= Facility::Stop.bit();
        turn.set(turn.get() + 1);
        match turn.get() {
            1 => match uses(hal, guest, Facility::Stop) {
                Action::Departs(departure) => departure,
                action => panic!("it goes on with {action:?}, and nobody has looked who waits"),
            },
            2 => {
                assert!(!hal.allows_stop.get(), "the other partition waits");
                Departure::ConferredToAll
            }
            _ => {
                assert!(hal.allows_stop.get());
                OFF
            }
        }
    });
    run(&hal, partitions(&hal, &[1, 1]));
}

#[test]
fn a_timer_of_a_sleeper_ends_the_slice_of_one_that_runs_alone() {
    let hal = Fake::new(8 << 20);
    let entered = Rc::new(RefCell::new(Vec::new()));
    let seen = entered.clone();
    hal.play(move |hal, guest, _, until| {
        let now = hal.timebase.get();
        seen.borrow_mut().push((guest.partition.name.clone(), now));
        if guest.partition.name == "1" {
            hal.timebase.set(until.min(now + 10_000));
            return if now < 20_000 { Departure::Preempted } else { OFF };
        }
        guest.partition.vcpus[0].registers.as_mut().unwrap().supervisor.decrementer_expires = 7000;
        if now < 7000 { Departure::Ceded } else { OFF }
    });
    run(&hal, partitions(&hal, &[1, 1]));
    let entered = entered.borrow();
    let sleeper: Vec<_> = entered.iter().filter(|(name, _)| name == "0").map(|x| x.1).collect();
    assert_eq!(sleeper, [0, 7000]);
}

#[test]
fn what_nothing_can_wake_is_stopped_and_said_so() {
    for (departure, reason) in [
        (Departure::AwaitsProd, StopReason::NothingToWake),
        (Departure::Ceded, StopReason::NothingToWake),
        (Departure::Paused, StopReason::NothingToWake),
        (Departure::Stopped, StopReason::AllStopped),
    ] {
        let hal = Fake::new(8 << 20);
        let first = departure.clone();
        hal.play(move |hal, guest, _, until| {
            hal.timebase.set(until.min(hal.timebase.get() + SLICE));
            if guest.partition.name == "1" {
                return OFF;
            }
            let supervisor = &mut guest.partition.vcpus[0].registers.as_mut().unwrap().supervisor;
            supervisor.decrementer_expires = hal.timebase.get() + 2 * PATIENCE;
            first.clone()
        });
        let ended = run(&hal, with_idle_vcpus(&hal, &[2, 1]));
        assert_eq!(ended[0].life.outcome(), Some(&Outcome::Stopped(reason)), "{departure:?}");
        assert_eq!(ended[1].life.outcome(), Some(&Outcome::PoweredOff));
    }
}

/// Its request is a level: a guest whose handler returns without H_XIRR gets it again, and so until it accepts.
#[test]
fn an_interrupt_is_taken_at_once_or_when_the_guest_allows_it_and_until_it_is_accepted() {
    for enabled in [true, false] {
        let hal = Fake::new(8 << 20);
        let turn = Cell::new(0);
        hal.play(move |hal, guest, lpcr, until| {
            turn.set(turn.get() + 1);
            let vcpu = &mut guest.partition.vcpus[0];
            match turn.get() {
                1 => {
                    vcpu.presentation.set_cppr(0xFF);
                    vcpu.presentation.set_mfrr(4);
                    vcpu.registers.as_mut().unwrap().pc = 0x1234;
                    vcpu.registers.as_mut().unwrap().msr |=
                        if enabled { msr::EE | msr::FP } else { msr::FP };
                    return Departure::Changed;
                }
                2 if !enabled => {
                    assert!(guest.is_mediated && lpcr & lpcr::MER != 0);
                    assert_eq!(vcpu.registers.as_mut().unwrap().pc, 0x1234);
                    // Looked at again soon, and the next time it allows interrupts.
                    assert!(until < hal.timebase.get() + SLICE * 100);
                    vcpu.registers.as_mut().unwrap().msr |= msr::EE;
                    return Departure::Changed;
                }
                5 => {
                    assert!(!guest.is_mediated && lpcr & lpcr::MER == 0);
                    assert_eq!(vcpu.registers.as_ref().unwrap().pc, 0x1234);
                    return OFF;
                }
                _ => {}
            }
            assert!(guest.is_mediated && lpcr & lpcr::MER != 0);
            // Where the processor does not ask again, it is looked at all the same.
            assert!(until < hal.timebase.get() + PATIENCE);
            let registers = vcpu.registers.as_mut().unwrap();
            assert_eq!((registers.pc, registers.msr), (0x500, msr::SF | msr::ME));
            assert_eq!(registers.supervisor.srr0, 0x1234);
            assert_eq!(registers.supervisor.srr1, msr::SF | msr::ME | msr::EE | msr::FP);
            // The handler returns.
            (registers.pc, registers.msr) = (registers.supervisor.srr0, registers.supervisor.srr1);
            if turn.get() == 4 {
                assert_eq!(vcpu.presentation.accept(), Some(0xFF00_0002));
            }
            Departure::Changed
        });
        let ended = run(&hal, partitions(&hal, &[1]));
        assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
    }
}

/// It is an edge: the guest gets it once, when it takes interrupts, and goes on behind what rang it.
#[test]
fn a_privileged_doorbell_rings_the_vcpu_itself_once() {
    const RING: u64 = 5 << 27;
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |_, guest, lpcr, _| {
        turn.set(turn.get() + 1);
        let vcpu = &mut guest.partition.vcpus[0];
        let registers = vcpu.registers.as_mut().unwrap();
        assert_eq!(lpcr & lpcr::MER != 0, turn.get() == 2 || turn.get() == 3);
        match turn.get() {
            1 => {
                (registers.pc, registers.gpr[9]) = (0x1234, RING);
                return Departure::Doorbell(Doorbell::Ring(9));
            }
            2 => {
                assert_eq!(registers.pc, 0x1238, "interrupts are off");
                return Departure::Doorbell(Doorbell::ReadPending(7));
            }
            3 => {
                assert_eq!((registers.pc, registers.gpr[7]), (0x123C, 1));
                registers.msr |= msr::EE;
                return Departure::Changed;
            }
            4 => {
                assert_eq!((registers.pc, registers.msr), (0xA00, msr::SF | msr::ME));
                let Supervisor { srr0, srr1, .. } = registers.supervisor;
                assert_eq!((srr0, srr1), (0x123C, msr::SF | msr::ME | msr::EE));
                (registers.pc, registers.msr) = (srr0, srr1);
                return Departure::Doorbell(Doorbell::ReadPending(7));
            }
            5 => {
                assert_eq!((registers.pc, registers.gpr[7]), (0x1240, 0));
                registers.msr = msr::SF | msr::TE.set(0, 2);
                return Departure::Doorbell(Doorbell::ReadThread(7));
            }
            // It is stepped.
            _ => {
                assert_eq!((registers.pc, registers.msr), (0xD00, msr::SF));
                let Supervisor { srr0, srr1, .. } = registers.supervisor;
                assert_eq!((srr0, srr1), (0x1244, msr::SF | msr::TE.set(0, 2) | 0x4000_0000));
            }
        }
        OFF
    });
    let ended = run(&hal, partitions(&hal, &[1]));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
}

/// A vCPU has the performance monitor from its start, also where it starts anew: what SIAR says is from before somebody
/// names it.
#[test]
fn a_partitions_performance_monitor_is_there_from_each_start() {
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |hal, _, _, _| {
        turn.set(turn.get() + 1);
        assert!(hal.facilities.borrow().is_given(Facility::Pm), "{}", turn.get());
        if turn.get() == 3 { OFF } else { Departure::Restarted }
    });
    let mut setup = partitions(&hal, &[1]);
    let partition = &mut setup.0[0];
    partition.on_demand |= Facility::Pm.bit();
    partition.vcpus[0].demanded = Demanded::from_start(partition.at_start());
    let ended = run(&hal, setup);
    assert_eq!(ended[0].statistics.restarts, 2);
}

#[test]
fn a_partition_that_starts_anew_finds_nothing_of_before() {
    let hal = Fake::new(8 << 20);
    let turn = Cell::new(0);
    hal.play(move |hal, guest, lpcr, _| {
        turn.set(turn.get() + 1);
        let mut bytes = [0xFF; 64];
        let address = GuestRealAddress(0x8000);
        guest.partition.memory.read(hal, address, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 64]);
        assert_eq!(lpcr & lpcr::ILE, 0);
        assert_eq!(*hal.facilities.borrow(), Demanded::UNUSED);
        let registers = guest.partition.vcpus[0].registers.as_mut().unwrap();
        assert_eq!(registers.gpr[5], 0);
        assert_eq!(guest.partition.vcpus[1].activity(), Activity::Stopped);
        if turn.get() == 3 {
            return OFF;
        }
        guest.partition.memory.write(hal, address, &[7; 64]).unwrap();
        guest.partition.lpcr |= lpcr::ILE;
        let registers = guest.partition.vcpus[0].registers.as_mut().unwrap();
        registers.gpr[5] = 7;
        use_for_the_first_time(hal, guest, Facility::VecVsx);
        hal.facilities.borrow_mut().vsr = [[7; 2]; 64];
        guest.schedule.lock().start_in(guest.partition, 1, guest.hal.timebase.get());
        Departure::Restarted
    });
    let ended = run(&hal, with_idle_vcpus(&hal, &[2]));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
    assert_eq!(ended[0].statistics.restarts, 2);
}

#[test]
fn yield_counts_are_odd_exactly_while_a_vcpu_does_not_run() {
    let hal = Fake::new(8 << 20);
    let (mut partitions, schedule) = partitions(&hal, &[2]);
    for (index, vcpu) in partitions[0].vcpus.iter_mut().enumerate() {
        let address = arch::address::RealAddress(MIB + 0x1000 * index as u64);
        vcpu.vpa.set_area(
            arch::address::GuestRealAddress(0),
            hal.maps().open(address, 640).unwrap(),
            false,
        );
    }
    let entries = Cell::new(0);
    hal.play(move |hal, guest, _, until| {
        hal.timebase.set(until.min(hal.timebase.get() + SLICE));
        for (index, vcpu) in guest.partition.vcpus.iter().enumerate() {
            let count = vcpu.vpa.yield_count().unwrap();
            assert_eq!(count % 2 == 0, index == guest.vcpu, "{count}");
        }
        entries.set(entries.get() + 1);
        if entries.get() < 10 { Departure::Preempted } else { OFF }
    });
    run(&hal, (partitions, schedule));
    assert_eq!(hal.open_windows.get(), 0, "the areas of a partition that is over are forgotten");
}

#[test]
fn dispatches_are_logged_in_a_ring() {
    let hal = Fake::new(8 << 20);
    let (mut partitions, schedule) = partitions(&hal, &[1]);
    let vpa = &mut partitions[0].vcpus[0].vpa;
    vpa.set_area(
        arch::address::GuestRealAddress(0),
        hal.maps().open(arch::address::RealAddress(MIB), 640).unwrap(),
        false,
    );
    vpa.log = Some(Log { address: GuestRealAddress(0x8000), entries: 2, next: 0 });
    let turn = Cell::new(0);
    hal.play(move |hal, guest, _, _| {
        turn.set(turn.get() + 1);
        hal.timebase.set(hal.timebase.get() + 7);
        guest.partition.vcpus[0].registers.as_mut().unwrap().pc = turn.get();
        if turn.get() < 3 {
            return Departure::Changed;
        }
        // The third entry is in the first place again: at which time, and where the vCPU went on.
        let mut entries = [0; 96];
        let address = GuestRealAddress(0x8000);
        guest.partition.memory.read(hal, address, &mut entries).unwrap();
        let word = |offset: usize| u64::from_be_bytes(*entries[offset..].first_chunk().unwrap());
        assert_eq!([word(16), word(32)], [14, 2]);
        assert_eq!([word(48 + 16), word(48 + 32)], [7, 1]);
        let memory = hal.memory.borrow();
        assert_eq!(memory[MIB as usize + 0x218..][..8], 3u64.to_be_bytes());
        OFF
    });
    let ended = run(&hal, (partitions, schedule));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
}

/// When the time comes each is what it was, or would have become; who runs beside them goes on.
#[test]
fn a_partition_is_suspended_with_its_vcpus_as_they_were() {
    const AT: u64 = 5 * SLICE;
    const EXPIRES: u64 = 1 << 40;
    let hal = Fake::new(8 << 20);
    hal.play(|hal, guest, _, until| {
        let registers = guest.partition.vcpus[guest.vcpu].registers.as_mut().unwrap();
        registers.gpr[20] += 1;
        match (guest.partition.name.as_str(), guest.vcpu) {
            ("0", 1) => {
                registers.supervisor.decrementer_expires = EXPIRES;
                Departure::Ceded
            }
            ("0", 2) => Departure::AwaitsProd,
            ("0", 3) => Departure::Stopped,
            ("1", _) if hal.timebase.get() > 3 * AT => Departure::Ended(Outcome::PoweredOff),
            _ => {
                hal.timebase.set(until);
                Departure::Preempted
            }
        }
    });
    let mut setup = partitions(&hal, &[4, 1]);
    let [first, _] = &mut setup.0[..] else { panic!("two") };
    first.memory.write(&hal, GuestRealAddress(0x5_0000), b"its own").unwrap();
    let area = Range::new(4 * MIB, Suspension::room(2 * MIB));
    let suspension = Suspension { area, frequency: 1, processor: "POWER9", bytes: 0 };
    first.suspension = Some(suspension);
    setup.1.timers.set_suspension(VcpuId(0), AT);
    let ended = run(&hal, setup);
    assert_eq!(ended[1].life.outcome(), Some(&Outcome::PoweredOff));
    let Some(&Outcome::Suspended(place)) = ended[0].life.outcome() else {
        panic!("{:?}", ended[0].life)
    };
    assert!(hal.text().contains("powervisor: partition 0: suspended, image 128 KiB\n"));
    let ran = ended[0].statistics.ran;
    drop(ended);

    let image = Image::read(&hal, place).unwrap();
    let time = image.guest_time().unwrap();
    assert!((AT..AT + 2 * SLICE).contains(&time), "{time}");
    let mut partition = hal.partition(Range::new(0, 2 * MIB));
    partition.name = "0".to_string();
    let ids: Vec<_> = (0..4).map(VcpuId).collect();
    let next = image::load(&mut partition, &hal, &image, &ids, "POWER9", 1).unwrap();
    let ceded = activity::Next::Sleeps(Sleep::Ceded { until: EXPIRES });
    let waits = activity::Next::Sleeps(Sleep::AwaitsProd);
    assert_eq!(next, [activity::Next::Ready, ceded, waits, activity::Next::Stops]);
    let entered = |vcpu: &Vcpu<Fake>| vcpu.registers.as_ref().unwrap().gpr[20];
    assert!(entered(&partition.vcpus[0]) > 1);
    assert!(partition.vcpus[1..].iter().all(|vcpu| entered(vcpu) == 1));
    let ceded = partition.vcpus[1].registers.as_ref().unwrap();
    assert_eq!(ceded.msr & msr::EE, msr::EE, "H_CEDE lets interrupts come");
    assert!(partition.ran_before > 0 && partition.ran_before <= ran);
}

/// Nobody goes on with a partition whose vCPUs have all stopped themselves, and one that has ended is not suspended.
#[test]
fn what_is_over_is_not_suspended() {
    for departure in [Departure::Stopped, Departure::Ended(Outcome::PoweredOff)] {
        let hal = Fake::new(8 << 20);
        let leaves = departure.clone();
        hal.play(move |hal, guest, _, until| {
            hal.timebase.set(until);
            if guest.partition.name == "0" || hal.timebase.get() > 9 * SLICE {
                return leaves.clone();
            }
            Departure::Preempted
        });
        let mut setup = partitions(&hal, &[1, 1]);
        let area = Range::new(4 * MIB, Suspension::room(2 * MIB));
        let suspension = Suspension { area, frequency: 1, processor: "POWER9", bytes: 0 };
        setup.0[0].suspension = Some(suspension);
        setup.1.timers.set_suspension(VcpuId(0), 5 * SLICE);
        let ended = run(&hal, setup);
        let expected = match departure {
            Departure::Stopped => Outcome::Stopped(StopReason::AllStopped),
            _ => Outcome::PoweredOff,
        };
        assert_eq!(ended[0].life.outcome(), Some(&expected));
    }
}

/// A vCPU that leaves with a call of its table goes on behind the call with its answer, and nothing of others' is in
/// what a call may lose.
#[test]
fn the_dispatcher_answers_a_call_that_the_vcpu_has_left_with() {
    let hal = Fake::new(8 << 20);
    let pc = Rc::new(RefCell::new(Vec::new()));
    let seen = pc.clone();
    hal.play(move |hal, guest, _, until| {
        hal.timebase.set(until.min(hal.timebase.get() + 1));
        let registers = guest.partition.vcpus[0].registers.as_mut().unwrap();
        let mut seen = seen.borrow_mut();
        seen.push((registers.pc, registers.gpr[..13].to_vec(), registers.ctr));
        let (number, arguments) = match seen.len() {
            1 => (Hypercall::Enter as u64, [EXACT, 9, first::V, second::M, 5, 6, 7, 8]),
            2 => (Hypercall::Read as u64, [0, 9, 3, 4, 5, 6, 7, 8]),
            3 => (Hypercall::Remove as u64, [0, 10, 3, 4, 5, 6, 7, 8]),
            // Nobody but the hal makes it, of what it has found to be one of the table's.
            4 => (Hypercall::Cede as u64, [1; 8]),
            _ => return Departure::Ended(Outcome::PoweredOff),
        };
        registers.gpr[3] = number;
        registers.gpr[4..12].copy_from_slice(&arguments);
        (registers.gpr[0], registers.gpr[12], registers.ctr, registers.pc) = (1, 2, 3, 0x500);
        Departure::CallsTable
    });
    let setup = partitions(&hal, &[1]);
    let (mut made, schedule) = setup;
    let hashed = Partition::translated(
        &hal,
        String::from("0"),
        1,
        Range::new(0, 2 * MIB),
        Translation::Hash,
        Options::default(),
    );
    let mut hashed = hashed.unwrap();
    core::mem::swap(&mut hashed.vcpus, &mut made[0].vcpus);
    core::mem::swap(&mut hashed.life, &mut made[0].life);
    let ended = run(&hal, (vec![hashed], schedule));
    assert_eq!(ended[0].life.outcome(), Some(&Outcome::PoweredOff));
    let answers = [
        (H_SUCCESS, [9, 0, 0]),
        (H_SUCCESS, [first::V, second::M, 0]),
        (H_NOT_FOUND, [0; 3]),
        (H_FUNCTION, [0; 3]),
    ];
    for ((pc, gpr, ctr), (status, outputs)) in pc.borrow()[1..].iter().zip(answers) {
        assert_eq!((*pc, gpr[3] as i64, &gpr[4..7]), (0x500, status, &outputs[..]));
        assert_eq!((gpr[0], &gpr[7..13], *ctr), (0, &[0; 6][..], 0));
    }
    assert_eq!(pc.borrow().len(), 5);
}
