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

pub(crate) use own::{HOST_LPCR, begin, random, set_up_thread};

use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use arch::registers::spr::SprRow;
use hypervisor_core::facilities;

use crate::registers::spr;

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
/// nothing is behind the number, nor DPDES where HFSCR withholds doorbells.
pub(crate) const fn has(number: u16) -> bool {
    let facts = PROCESSOR.facts();
    SprRow::is_on(number, PROCESSOR)
        && match number {
            spr::WORT => facts.has_wort,
            spr::DPDES => !facts.switches(Facility::Msgp),
            _ => true,
        }
}

/// MSR of the hypervisor once it runs as it will. It has no floating point of its own: FP is on so that a vCPU's
/// can be moved without another write of MSR, where the hypervisor has written it anyway.
pub(crate) const HOST_MSR: u64 =
    msr::SF | msr::HV | msr::FP | msr::ME | own::RELOCATION | msr::RI | msr::LE;
