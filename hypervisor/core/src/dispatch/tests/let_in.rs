//! A vCPU that is let in as the one before it leaves, and what may happen before it enters.

use std::boxed::Box;
use std::cell::RefCell;
use std::rc::Rc;
use std::vec::Vec;

use super::super::{Chosen, LetIn, Slice, run};
use super::{OFF, POLICY, SLICE, Stay, on_threads};
use crate::console::Console;
use crate::dispatch::residence::Resident;
use crate::fake::Fake;
use crate::life::outcome::Departure;
use crate::scheduling::meter::Debtor;
use crate::system::System;
use crate::vcpu_id::VcpuId;

/// How long the vCPU may run as it is let in, where a slice of its own is longer.
const GRANTED: u64 = SLICE / 4;

type Untils = Rc<RefCell<Vec<u64>>>;

/// Partitions with so many vCPUs each. The guests say until when each was entered, and end; whoever runs is not in the
/// queue.
fn setup(threads: u32, vcpus: &[usize]) -> (&'static System<'static, Fake>, Untils) {
    let hal: &Fake = Box::leak(Box::new(Fake::new(8 << 20)));
    let untils = Untils::default();
    let seen = untils.clone();
    hal.play(move |_, guest, _, until| {
        let id = guest.partition.vcpus[guest.vcpu].id;
        assert!(!guest.schedule.lock().queue.is_ready(id), "it runs and is in the queue");
        seen.borrow_mut().push(until);
        OFF
    });
    let console: &Console = Box::leak(Box::default());
    console.set_shared(true);
    let (partitions, schedule) = on_threads(threads as usize, hal, vcpus);
    let cores = (0..threads).collect();
    let system = System::new(hal, console, POLICY, partitions, schedule, cores);
    (Box::leak(Box::new(system)), untils)
}

/// Lets a vCPU in on thread 0 at the time 0, until [`GRANTED`].
fn let_in(system: &System<'_, Fake>) -> Chosen {
    let mut schedule = system.schedule.lock();
    let id = schedule.queue.take(0).unwrap();
    schedule.enters(0, id, false, 0);
    let stops = schedule.lets_in(0, id, GRANTED);
    let let_in = LetIn { at: 0, runs_on: false, ticks: GRANTED, stops, holds: true };
    let slice = Some(Slice::of(id, SLICE, 0));
    Chosen { id, slice, now: Some(0), let_in: Some(let_in) }
}

