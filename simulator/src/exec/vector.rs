//! Vector and vector-scalar instructions: none is modelled. Whether one is available is decided as the
//! architecture has it; one that is stops the machine.
//!
//! As everywhere, HFSCR is asked before the MSR (see [`facility`](super::facility)).

use arch::instruction::{VectorFacility, Word};
use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;
use arch::registers::msr;

use super::{Handler, Outcome, facility};
use crate::shared::Shared;
use crate::thread::Thread;
use crate::thread::trap::{Interrupt, StopReason};

/// The handler of an instruction that needs `facility`.
#[must_use]
pub fn handler(facility: VectorFacility) -> Handler {
    match facility {
        VectorFacility::FloatingPoint => floating_point,
        VectorFacility::Vector => vector,
        VectorFacility::Vsx => vector_scalar,
    }
}

fn floating_point(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    refuse(thread, i, Facility::Fp, msr::FP, Vector::FloatingPointUnavailable)
}

fn vector(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    refuse(thread, i, Facility::VecVsx, msr::VEC, Vector::VectorUnavailable)
}

fn vector_scalar(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    refuse(thread, i, Facility::VecVsx, msr::VSX, Vector::VsxUnavailable)
}

fn refuse(thread: &mut Thread, i: Word, facility: Facility, bit: u64, vector: Vector) -> Outcome {
    facility::require_of_hypervisor(thread, facility)?;
    if thread.msr() & bit == 0 {
        return Err(thread.interrupt(Interrupt::new(vector)));
    }
    Err(thread.stop(StopReason::VectorNotModelled(i)))
}
