//! What each hardware thread holds while no partition runs: the registers of the hypervisor's own, by processor, and
//! the per-CPU area.

pub(crate) mod per_cpu;
pub(crate) mod power9;

use arch::processor::Processor;
use arch::registers::msr;

/// The processor that the hypervisor runs on.
pub(crate) const PROCESSOR: Processor = Processor::Power9;

/// MSR of the hypervisor once translation is on.
pub(crate) const HOST_MSR: u64 =
    msr::SF | msr::HV | msr::ME | msr::IR | msr::DR | msr::RI | msr::LE;
