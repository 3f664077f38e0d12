//! Privileged doorbells of the threads of a partition.

use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use crate::exec::message;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

pub(super) static FAMILY: Family = Family { read, write, synchronizes: |_, _| true };

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    Ok(Some(match row.spr {
        Spr::Tir => message::tir(thread, shared),
        _ => message::dpdes(thread, shared),
    }))
}

/// TIR is only read.
fn write(thread: &mut Thread, shared: &mut Shared, _: &SprRow, value: u64) -> Result<(), Trap> {
    message::set_dpdes(thread, shared, value);
    Ok(())
}
