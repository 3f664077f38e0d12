//! HID0, which asks for a core to be split and says whether it is: `docs/facts/power8.md#split-cores`. What the
//! siblings must not do meanwhile is for `machine::subcores`, which does it.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

pub(super) static FAMILY: Family = Family { read: kept::read, write, synchronizes: |_, _| true };

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let Some(split) = shared.processor.facts().hid0.split else {
        return kept::write(thread, shared, row, value);
    };
    let was = shared.cores[thread.core].spr(Spr::Hid0);
    let commands = value & split.commands();
    let ends = split.way(was).is_some() && was & !value & split.stays != 0;
    let is_first = shared.threads_beside(thread.index).start == thread.index;
    let wrong = [
        ((commands != 0 || ends) && !is_first, "another thread than 0 splits or joins a core"),
        (commands.count_ones() > 1, "two splits at once"),
        (commands != 0 && value & split.stays == 0, "a split without DYNLPARDIS"),
        (commands != 0 && split.way(was).is_some(), "a split of a core that is split"),
    ];
    if let Some((_, what)) = wrong.into_iter().find(|(is_so, _)| *is_so) {
        return Err(thread.stop(StopReason::SplitMisused { what, value }));
    }
    if (was ^ value) & (split.stays | split.commands()) != 0 {
        shared.call_attention();
    }
    let status = split.status();
    kept::write(thread, shared, row, value & !status | was & status)
}
