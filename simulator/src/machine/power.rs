//! How deep a core sleeps, and waking one of its threads.
//!
//! A shallow level is the thread's own. A deeper one is the core's, reached when the last of its threads
//! asks for it; a thread that never left firmware polls there, and keeps its core awake, as skiboot's do.
//! The machine never goes deeper than asked, which MTL and TR would allow. What a level loses is in
//! `power_saving`.

use crate::interrupt::{self, Taken};
use crate::machine::state::State;
use crate::power_saving::{lose_core_state, requested};
use crate::state::power_saving::Reached;
use crate::state::shared::Shared;
use crate::state::thread::{Activity, Thread};

fn is_stopped(thread: &Thread) -> bool {
    thread.activity == Activity::Stopped
}

/// The level of a thread by itself, since it stopped.
fn alone(thread: &Thread, shared: &Shared) -> Reached {
    let rules = &shared.power_saving;
    let level = requested(thread, rules).min(rules.core_from - 1);
    Reached { level, since: thread.time.cycles() }
}

/// Finds the level of each core, after threads stopped or woke.
pub(super) fn find_levels(threads: &mut [Thread], shared: &mut Shared) {
    for siblings in threads.chunk_by_mut(|one, other| one.core == other.core) {
        let levels = siblings.iter().map(|thread| match thread.activity {
            Activity::Stopped => requested(thread, &shared.power_saving),
            Activity::Running | Activity::Waiting | Activity::InFirmware => 0,
        });
        let together = levels.min().filter(|&level| level >= shared.power_saving.core_from);
        let since = siblings.iter().map(|thread| thread.time.cycles()).max().unwrap_or(0);
        let core = together.map(|level| Reached { level, since });
        shared.cores[siblings[0].core].reached = core.unwrap_or_default();
        for thread in siblings.iter_mut().filter(|thread| is_stopped(thread)) {
            let now = core.unwrap_or_else(|| alone(thread, shared));
            if now.level > thread.reached.level {
                thread.reached = now;
            }
        }
    }
}

/// Wakes the sleeping thread `index` at its `wakes_at`.
pub(super) fn wake(state: &mut State, index: usize) -> Option<Taken> {
    let State { threads, shared, platform, .. } = state;
    let reason = interrupt::wake::reason(&threads[index], shared);
    if threads[index].activity == Activity::Waiting {
        return interrupt::wake::wake(
            &mut threads[index],
            shared,
            reason,
            0,
            &platform.self_restore,
        );
    }
    let number = threads[index].core;
    let woken = threads[index].wakes_at;
    // The last of its siblings stopped at a later cycle: the core did not sleep yet.
    for thread in threads.iter_mut().filter(|thread| thread.core == number && is_stopped(thread)) {
        if thread.reached.since > woken {
            thread.reached = alone(thread, shared);
        }
    }
    // What the core loses is lost at its own level, which may be shallower than what the thread reached before a
    // sibling woke and stopped again.
    let Reached { level, since } = std::mem::take(&mut shared.cores[number].reached);
    let has_slept = since <= woken;
    if has_slept && level >= shared.power_saving.hypervisor_lost_from {
        let siblings = &mut threads[shared.threads_beside(index)];
        lose_core_state(siblings, shared, &platform.self_restore);
    }
    if has_slept && level >= shared.power_saving.time_base_stops_from {
        shared.cores[number].ticks_slept += shared.clock.ticks(woken) - shared.clock.ticks(since);
    }
    if level >= shared.power_saving.core_from {
        // Timers of siblings run again.
        shared.call_attention();
    }
    let level = threads[index].reached.level;
    interrupt::wake::wake(&mut threads[index], shared, reason, level, &platform.self_restore)
}
