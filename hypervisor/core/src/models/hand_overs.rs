//! Doorbells, the way out of firmware, and who reports a failure.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom::thread::{spawn, yield_now};
use std::vec::Vec;

use crate::devices::adapter::line::Line;
use crate::scheduling::doorbell::{Doorbell, wait_until};
use crate::scheduling::secondaries::Secondaries;
use crate::sync::{First, Place};

/// Waits as a thread does that cannot `stop`.
fn poll(doorbell: &Doorbell) {
    while !doorbell.is_rung() {
        yield_now();
    }
}

/// Data that a thread has for itself, or loom complains.
fn use_alone(data: &UnsafeCell<usize>) {
    data.with_mut(|_| ());
}

/// Others change something each, without any order of its own, and `ring` then. Whether all have.
fn changed_by<T: Send + Sync + 'static>(
    others: usize,
    rung: &Arc<T>,
    ring: fn(&T),
) -> impl Fn() -> bool {
    let changes: Arc<Vec<_>> = Arc::new((0..others).map(|_| AtomicUsize::new(0)).collect());
    for index in 0..others {
        let (rung, changes) = (rung.clone(), changes.clone());
        spawn(move || {
            changes[index].store(1, Ordering::Relaxed);
            ring(&rung);
        });
    }
    move || changes.iter().all(|change| change.load(Ordering::Relaxed) == 1)
}

/// A thread waits for what others change, who ring then.
fn wait_for(others: usize) {
    let doorbell = Arc::new(Doorbell::silent());
    let is_changed = changed_by(others, &doorbell, Doorbell::ring);
    wait_until(|| doorbell.clear(), is_changed, || poll(&doorbell));
}

#[test]
fn a_thread_that_waits_sees_for_what_it_is_rung() {
    loom::model(|| wait_for(1));
}

#[test]
fn a_thread_that_waits_sees_for_what_each_of_two_rings() {
    in_most_orders(|| wait_for(2));
}

/// The interrupt of a POWER8's call: it ends a nap, and stays until its thread accepts it.
struct Call(AtomicBool);

impl Call {
    /// Accepts it, if it is there.
    fn accept(&self) {
        if self.0.load(Ordering::Relaxed) {
            self.0.store(false, Ordering::Relaxed);
        }
    }
}

/// The same of a thread that naps: it cannot see its doorbell then, and whoever rings that calls it, without any order.
fn nap_for(others: usize) {
    let rung = Arc::new((Doorbell::silent(), Call(AtomicBool::new(false))));
    let is_changed = changed_by(others, &rung, |(doorbell, call)| {
        doorbell.ring();
        call.0.store(true, Ordering::Relaxed);
    });
    let (doorbell, call) = &*rung;
    let clear = || {
        if doorbell.is_rung() {
            call.accept();
        }
        doorbell.clear();
    };
    let nap = || {
        while !call.0.load(Ordering::Relaxed) {
            yield_now();
        }
        if !doorbell.is_rung() {
            call.accept();
        }
    };
    wait_until(clear, is_changed, nap);
}

#[test]
fn a_thread_that_naps_is_called() {
    loom::model(|| nap_for(1));
}

#[test]
fn a_thread_that_naps_is_called_by_each_of_two() {
    in_most_orders(|| nap_for(2));
}

