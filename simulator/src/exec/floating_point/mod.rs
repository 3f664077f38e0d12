//! Scalar binary floating point: Power ISA 3.0B Book I chapter 4. Decimal floating point shares FPSCR,
//! its exceptions and the delivery of results.
//!
//! | module | what it is |
//! |---|---|
//! | [`fpscr`] | the status and control register: its bits and the rules between them |
//! | `number` | operands taken apart, the exact operations on them, NaN rules |
//! | `round` | from an exact result to a format: rounding, overflow, underflow |
//! | `quick` | the common case of the arithmetic on the host's, with the same results |
//! | `class` | FPRF's classes of results |
//! | `element` | the operations of vectors on single-precision elements |
//! | `deliver` | what FPSCR, CR1 and the target get, or the interrupt |
//! | `arithmetic`, `fused`, `estimate`, `convert`, `integral` | the computational instructions |
//! | `compare`, `moves`, `status`, `load`, `store` | the others |
//!
//! The arithmetic is integer arithmetic of its own: FR, tininess before rounding and the scaled results
//! of enabled overflow and underflow are not to be had from an IEEE library.
//!
//! What the architecture leaves undefined, and what is done here:
//! - FPSCR\[NI\]=1 changes nothing.
//! - FR of an overflow that is not enabled says whether the result is the infinity.
//! - FPRF of a conversion to an integer stays as it was; bits 0:31 of the 32-bit results repeat bits
//!   32:63, as Microwatt has it.
//! - Operands of single-precision arithmetic that single format cannot hold are taken as they are, and
//!   the result is rounded once; of a NaN the low 29 bits become zero.
//! - An interrupt for FPSCR\[FEX\] is taken at any instruction that writes FPSCR and leaves FEX set, and
//!   behind one that writes the MSR and leaves FE0 or FE1 set. Only the latter is imprecise.

pub(in crate::exec) mod arithmetic;
pub(in crate::exec) mod class;
pub(in crate::exec) mod compare;
pub(in crate::exec) mod convert;
pub(in crate::exec) mod deliver;
pub(in crate::exec) mod element;
pub(in crate::exec) mod estimate;
pub mod fpscr;
pub(in crate::exec) mod fused;
pub(in crate::exec) mod integral;
pub(in crate::exec) mod load;
mod moves;
pub(in crate::exec) mod number;
mod quick;
pub(in crate::exec) mod round;
mod status;
pub(in crate::exec) mod store;

use arch::instruction::{Mnemonic, Word};
use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;

use super::{Handler, Mode, Outcome, facility};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Interrupt;

/// The handler of a floating-point instruction; with MSR\[FP\]=0 the one that interrupts.
pub fn handler(mnemonic: Mnemonic, i: Word, mode: Mode) -> Option<Handler> {
    let families = [
        arithmetic::handler,
        fused::handler,
        estimate::handler,
        convert::handler,
        integral::handler,
        compare::handler,
        moves::handler,
        status::handler,
        load::handler,
        store::handler,
    ];
    let handler = families.iter().find_map(|family| family(mnemonic, i))?;
    Some(if mode.has_floating_point() { handler } else { unavailable })
}

/// The floating-point unavailable interrupt, or the hypervisor's.
pub(super) fn unavailable(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    facility::require_of_hypervisor(thread, Facility::Fp)?;
    Err(thread.interrupt(Interrupt::new(Vector::FloatingPointUnavailable)))
}

#[cfg(test)]
mod tests;
