//! What ends a `stop` or a `wait`, when, and what the thread finds then.
//!
//! Of `stop`: with PSSCR\[EC\]=0 any interrupt that waits ends it, whatever MSR\[EE\] and LPCR\[PECE\] say; the
//! thread goes on behind the `stop` and takes the interrupt there if it may. With EC=1 only what LPCR\[PECE\]
//! names ends it, by a system reset that says why; with ESL=1 state is lost as `power_saving` has it. POWER8's
//! instructions wait as with both. A system reset that somebody asked for ends any. Source:
//! `docs/facts/idle.md#what-ends-it`.
//!
//! A `wait` changes nothing but the time. An exception ends it; whether one whose interrupt is masked
//! does is a switch. Platform notifications, which would too, are not modelled; nor is an event-based branch,
//! which nothing can bring about while the thread waits.

use arch::interrupt::{Vector, wake};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr, psscr};

use super::decrementers::{decrementer, hypervisor_exception_at, negative_at};
use super::{Taken, has_monitor_alert, is_enabled, needs_maintenance, take};
use crate::power_saving::{SelfRestore, lose_hypervisor_state, lose_thread_state};
use crate::state::power_saving::{Asked, Reached};
use crate::state::shared::Shared;
use crate::state::thread::trap::Interrupt;
use crate::state::thread::{Activity, Thread};

/// The cycle at which the sleeping `thread` wakes, as things are; `u64::MAX` if it sleeps for ever.
#[must_use]
pub fn wakes_at(thread: &Thread, shared: &Shared) -> u64 {
    next(thread, shared).map_or(u64::MAX, |(cycle, _)| cycle)
}

/// What ends the wait first: the cycle, and SRR1's reason.
fn next(thread: &Thread, shared: &Shared) -> Option<(u64, u64)> {
    let came = thread.time.cycles().max(shared.signals(thread.index).since);
    let signal = signal_reason(thread, shared).map(|reason| (came, reason));
    let timers = [Timer::Decrementer, Timer::HypervisorDecrementer];
    let due = timers.iter().filter_map(|timer| timer.due(thread, shared));
    signal.into_iter().chain(due.map(|at| (at, wake::DECREMENTER))).min_by_key(|(cycle, _)| *cycle)
}

/// SRR1's reason for which the sleeping `thread` wakes at [`Thread::wakes_at`].
///
/// # Panics
/// If it sleeps for ever.
#[must_use]
pub fn reason(thread: &Thread, shared: &Shared) -> u64 {
    next(thread, shared).expect("something ends the wait").1
}

/// Ends the wait of the sleeping `thread` for `reason`; it has reached the power-saving `level`. With a system
/// reset, unless it simply goes on.
pub fn wake(
    thread: &mut Thread,
    shared: &mut Shared,
    reason: u64,
    level: u64,
    restore: &SelfRestore,
) -> Option<Taken> {
    let counts = thread.activity == Activity::Waiting;
    thread.count();
    thread.time.charge_wait_until(thread.wakes_at);
    if !counts {
        // Power saving stops the counters.
        thread.count_anew();
    }
    thread.wakes_at = u64::MAX;
    if std::mem::replace(&mut thread.activity, Activity::Running) == Activity::Waiting {
        return None;
    }
    let Asked { loses_state, has_criterion, .. } = thread.asked;
    let goes_on = !has_criterion && reason != wake::SYSTEM_RESET;
    if reason == wake::SYSTEM_RESET {
        let now = thread.time.cycles();
        shared.signal(thread.index, now, |signals| signals.system_reset = false);
    }
    let is_deep = level >= shared.power_saving.hypervisor_lost_from;
    let lost = if !loses_state {
        wake::NOTHING_LOST
    } else if is_deep {
        lose_hypervisor_state(thread, shared, restore);
        shared.drop_reservation(thread);
        if shared.switches.deep_stop_says_only_thread_lost {
            wake::THREAD_LOST
        } else {
            wake::ALL_LOST
        }
    } else {
        lose_thread_state(thread);
        shared.drop_reservation(thread);
        wake::THREAD_LOST
    };
    if Spr::Psscr.row().presence.includes(shared.processor) {
        thread.set_spr(Spr::Psscr, psscr::PLS.set(thread.spr(Spr::Psscr), level));
    }
    if goes_on {
        return None;
    }
    thread.cia = thread.nia;
    let interrupt = Interrupt { status: reason | lost, ..Interrupt::new(Vector::SystemReset) };
    let taken = take(thread, shared, &interrupt);
    if let (true, Some(value)) = (is_deep, restore.msr(thread.index)) {
        thread.set_msr(value);
    }
    Some(taken)
}