/// Until when one runs that was let in, if this happens before it enters.
fn runs_until(happens: impl FnOnce(&System<'_, Fake>, &mut Chosen)) -> Vec<u64> {
    let (system, untils) = setup(1, &[1, 1]);
    let mut chosen = let_in(system);
    happens(system, &mut chosen);
    assert!(run(system, 0, &mut Resident::default(), chosen).is_none());
    untils.take()
}

fn stop(system: &System<'_, Fake>, id: VcpuId, is_started: bool) {
    let (partition, vcpu) = system.place(id);
    let partition = &mut *system.partitions()[partition].lock();
    let mut schedule = system.schedule.lock();
    schedule.stop(&mut partition.vcpus[vcpu]);
    if is_started {
        schedule.start_in(partition, vcpu, 0);
    }
}

#[test]
fn it_runs_as_it_was_told_unless_something_has_happened_since() {
    assert_eq!(runs_until(|_, _| {}), [GRANTED]);
    assert_eq!(runs_until(|_, chosen| chosen.is_rung()), [SLICE], "what it was rung for");
    assert_eq!(runs_until(|_, chosen| chosen.now = Some(1)), [SLICE], "it had to wait");
    assert_eq!(runs_until(|system, chosen| stop(system, chosen.id, true)), [SLICE]);
}

/// Until then the schedule takes it for entered, and others see to what comes before it is back.
#[test]
fn one_that_is_stopped_since_does_not_enter() {
    let (system, untils) = setup(2, &[1, 1]);
    let chosen = let_in(system);
    let other = VcpuId(1 - chosen.id.0);
    let watched = |time| {
        let schedule = &mut *system.schedule.lock();
        schedule.timers.set(other, time);
        let watched = schedule.timer_to_watch(1);
        schedule.timers.cancel(other, time);
        watched
    };
    assert_eq!([watched(GRANTED - 1), watched(GRANTED)], [Some(GRANTED - 1), None]);
    stop(system, chosen.id, false);
    assert_eq!(run(system, 0, &mut Resident::default(), chosen), None);
    assert!(untils.take().is_empty());
    assert_eq!(watched(GRANTED - 1), None, "thread 0 decides, and looks");
}

/// It is called for another one's sake before it enters, and let in anew: that one pays for no interrupt of a later
/// stay.
#[test]
fn a_call_is_over_when_it_is_let_in_anew() {
    for is_anew in [false, true] {
        let (system, _) = setup(1, &[1, 1]);
        let vcpu = let_in(system).id;
        let caller = VcpuId(1 - vcpu.0);
        let schedule = &mut *system.schedule.lock();
        schedule.enters(0, vcpu, true, 0);
        schedule.may_pause(0, true);
        schedule.call_back(Some(caller), 0, |_| {});
        if is_anew {
            schedule.enters(0, vcpu, true, 0);
        }
        let (is_interrupted, runs_on) = (true, false);
        let (entered, left, payer) = (0, SLICE, vcpu);
        schedule.stayed(0, Stay { vcpu, payer, entered, left, is_interrupted, runs_on });
        let pays = if is_anew { Debtor::Next } else { Debtor::Vcpu(caller) };
        assert_eq!(schedule.meter(0).debtor(), pays);
    }
}

/// A timer is set, and the doorbell rung, as one vCPU has conferred and the other one is let in: that one's stay ends
/// for the timer.
#[test]
fn what_the_doorbell_was_rung_for_is_seen() {
    let (system, untils) = setup(1, &[1, 1, 1]);
    // The last one is stopped.
    let [_, _, sleeper] = [0, 1, 2].map(VcpuId);
    stop(system, sleeper, false);
    let seen = untils.clone();
    system.hal.play(move |_, _, _, until| {
        seen.borrow_mut().push(until);
        if seen.borrow().len() == 1 { Departure::ConferredToAll } else { OFF }
    });
    let seen = untils.clone();
    let mut is_first = true;
    system.hal.ring_when(move || {
        let rings = seen.borrow().len() == 1 && core::mem::take(&mut is_first);
        if rings {
            system.schedule.lock().timers.set(sleeper, GRANTED);
        }
        rings
    });
    system.run_thread(0);
    assert_eq!(untils.borrow()[..2], [SLICE, GRANTED]);
}

/// One vCPU has let another partition's in, at 0, and owes its way; the end of the first one's partition is decided at
/// 100, before the other one enters, or behind that, or it never does.
#[test]
fn who_let_another_in_pays_for_its_way_until_its_own_partition_ends() {
    let hal = Fake::new(8 << 20);
    for (entered, leaver_pays, nobody_pays) in
        [(Some(150), 100, 50), (Some(60), 60, 0), (None, 100, 100)]
    {
        let (mut partitions, mut schedule) = on_threads(1, &hal, &[1, 1]);
        let [leaver, heir] = [0, 0].map(|thread| schedule.queue.take(thread).unwrap());
        let stay = Stay {
            vcpu: leaver,
            payer: leaver,
            entered: 0,
            left: 0,
            is_interrupted: false,
            runs_on: false,
        };
        schedule.stayed(0, stay);
        schedule.vacates(0, leaver, None);
        schedule.enters(0, heir, false, 0);
        let stops = schedule.lets_in(0, heir, SLICE);
        schedule.forgive(&partitions[0], 100);
        if let Some(entered) = entered {
            schedule.stayed(0, Stay { vcpu: heir, payer: heir, entered, left: 200, ..stay });
            assert_eq!(schedule.charged(&partitions[1]), [200 - entered; 2], "{entered}");
        } else {
            schedule.does_not_enter(0);
            schedule.take_due(0, 200);
        }
        assert_eq!(schedule.charged(&partitions[0]), [leaver_pays, 0], "{entered:?}");
        assert_eq!(schedule.meter(0).ends, nobody_pays, "{entered:?}");
        // A stop since would be seen.
        let vcpu = &mut partitions[1].vcpus[0];
        assert_eq!(vcpu.stops, stops);
        schedule.stop(vcpu);
        assert_eq!([vcpu.stops, schedule.queue.stops(heir)], [stops + 1; 2]);
    }
}
