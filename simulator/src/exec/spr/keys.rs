//! Storage keys: who may change which of them.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family =
    Family { read: kept::read, write, synchronizes: |_, spr| matches!(spr, Spr::Amr | Spr::Iamr) };

/// A problem-state program sets AMR only where UAMOR lets it, a guest only where AMOR does.
fn write(thread: &mut Thread, _: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    let writable = writable(thread, row);
    let old = thread.spr(row.spr);
    thread.set_spr(row.spr, old & !writable | value & writable);
    Ok(())
}

/// The bits of AMR, IAMR or UAMOR that the thread's state may change.
fn writable(thread: &Thread, row: &SprRow) -> u64 {
    if thread.is_hypervisor() {
        u64::MAX
    } else if thread.is_problem() {
        thread.spr(Spr::Uamor)
    } else if row.number == PROBLEM_AMR {
        thread.spr(Spr::Uamor) & thread.spr(Spr::Amor)
    } else {
        thread.spr(Spr::Amor)
    }
}

const PROBLEM_AMR: u16 = 13;