fn has_criterion(thread: &Thread) -> bool {
    thread.activity == Activity::Stopped && thread.asked.has_criterion
}

/// Whether the exception of `vector` ends the sleep of `thread`, where LPCR\[PECE\] does or does not
/// name it.
fn ends(thread: &Thread, shared: &Shared, vector: Vector, is_named: bool) -> bool {
    match thread.activity {
        Activity::Waiting => {
            shared.switches.masked_exceptions_end_wait || is_enabled(thread, vector)
        }
        _ => is_named || !has_criterion(thread),
    }
}

/// SRR1's reason for what others sent, if it ends the wait.
fn signal_reason(thread: &Thread, shared: &Shared) -> Option<u64> {
    let lpcr = thread.spr(Spr::Lpcr);
    let signals = shared.signals(thread.index);
    let external = shared.processor.facts().external;
    let is_mediated = thread.msr() & msr::HV == 0 && lpcr & lpcr::MER != 0;
    if signals.system_reset {
        return Some(wake::SYSTEM_RESET);
    }
    let sources = [
        (
            needs_maintenance(thread, shared),
            Vector::HypervisorMaintenance,
            lpcr::PECE_MAINTENANCE,
            wake::MAINTENANCE,
        ),
        (signals.external, external.vector, external.ends_power_saving, external.wake),
        (is_mediated, Vector::External, lpcr::PECE_EXTERNAL, wake::EXTERNAL),
        (
            signals.privileged_doorbell,
            Vector::DirectedPrivilegedDoorbell,
            lpcr::PECE_PRIVILEGED_DOORBELL,
            wake::PRIVILEGED_DOORBELL,
        ),
        (
            signals.hypervisor_doorbell,
            Vector::DirectedHypervisorDoorbell,
            lpcr::PECE_HYPERVISOR_DOORBELL,
            wake::HYPERVISOR_DOORBELL,
        ),
        // No bit of LPCR[PECE] names it, so it never needs a reason.
        (has_monitor_alert(thread), Vector::PerformanceMonitor, 0, 0),
    ];
    let ends = |(is_there, vector, enable, _): &(bool, Vector, u64, u64)| {
        *is_there && ends(thread, shared, *vector, lpcr & enable != 0)
    };
    sources.into_iter().find(ends).map(|(.., reason)| reason)
}

#[derive(Clone, Copy)]
enum Timer {
    Decrementer,
    HypervisorDecrementer,
}

impl Timer {
    /// The cycle at which its exception is there, if that ends the wait.
    fn due(self, thread: &Thread, shared: &Shared) -> Option<u64> {
        let lpcr = thread.spr(Spr::Lpcr);
        let due = match self {
            Self::Decrementer => {
                let is_named = lpcr & lpcr::PECE_DECREMENTER != 0;
                ends(thread, shared, Vector::Decrementer, is_named).then(|| {
                    let dec = decrementer(thread, shared, shared.own_ticks(thread));
                    negative_at(thread, shared, dec)
                })
            }
            Self::HypervisorDecrementer => {
                let may_end = thread.msr() & msr::HV != 0
                    || thread.activity == Activity::Waiting
                    || shared.switches.hypervisor_decrementer_ends_guest_stop;
                let ends = ends(thread, shared, Vector::HypervisorDecrementer, false)
                    && lpcr & lpcr::HDICE != 0
                    && may_end;
                ends.then(|| hypervisor_exception_at(thread, shared)).flatten()
            }
        };
        let Reached { level, since } = shared.cores[thread.core].reached;
        let stands_still = level >= shared.power_saving.time_base_stops_from;
        due.filter(|&cycle| !stands_still || cycle <= since)
    }
}
