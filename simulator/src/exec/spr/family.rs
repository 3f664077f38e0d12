//! Which registers belong together, and what a family of them does.

use arch::registers::spr::{Spr, SprRow};

use super::{
    compatibility, debug, doorbell, events, implementation, kept, keys, maintenance, monitor,
    power_saving, priority, timers, transaction, translation,
};
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
    /// Whether translation, decoded instructions, tracing or pending interrupts depend on the register. What else reads
    /// a register reads it when it needs it.
    pub(super) synchronizes: fn(Spr) -> bool,
}

/// The family that a register belongs to.
pub(super) const fn family(spr: Spr) -> &'static Family {
    match spr {
        Spr::Tb | Spr::Dec | Spr::Hdec | Spr::Purr | Spr::Spurr | Spr::Vtb | Spr::Ic => {
            &timers::FAMILY
        }
        Spr::Lpcr | Spr::Lpidr | Spr::Pidr | Spr::Hrmor | Spr::Ptcr => &translation::FAMILY,
        Spr::Amr | Spr::Iamr | Spr::Uamor => &keys::FAMILY,
        Spr::Hfscr | Spr::Fscr | Spr::Pcr => &compatibility::FAMILY,
        Spr::Ciabr | Spr::Dawr0 | Spr::Dawrx0 => &debug::FAMILY,
        Spr::Dpdes | Spr::Tir => &doorbell::FAMILY,
        Spr::Bescr => &events::FAMILY,
        Spr::Texasr => &transaction::FAMILY,
        Spr::Mmcr0 | Spr::Mmcr1 | Spr::Mmcr2 | Spr::Mmcra | Spr::Ctrl => &monitor::FAMILY,
        Spr::Pmc1 | Spr::Pmc2 | Spr::Pmc3 | Spr::Pmc4 | Spr::Pmc5 | Spr::Pmc6 => &monitor::FAMILY,
        Spr::Psscr | Spr::Pmcr => &power_saving::FAMILY,
        Spr::Ppr => &priority::FAMILY,
        Spr::Hmer | Spr::Hmeer => &maintenance::FAMILY,
        Spr::Trig1 | Spr::Trig2 | Spr::Sprc | Spr::Sprd | Spr::Tfmr | Spr::Imc => {
            &implementation::FAMILY
        }
        Spr::L2qosr | Spr::Mmcrc | Spr::Ldbar | Spr::Wort => &implementation::FAMILY,
        _ => &kept::FAMILY,
    }
}
