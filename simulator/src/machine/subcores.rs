//! Splits cores, and joins them, as HID0 asks: `docs/facts/power8.md#split-cores`.
//!
//! A split or a join takes no time once its condition holds.

use arch::processor::{Split, Way};
use arch::registers::msr;
use arch::registers::spr::{Scope, Spr};

use super::siblings::set_shared;
use crate::power_saving::POISON;
use crate::state::power_saving::level;
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::state::thread::{Activity, Thread};

/// What a new subcore has no value of until software writes it.
const UNDEFINED: [Spr; 4] = [Spr::Sdr1, Spr::Lpidr, Spr::Pcr, Spr::Hdec];

/// Does what the cores are asked for, as far as it can be done now.
///
/// # Errors
/// The thread that must not do what it does while its core is split, and why.
pub(super) fn arrange(
    threads: &mut [Thread],
    shared: &mut Shared,
) -> Result<(), (usize, StopReason)> {
    let Some(split) = shared.processor.facts().hid0.split else { return Ok(()) };
    for siblings in threads.chunk_by_mut(|one, other| one.core == other.core) {
        let hid0 = shared.cores[siblings[0].core].spr(Spr::Hid0);
        if let Some(way) = split.asked(hid0) {
            divide(siblings, shared, &split, way)?;
        } else if split.way(hid0).is_some() && hid0 & split.stays == 0 && are_napping(siblings) {
            join(siblings, shared, &split);
        }
    }
    Ok(())
}

/// Whether all threads but the first are in power saving, `doze` excepted.
fn are_napping(siblings: &[Thread]) -> bool {
    let naps =
        |thread: &Thread| thread.activity == Activity::Stopped && thread.asked.level >= level::NAP;
    siblings[1..].iter().all(naps)
}

fn divide(
    siblings: &mut [Thread],
    shared: &mut Shared,
    split: &Split,
    way: &Way,
) -> Result<(), (usize, StopReason)> {
    let core = siblings[0].core;
    let value = shared.cores[core].spr(Spr::Hid0);
    // Power saving ends in real mode.
    let is_translated = |thread: &&Thread| {
        thread.activity == Activity::Running && thread.msr() & (msr::IR | msr::DR) != 0
    };
    if let Some(thread) = siblings[1..].iter().find(is_translated) {
        let what = "a split while another thread than 0 has relocation on";
        return Err((thread.index, StopReason::SplitMisused { what, value }));
    }
    shared.cores[core].set_spr(Spr::Hid0, value & !split.commands() | way.status);
    let first = shared.subcore_of(siblings[0].index);
    for thread in siblings.iter_mut().filter(|thread| !first.contains(&thread.index)) {
        for spr in UNDEFINED {
            thread.set_spr(spr, POISON & spr.row().mask());
        }
    }
    Ok(())
}

/// The whole core goes on with what the first subcore had.
fn join(siblings: &mut [Thread], shared: &mut Shared, split: &Split) {
    let core = siblings[0].core;
    let hid0 = shared.cores[core].spr(Spr::Hid0) & !split.status();
    shared.cores[core].set_spr(Spr::Hid0, hid0);
    let [first, others @ ..] = siblings else { return };
    let cycle = first.time.cycles();
    for &spr in Spr::ALL.iter().filter(|spr| spr.row().scope == Scope::Subcore) {
        for thread in &mut *others {
            set_shared(thread, shared, spr, first.spr(spr), cycle);
        }
    }
}
