//! Who makes vector and vector-scalar instructions available: FP, VEC and VSX of the MSR, and HFSCR. The
//! handlers of these instructions do not ask again.
//!
//! As everywhere, HFSCR is asked before the MSR (see [`facility`](super::facility)).

use arch::instruction::VectorFacility;
use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;

use super::{Handler, Outcome, facility};
use crate::state::thread::Thread;
use crate::state::thread::trap::Interrupt;

/// The handler of an instruction whose `facility` is withheld.
#[must_use]
pub fn unavailable(facility: VectorFacility) -> Handler {
    match facility {
        VectorFacility::FloatingPoint => {
            |t, _, _| refuse(t, Facility::Fp, Vector::FloatingPointUnavailable)
        }
        VectorFacility::Vector => |t, _, _| refuse(t, Facility::VecVsx, Vector::VectorUnavailable),
        VectorFacility::Vsx => |t, _, _| refuse(t, Facility::VecVsx, Vector::VsxUnavailable),
    }
}

fn refuse(thread: &mut Thread, facility: Facility, vector: Vector) -> Outcome {
    facility::require_of_hypervisor(thread, facility)?;
    Err(thread.interrupt(Interrupt::new(vector)))
}
