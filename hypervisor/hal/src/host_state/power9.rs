//! The registers of the hypervisor's own on POWER9: what they hold while no partition runs.

use core::arch::asm;

use arch::registers::{lpcr, msr};
use hypervisor_core::facilities;

use super::{HOST_MSR, PROCESSOR};
use crate::registers::{isync, spr, write};

/// LPCR before the first partition: radix, interrupts of the hypervisor at the virtual door, none
/// from the interrupt controller, and no hypervisor decrementer.
pub(crate) const HOST_LPCR: u64 =
    lpcr::AIL.set(lpcr::DPFD.set(0, 4), 3) | lpcr::UPRT | lpcr::HR | lpcr::HEIC | lpcr::HVICE;

const _: () = {
    let facts = PROCESSOR.facts();
    assert!(facts.support.hypervisor);
    assert!(HOST_LPCR & !facts.lpcr == 0 && HOST_MSR & !facts.msr == 0);
    assert!(facilities::ON_DEMAND & !facts.hfscr == 0);
};

/// Stops on another processor.
pub(crate) fn check_version(pvr: u32) {
    assert!(
        PROCESSOR.facts().is_version(pvr),
        "this hypervisor runs on POWER9 only; the processor version register is {pvr:#010x}"
    );
}

/// Sets the registers of this thread up that stay as they are.
///
/// # Safety
/// `ptcr` names tables that map the running image at its address; translation is off.
pub(crate) unsafe fn set_up_thread(ptcr: u64) {
    // SAFETY: the caller's promise. LPIDR and PIDR zero and the tables make quadrant 3 the image.
    unsafe {
        write::<{ spr::PTCR }>(ptcr);
        write::<{ spr::LPIDR }>(0);
        write::<{ spr::PIDR }>(0);
        write::<{ spr::LPCR }>(HOST_LPCR);
        write::<{ spr::HFSCR }>(facilities::NOTHING);
        // It prefetches for vCPUs that do not have it too.
        write::<{ spr::DSCR }>(0);
        write::<{ spr::AMOR }>(u64::MAX);
        write::<{ spr::AMR }>(0);
        write::<{ spr::IAMR }>(0);
    }
    isync();
}

/// # Safety
/// Behind [`set_up_thread`].
pub(crate) unsafe fn translation_on() {
    // SAFETY: SLB and ERAT hold nothing that is needed; then the same code goes on, translated.
    unsafe {
        asm!(
            ".long {slbia}",
            "isync",
            "mtmsrd {msr}",
            "isync",
            slbia = const 31 << 26 | 7 << 21 | 498 << 1,   // slbia IH=7: lookaside only
            msr = in(reg) HOST_MSR,
        );
    }
    debug_assert!(HOST_MSR & msr::EE == 0);
}
