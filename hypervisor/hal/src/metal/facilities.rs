//! The registers of facilities that vCPUs get on demand, and HFSCR, which says who has them.
//!
//! HFSCR is written between vCPUs and at an exit: the return to the guest makes it hold.

use arch::registers::hfscr::Facility;
use arch::registers::{monitor, psscr};
use hypervisor_core::each_demanded_register;
use hypervisor_core::facilities::{Branches, Demanded, Monitor, NOTHING, Streams, Target};

use crate::host_state::has;
use crate::host_state::per_cpu::per_cpu;
use crate::registers::{read, spr, write};

/// What a record of facilities has of `stop`, which PSSCR governs, and HFSCR does not.
const STOP: u64 = Facility::Stop.bit();

unsafe extern "C" {
    fn hal_save_floating(into: *mut Demanded);
    fn hal_load_floating(from: *const Demanded);
    fn hal_save_vectors(into: *mut Demanded);
    fn hal_load_vectors(from: *const Demanded);
}

/// Switches a facility on with the registers of the record.
pub(super) fn begin(facility: Facility, record: &mut Demanded) {
    // SAFETY: the hypervisor uses none of these registers; the record is there for the call.
    unsafe {
        let before = (*per_cpu()).hfscr;
        grant(record.given & !STOP);
        match facility {
            Facility::Fp => hal_load_floating(record),
            Facility::VecVsx => {
                if before & Facility::Fp.bit() != 0 {
                    hal_save_floating(record);
                }
                hal_load_vectors(record);
            }
            Facility::Dscr => record.streams.write(),
            Facility::Tar => record.target.write(),
            Facility::Ebb => record.branches.write(),
            Facility::Pm => load_monitor(&record.monitor),
            // It is decided when the vCPU enters.
            Facility::Stop => {}
            _ => unreachable!("nobody gets {facility:?} on demand"),
        }
    }
}

/// Lets the guest execute `stop` without an exit, or not. What it has of PSSCR stays; ESL and PSLL are 0, so that no
/// state is lost, and level 0 is the deepest.
pub(super) fn allow_stop(allows: bool) {
    let before = read::<{ spr::PSSCR }>();
    let own = before & psscr::PRIVILEGED;
    let after = if allows { own } else { own | psscr::WITHHELD };
    if before != after {
        // SAFETY: the registers are those of a guest that has used `stop`.
        unsafe { write::<{ spr::PSSCR }>(after) };
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
pub(super) fn save(into: &mut Demanded) {
    // SAFETY: the record is there for the calls.
    unsafe {
        if into.is_given(Facility::VecVsx) {
            hal_save_vectors(into);
        } else if into.is_given(Facility::Fp) {
            hal_save_floating(into);
        }
    }
    if into.is_given(Facility::Dscr) {
        into.streams = Streams::read();
    }
    if into.is_given(Facility::Tar) {
        into.target = Target::read();
    }
    if into.is_given(Facility::Ebb) {
        into.branches = Branches::read();
    }
    if into.is_given(Facility::Pm) {
        into.monitor = Monitor::read();
    }
}

/// Whether the vCPU that is here has the performance monitor.
#[cfg(feature = "power8")]
pub(super) fn has_monitor() -> bool {
    // SAFETY: `per_cpu` is this thread's.
    unsafe { (*per_cpu()).hfscr & Facility::Pm.bit() != 0 }
}

/// Puts the performance monitor of the vCPU before to rest, if it was given that. Its registers are in its record.
pub(super) fn rest() {
    // SAFETY: `per_cpu` is this thread's; what the hypervisor counts, it counts while no vCPU has the monitor.
    unsafe {
        if (*per_cpu()).hfscr & Facility::Pm.bit() != 0 {
            write::<{ spr::MMCR0 }>(monitor::FC);
        }
    }
}

/// Loads what the vCPU is given of what it has used, and switches that on and all else off. What is off and would
/// still do something for the vCPU before is put to rest.
pub(super) fn load(from: Option<&Demanded>) {
    let after = from.map_or(NOTHING, |from| from.given) & !STOP;
    // SAFETY: the hypervisor uses none of these registers.
    unsafe {
        let before = (*per_cpu()).hfscr;
        // An event of the vCPU before would come to the event-based branches of this one.
        rest();
        if before != after {
            let ends = before & !after;
            if ends & Facility::Dscr.bit() != 0 {
                write::<{ spr::DSCR }>(0);
            }
            grant(after);
        }
        let Some(from) = from else { return };
        if from.is_given(Facility::VecVsx) {
            hal_load_vectors(from);
        } else if from.is_given(Facility::Fp) {
            hal_load_floating(from);
        }
        if from.is_given(Facility::Dscr) {
            from.streams.write();
        }
        if from.is_given(Facility::Tar) {
            from.target.write();
        }
        if from.is_given(Facility::Ebb) {
            from.branches.write();
        }
        if from.is_given(Facility::Pm) {
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
pub(super) trait Moves {
    /// What the processor has.
    fn read() -> Self;

    /// # Safety
    /// Only for a guest.
    unsafe fn write(&self);
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
