//! MPPR: writing it makes the core's prefetch engine fetch, or stop fetching.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept;
use crate::exec::prefetch;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| true };

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    let written = kept::stored(thread, shared, row.spr);
    Ok(Some(prefetch::shown(thread, shared, written)))
}

fn write(thread: &mut Thread, shared: &mut Shared, _: &SprRow, value: u64) -> Result<(), Trap> {
    prefetch::fetch(thread, shared, value)?;
    kept::store(thread, shared, Spr::Mppr, value);
    Ok(())
}
