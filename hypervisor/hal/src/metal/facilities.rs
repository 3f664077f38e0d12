//! The registers of facilities that vCPUs get on demand, and HFSCR, which says who has them.
//!
//! HFSCR is written between vCPUs and at an exit: the return to the guest makes it hold.

use arch::registers::hfscr::Facility;
use arch::registers::{monitor, psscr};
use hypervisor_core::each_demanded_register;
use hypervisor_core::facilities::{ALWAYS, Branches, Demanded, Monitor};
use hypervisor_core::vcpu::registers::Floating;

use crate::host_state::has;
use crate::host_state::per_cpu::per_cpu;
use crate::registers::{read, spr, write};

unsafe extern "C" {
    fn hal_clear_vectors();
    fn hal_save_floating(into: *mut Floating);
    fn hal_load_floating(from: *const Floating);
    fn hal_save_vectors(into: *mut Demanded, status: *mut Floating);
    fn hal_load_vectors(from: *const Demanded, status: *const Floating);
}

/// Switches a facility on with its registers cleared.
pub(super) fn begin(facility: Facility) {
    let new = Demanded::default();
    // SAFETY: the hypervisor uses none of these registers.
    unsafe {
        grant((*per_cpu()).hfscr | facility.bit());
        match facility {
            Facility::VecVsx => hal_clear_vectors(),
            Facility::Ebb => load_branches(&new.branches),
            Facility::Pm => load_monitor(&new.monitor),
            // ESL, EC and PSLL are 0, and what the guest has of it stays: no state is lost, and level 0 is the deepest.
            Facility::Stop => {
                write::<{ spr::PSSCR }>(read::<{ spr::PSSCR }>() & psscr::PRIVILEGED);
            }
            _ => unreachable!("nobody gets {facility:?} on demand"),
        }
    }
}

/// Lets the guest execute `stop` without an exit, or not.
pub(super) fn allow_stop(allows: bool) {
    const STOP: u64 = Facility::Stop.bit();
    // SAFETY: a guest is about to be entered that has used `stop`; `per_cpu` is this thread's.
    unsafe {
        let before = (*per_cpu()).hfscr;
        let after = if allows { before | STOP } else { before & !STOP };
        if before != after {
            grant(after);
        }
    }
}

/// Sets HFSCR.
///
/// # Safety
/// Only for a guest.
unsafe fn grant(facilities: u64) {
    // SAFETY: the caller's promise; `per_cpu` is this thread's.
    unsafe {
        (*per_cpu()).hfscr = facilities;
        write::<{ spr::HFSCR }>(facilities);
    }
}

/// Saves what is on. Floating-point registers are parts of vectors: of a vCPU that has vectors they are saved as such.
pub(super) fn save(floating: &mut Floating, into: Option<&mut Demanded>) {
    let Some(into) = into else {
        // SAFETY: the record is there for the call.
        return unsafe { hal_save_floating(floating) };
    };
    // SAFETY: the records are there for the call.
    unsafe {
        if into.has(Facility::VecVsx) {
            hal_save_vectors(into, floating);
        } else {
            hal_save_floating(floating);
        }
    }
    if into.has(Facility::Ebb) {
        into.branches = read_branches();
    }
    if into.has(Facility::Pm) {
        into.monitor = read_monitor();
    }
}

/// Loads what the vCPU has used, and switches that on and all else off.
pub(super) fn load(floating: &Floating, from: Option<&Demanded>) {
    let after = ALWAYS | from.map_or(0, |from| from.facilities);
    // SAFETY: the hypervisor uses none of these registers.
    unsafe {
        let before = (*per_cpu()).hfscr;
        if before & !after & Facility::Pm.bit() != 0 {
            write::<{ spr::MMCR0 }>(monitor::FC);
        }
        if before != after {
            grant(after);
        }
        let Some(from) = from else { return hal_load_floating(floating) };
        if from.has(Facility::VecVsx) {
            hal_load_vectors(from, floating);
        } else {
            hal_load_floating(floating);
        }
        if from.has(Facility::Ebb) {
            load_branches(&from.branches);
        }
        if from.has(Facility::Pm) {
            load_monitor(&from.monitor);
        }
    }
}

macro_rules! demanded {
    ($($(#[$about:meta])* $group:ident $place:ident $facility:ident {
        $($(#[$doc:meta])* $field:ident: $register:ident;)*
    })*) => {
        $(
            impl Moves for $group {
                #[inline(always)]
                fn read() -> Self {
                    Self {
                        $($field: if const { has(spr::$register) } {
                            read::<{ spr::$register }>()
                        } else {
                            0
                        },)*
                    }
                }

                #[inline(always)]
                unsafe fn write(&self) {
                    // SAFETY: the caller's promise.
                    unsafe {
                        $(if const { has(spr::$register) } {
                            write::<{ spr::$register }>(self.$field);
                        })*
                    }
                }
            }
        )*
    };
}
each_demanded_register!(demanded);

/// Registers of a facility that move together.
trait Moves {
    /// What the processor has.
    fn read() -> Self;

    /// # Safety
    /// Only for a guest.
    unsafe fn write(&self);
}

pub(super) fn read_branches() -> Branches {
    Branches::read()
}

/// # Safety
/// Only for a guest.
pub(super) unsafe fn load_branches(branches: &Branches) {
    // SAFETY: the caller's promise.
    unsafe { branches.write() };
}

pub(super) fn read_monitor() -> Monitor {
    Monitor::read()
}

/// # Safety
/// Only for a guest.
pub(super) unsafe fn load_monitor(values: &Monitor) {
    // SAFETY: the caller's promise. Nothing counts before all is there.
    unsafe {
        write::<{ spr::MMCR0 }>(monitor::FC);
        values.write();
    }
}
