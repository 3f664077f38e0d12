//! What each hardware thread holds while no partition runs: the registers of the hypervisor's own, by processor, and
//! what each thread has for itself.

pub(crate) mod per_cpu;
mod power9;

pub(crate) use power9::{HOST_LPCR, check_version, set_up_thread, translation_on};

use arch::processor::Processor;
use arch::registers::msr;
use arch::registers::spr::SprRow;

/// The processor that the hypervisor runs on.
pub(crate) const PROCESSOR: Processor = Processor::Power9;

/// Whether it has the special-purpose register of this number.
pub(crate) const fn has(number: u16) -> bool {
    SprRow::is_on(number, PROCESSOR)
}

/// MSR of the hypervisor once translation is on. It has no floating point of its own: FP is on so that a vCPU's
/// can be moved without another write of MSR, where the hypervisor has written it anyway.
pub(crate) const HOST_MSR: u64 =
    msr::SF | msr::HV | msr::FP | msr::ME | msr::IR | msr::DR | msr::RI | msr::LE;
