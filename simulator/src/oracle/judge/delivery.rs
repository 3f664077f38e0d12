//! An interrupt that the hypervisor gives to a partition, as a processor would.

use arch::interrupt::{AIL2_BASE, AIL3_BASE, Vector};
use arch::registers::{lpcr, msr};

/// The vector of the partition that lies at `address`, if `lpcr` is the thread's and `interrupted` was its MSR.
pub(super) fn vector_at(address: u64, lpcr: u64, interrupted: u64) -> Option<Vector> {
    let at = |lpcr| {
        let (base, _) = arrival(lpcr, interrupted);
        Vector::from_offset(address.wrapping_sub(base))
    };
    at(0).filter(|vector| is_never_relocated(*vector)).or_else(|| at(lpcr))
}

/// Where an interrupt of the partition arrives that interrupts `interrupted`, and with which MSR: Power
/// ISA 3.0B Book III, Interrupt Processing.
pub(super) fn arrival(lpcr: u64, interrupted: u64) -> (u64, u64) {
    let relocation = msr::IR | msr::DR;
    let base = match lpcr::AIL.get(lpcr) {
        2 => AIL2_BASE,
        3 => AIL3_BASE,
        _ => 0,
    };
    let endian = if lpcr & lpcr::ILE != 0 { msr::LE } else { 0 };
    let msr = msr::SF | interrupted & msr::ME | endian;
    if base != 0 && interrupted & relocation == relocation {
        (base, msr | relocation)
    } else {
        (0, msr)
    }
}

/// Whether the interrupt arrives with relocation off whatever LPCR\[AIL\] says.
pub(super) fn is_never_relocated(vector: Vector) -> bool {
    matches!(vector, Vector::SystemReset | Vector::MachineCheck)
}

/// Whether the hypervisor may give the partition `vector` after an exit with `exit`.
pub(super) fn may_deliver(vector: Vector, exit: Vector, interrupted_msr: u64) -> bool {
    match vector {
        Vector::SystemReset | Vector::MachineCheck => true,
        Vector::External | Vector::Decrementer | Vector::DirectedPrivilegedDoorbell => {
            interrupted_msr & msr::EE != 0
        }
        Vector::Program => matches!(
            exit,
            Vector::HypervisorEmulationAssistance | Vector::HypervisorFacilityUnavailable
        ),
        Vector::FloatingPointUnavailable
        | Vector::VectorUnavailable
        | Vector::VsxUnavailable
        | Vector::FacilityUnavailable => exit == Vector::HypervisorFacilityUnavailable,
        Vector::Trace => {
            exit == Vector::HypervisorFacilityUnavailable && msr::TE.get(interrupted_msr) != 0
        }
        Vector::DataStorage | Vector::DataSegment => exit == Vector::HypervisorDataStorage,
        Vector::InstructionStorage | Vector::InstructionSegment => {
            exit == Vector::HypervisorInstructionStorage
        }
        _ => false,
    }
}

/// Whether the interrupt writes DAR or DSISR.
pub(super) fn describes(vector: Vector) -> bool {
    matches!(vector, Vector::MachineCheck | Vector::DataStorage | Vector::DataSegment)
}
