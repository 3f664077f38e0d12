//! What each hardware thread holds while no partition runs: the registers of the hypervisor's own, by processor, and
//! what each thread has for itself.

pub(crate) mod per_cpu;
#[cfg(feature = "power8")]
mod power8;
#[cfg(not(feature = "power8"))]
mod power9;

#[cfg(feature = "power8")]
use power8 as own;
#[cfg(not(feature = "power8"))]
use power9 as own;

pub(crate) use own::{HOST_LPCR, begin, random};

use arch::processor::Processor;
use arch::registers::msr;
use arch::registers::spr::SprRow;
use hypervisor_core::facilities;

use crate::registers::{isync, spr, write};

/// The processor that the hypervisor runs on.
pub(crate) const PROCESSOR: Processor =
    if cfg!(feature = "power8") { Processor::Power8 } else { Processor::Power9 };

const _: () = {
    let facts = PROCESSOR.facts();
    assert!(HOST_LPCR & !facts.lpcr == 0 && HOST_MSR & !facts.msr == 0);
    assert!(facilities::ON_DEMAND & !facts.hfscr == 0);
};

/// Stops on another processor.
pub(crate) fn check_version(pvr: u32) {
    assert!(
        PROCESSOR.facts().is_version(pvr),
        "this hypervisor runs on {PROCESSOR} only; the processor version register is {pvr:#010x}"
    );
}

/// Whether it has the special-purpose register of this number, and a vCPU can have something in it: not WORT where
/// nothing is behind the number, nor DPDES, which is withheld, or the core's, of which
/// a vCPU has one bit (`core_registers`).
pub(crate) const fn has(number: u16) -> bool {
    let facts = PROCESSOR.facts();
    SprRow::is_on(number, PROCESSOR)
        && match number {
            spr::WORT => facts.has_wort,
            spr::DPDES => false,
            _ => true,
        }
}

/// MSR of the hypervisor once it runs as it will. It has no floating point of its own: FP is on so that a vCPU's
/// can be moved without another write of MSR, where the hypervisor has written it anyway.
pub(crate) const HOST_MSR: u64 =
    msr::SF | msr::HV | msr::FP | msr::ME | own::RELOCATION | msr::RI | msr::LE;

/// Sets the registers of this thread up that stay as they are.
///
/// # Safety
/// `tables` is what [`crate::host_space`] says of the tables that map the running image, if there are any; relocation
/// is off.
pub(crate) unsafe fn set_up_thread(tables: u64) {
    // SAFETY: the caller's promise. LPIDR and PIDR zero and the tables make quadrant 3 the image; where relocation
    // stays off, none of these has an effect on the hypervisor.
    unsafe {
        own::announce(tables);
        write::<{ spr::LPIDR }>(0);
        write::<{ spr::PIDR }>(0);
        write::<{ spr::LPCR }>(HOST_LPCR);
        write::<{ spr::HFSCR }>(facilities::NOTHING);
        // It prefetches for vCPUs that do not have it too.
        write::<{ spr::DSCR }>(0);
        clear_keys();
    }
    isync();
}

/// Withholds no page from the hypervisor by its storage keys, and no key from partitions.
///
/// # Safety
/// Between two guests.
#[inline(always)]
pub(crate) unsafe fn clear_keys() {
    // SAFETY: the caller's promise.
    unsafe {
        write::<{ spr::AMOR }>(u64::MAX);
        write::<{ spr::AMR }>(0);
        write::<{ spr::IAMR }>(0);
    }
}
