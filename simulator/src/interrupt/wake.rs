//! What ends a `stop` or a `wait`, when, and what the thread finds then.
//!
//! With PSSCR\[EC\]=0 any interrupt that waits ends it, whatever MSR\[EE\] and LPCR\[PECE\] say; the
//! thread goes on behind the `stop` and takes the interrupt there if it may. With ESL=EC=1 only what
//! LPCR\[PECE\] names ends it, by a system reset that says why, and the thread's own state is lost.
//! Source: `kvm-hv.md` 4.1, 4.5.
//!
//! A `wait` changes nothing but the time. An exception ends it; whether one whose interrupt is masked
//! does is a switch. Platform notifications and event-based branches, which would too, are not
//! modelled.

use arch::interrupt::{Vector, wake};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr, psscr};

use super::{Taken, decrementer, hypervisor_decrementer, is_enabled, needs_maintenance, take};
use crate::shared::Shared;
use crate::thread::trap::Interrupt;
use crate::thread::{Activity, Thread};

/// What a register holds that a `stop` may have lost.
const POISON: u64 = 0xDEAD_5709_DEAD_5709;

/// The thread's own registers that are no [`Thread`] fields and are lost with its state.
const LOST: [Spr; 5] = [Spr::Amr, Spr::Iamr, Spr::Uamor, Spr::Amor, Spr::Tar];

/// The cycle at which the sleeping `thread` wakes, as things are; `u64::MAX` if it sleeps for ever.
#[must_use]
pub fn wakes_at(thread: &Thread, shared: &Shared) -> u64 {
    let now = thread.time.cycles();
    let signals = shared.signals(thread.index);
    if signal_reason(thread, shared).is_some() {
        return now.max(signals.since);
    }
    let timers = [Timer::Decrementer, Timer::HypervisorDecrementer];
    timers.iter().filter_map(|timer| timer.due(thread, shared)).min().unwrap_or(u64::MAX)
}

/// Ends the wait of the sleeping `thread` at [`Thread::wakes_at`].
pub fn wake(thread: &mut Thread, shared: &Shared) -> Option<Taken> {
    thread.time.charge_wait_until(thread.wakes_at);
    thread.wakes_at = u64::MAX;
    if std::mem::replace(&mut thread.activity, Activity::Running) == Activity::Waiting {
        return None;
    }
    let value = thread.spr(Spr::Psscr);
    let level = match thread.msr() & msr::HV {
        0 => psscr::RL.get(value).min(psscr::PSLL.get(value)),
        _ => psscr::RL.get(value),
    };
    thread.set_spr(Spr::Psscr, psscr::PLS.set(value, level));
    if value & psscr::EC == 0 {
        return None;
    }
    let reason = signal_reason(thread, shared).unwrap_or(wake::DECREMENTER);
    lose_state(thread);
    let status = reason | wake::THREAD_LOST;
    thread.cia = thread.nia;
    Some(take(thread, shared, &Interrupt { status, ..Interrupt::new(Vector::SystemReset) }))
}

fn lose_state(thread: &mut Thread) {
    thread.gpr = [POISON; 32];
    thread.vsr = [[POISON; 2]; 64];
    thread.cr = POISON as u32;
    thread.lr = POISON;
    thread.ctr = POISON;
    for spr in LOST {
        thread.set_spr(spr, POISON);
    }
    thread.reservation = None;
}

fn has_criterion(thread: &Thread) -> bool {
    thread.activity == Activity::Stopped && thread.spr(Spr::Psscr) & psscr::EC != 0
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
    let is_mediated = thread.msr() & msr::HV == 0 && lpcr & lpcr::MER != 0;
    let sources = [
        (
            needs_maintenance(thread, shared),
            Vector::HypervisorMaintenance,
            lpcr::PECE_MAINTENANCE,
            wake::MAINTENANCE,
        ),
        (
            signals.virtualization,
            Vector::HypervisorVirtualization,
            lpcr::PECE_HVEE,
            wake::VIRTUALIZATION,
        ),
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
    /// The cycle at which it is negative, if it ends the wait.
    fn due(self, thread: &Thread, shared: &Shared) -> Option<u64> {
        let lpcr = thread.spr(Spr::Lpcr);
        let timebase = shared.timebase(thread);
        let (ends, value) = match self {
            Self::Decrementer => {
                let is_named = lpcr & lpcr::PECE_DECREMENTER != 0;
                (ends(thread, shared, Vector::Decrementer, is_named), decrementer(thread, timebase))
            }
            Self::HypervisorDecrementer => {
                let may_end = thread.msr() & msr::HV != 0
                    || thread.activity == Activity::Waiting
                    || shared.switches.hypervisor_decrementer_ends_guest_stop;
                let ends = ends(thread, shared, Vector::HypervisorDecrementer, false)
                    && lpcr & lpcr::HDICE != 0
                    && may_end;
                (ends, hypervisor_decrementer(thread, timebase))
            }
        };
        ends.then(|| super::negative_at(thread, shared, timebase, value))
    }
}
