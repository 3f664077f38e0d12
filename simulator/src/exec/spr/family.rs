//! A family of registers: what reading and writing them does.

use arch::registers::spr::{Spr, SprRow};

use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// What reading a number of the family gives; `None` leaves the target as it was.
type Read = fn(&mut Thread, &mut Shared, &SprRow) -> Result<Option<u64>, Trap>;
/// What writing to a number of the family does; bits beyond the register's width are already gone.
type Write = fn(&mut Thread, &mut Shared, &SprRow, u64) -> Result<(), Trap>;

/// What the registers of a family do.
pub(super) struct Family {
    pub(super) read: Read,
    pub(super) write: Write,
    /// Whether translation, decoded instructions, tracing or pending interrupts depend on the register that the thread
    /// has written. What else reads a register reads it when it needs it.
    pub(super) synchronizes: fn(&Thread, Spr) -> bool,
}