/// In every order with three involuntary switches between threads; without that limit, models of three threads take
/// minutes.
fn in_most_orders(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn a_thread_comes_with_what_is_its_own_and_the_work_is_there_until_it_is_done() {
    #[derive(Default)]
    struct Data {
        area: UnsafeCell<usize>,
        stack: UnsafeCell<usize>,
        work: UnsafeCell<usize>,
    }

    loom::model(|| {
        let shared = Arc::new((
            Secondaries::alone(),
            [Doorbell::silent(), Doorbell::silent()],
            Data::default(),
        ));
        let (secondaries, doorbells, data) = &*shared;
        assert_eq!(secondaries.expected(), Some(1));
        use_alone(&data.area);
        spawn({
            let shared = shared.clone();
            move || {
                let (secondaries, doorbells, data) = &*shared;
                use_alone(&data.area);
                use_alone(&data.stack);
                assert!(secondaries.come(1));
                let own = &doorbells[1];
                wait_until(|| own.clear(), || secondaries.has_work(), || poll(own));
                data.work.with(|_| ());
                secondaries.finish();
                doorbells[0].ring();
            }
        });
        while secondaries.threads() == 1 {
            yield_now();
        }
        // The next one comes by the same stack.
        use_alone(&data.stack);
        use_alone(&data.work);
        secondaries.begin();
        doorbells[1].ring();
        wait_until(|| doorbells[0].clear(), || secondaries.is_done(), || poll(&doorbells[0]));
        use_alone(&data.work);
    });
}

#[test]
fn the_work_is_there_until_the_last_of_several_is_done() {
    in_most_orders(|| {
        let shared = Arc::new((Secondaries::alone(), Doorbell::silent(), UnsafeCell::new(0)));
        let (secondaries, doorbell, work) = &*shared;
        assert!(secondaries.come(1) && secondaries.come(2));
        secondaries.begin();
        for _ in 1..3 {
            let shared = shared.clone();
            spawn(move || {
                let (secondaries, doorbell, work) = &*shared;
                assert!(secondaries.has_work());
                work.with(|_| ());
                secondaries.finish();
                doorbell.ring();
            });
        }
        wait_until(|| doorbell.clear(), || secondaries.is_done(), || poll(doorbell));
        use_alone(work);
    });
}

#[test]
fn a_thread_that_comes_late_is_let_in_or_given_up() {
    loom::model(|| {
        let secondaries = Arc::new(Secondaries::alone());
        let stack = Arc::new(UnsafeCell::new(0));
        let late = spawn({
            let (secondaries, stack) = (secondaries.clone(), stack.clone());
            move || {
                use_alone(&stack);
                secondaries.come(1)
            }
        });
        let is_given_up = secondaries.give_up(1);
        if is_given_up {
            assert_eq!((secondaries.expected(), secondaries.threads()), (None, 1));
        } else {
            // The next one may come by the same stack.
            use_alone(&stack);
            assert_eq!((secondaries.expected(), secondaries.threads()), (Some(2), 2));
        }
        assert_eq!(late.join().unwrap(), !is_given_up);
        assert_eq!(secondaries.threads(), if is_given_up { 1 } else { 2 });
    });
}

#[test]
fn one_thread_reports_its_failure() {
    loom::model(|| {
        let first = Arc::new(First::nobody());
        let threads: Vec<_> = (1..3)
            .map(|who| {
                let first = first.clone();
                spawn(move || (who, first.come(who), first.come(who)))
            })
            .collect();
        let came: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let is_first = |place: &&(u64, Place, Place)| place.1 == Place::First;
        assert_eq!(came.iter().filter(is_first).count(), 1);
        for (_, once, again) in came {
            let expected = if once == Place::First { Place::Again } else { Place::Later };
            assert_eq!(again, expected);
        }
    });
}

/// vCPUs send, and read or write the partition's memory for that; another one frees the queue, and has the memory to
/// itself when it is told so.
fn free_beside(senders: usize) {
    let shared = Arc::new((Line::closed(senders), UnsafeCell::new(0)));
    assert!(shared.0.open(0, 256));
    for vcpu in 0..senders {
        let shared = shared.clone();
        spawn(move || {
            let (line, memory) = &*shared;
            if line.begin(vcpu).is_some() {
                memory.with(|_| ());
                line.end(vcpu);
            }
        });
    }
    let (line, memory) = &*shared;
    while !line.free() {
        yield_now();
    }
    use_alone(memory);
}

#[test]
fn a_queue_is_free_when_nothing_of_it_is_under_way() {
    loom::model(|| free_beside(1));
}

#[test]
fn a_queue_that_two_send_to_is_free_when_nothing_of_it_is_under_way() {
    in_most_orders(|| free_beside(2));
}

/// A vCPU moves data of a command, piece by piece; another one forgets it, and has the memory to itself when nothing of
/// it moves any more, or finds it answered.
#[test]
fn a_command_that_is_forgotten_moves_no_more() {
    loom::model(|| {
        let shared = Arc::new((Line::closed(1), UnsafeCell::new(0)));
        assert!(shared.0.open(0, 256));
        let conversation = shared.0.begin(0).unwrap();
        shared.0.moves(0, 7, 3);
        let mover = shared.clone();
        spawn(move || {
            let (line, memory) = &*mover;
            for _ in 0..2 {
                if line.goes_on(0, conversation) {
                    memory.with(|_| ());
                }
            }
            line.end(0);
        });
        let (line, memory) = &*shared;
        line.forget(|tag, disk| (tag, disk) == (8, 3));
        assert!(!line.is_forgetting(), "another command");
        line.forget(|tag, disk| (tag, disk) == (7, 3));
        while line.is_forgetting() {
            yield_now();
        }
        use_alone(memory);
    });
}

/// Two vCPUs put answers into the queue while the guest accepts the interrupt for one before them. What the guest does
/// not see in the queue then, somebody presents an interrupt for.
fn answer_beside(senders: usize) {
    let answers: Vec<_> = (0..senders).map(|_| AtomicUsize::new(0)).collect();
    let shared = Arc::new((Line::closed(senders), answers));
    shared.0.signal(true);
    assert!(shared.0.requests(), "the answer before them");
    let threads = (0..senders).map(|vcpu| {
        let shared = shared.clone();
        spawn(move || {
            let (line, answers) = &*shared;
            answers[vcpu].store(1, Ordering::Relaxed);
            // As behind an entry.
            fence(Ordering::SeqCst);
            line.requests()
        })
    });
    let threads: Vec<_> = threads.collect();
    let (line, answers) = &*shared;
    line.accepted();
    let sees_all = answers.iter().all(|answer| answer.load(Ordering::Relaxed) == 1);
    let presents: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let is_requested = line.is_requested();
    assert!(sees_all || is_requested, "an answer that nobody looks at");
    assert!(!is_requested || presents.contains(&true), "a request that nobody presents");
}

#[test]
fn an_answer_is_seen_or_interrupts() {
    loom::model(|| answer_beside(1));
}

#[test]
fn answers_of_two_are_seen_or_interrupt() {
    in_most_orders(|| answer_beside(2));
}

#[test]
fn a_queue_is_opened_once() {
    loom::model(|| {
        let line = Arc::new(Line::closed(1));
        let other = {
            let line = line.clone();
            spawn(move || line.open(0x1000, 256))
        };
        let is_here = line.open(0, 256);
        assert!(is_here != other.join().unwrap());
        assert!(line.begin(0).is_some());
    });
}
