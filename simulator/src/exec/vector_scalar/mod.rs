//! Vector-scalar instructions (VSX): Power ISA 3.0B Book I chapter 7.
//!
//! | module | what it is |
//! |---|---|
//! | `moves`, `load`, `store`, `length` | between VSRs and GPRs or storage |
//! | `logical`, `permute`, `sign` | bits, without regard to FPSCR |
//! | `float` | floating-point numbers as elements of a register |
//! | `deliver` | what FPSCR and the target get of results |
//! | `arithmetic`, `fused`, `convert`, `integer`, `integral` | computational instructions on doubles and singles |
//! | `compare`, `maximum`, `class` | comparisons and tests |
//! | `quad` | quad precision |
//!
//! What is computed of one element is the scalar facility's own ([`floating_point`](super::floating_point));
//! so is what it does where the architecture leaves a result undefined. Doubleword 1 of a scalar's
//! target, which ISA 2.07 leaves undefined, becomes zero.
//!
//! That the MSR or HFSCR withholds them is decided before ([`vector_facility`](super::vector_facility)).

mod arithmetic;
mod class;
mod compare;
mod convert;
mod deliver;
mod float;
mod fused;
mod integer;
mod integral;
mod length;
mod load;
mod logical;
mod maximum;
mod moves;
mod permute;
mod quad;
mod sign;
mod store;

use arch::instruction::{Mnemonic, Word};

use super::{Handler, Mode};

/// The handler of a vector-scalar instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let families = [
        moves::handler,
        load::handler,
        store::handler,
        length::handler,
        logical::handler,
        permute::handler,
        sign::handler,
        arithmetic::handler,
        fused::handler,
        compare::handler,
        maximum::handler,
        class::handler,
        convert::handler,
        integer::handler,
        integral::handler,
        quad::handler,
    ];
    families.iter().find_map(|family| family(mnemonic, i))
}

#[cfg(test)]
mod tests;
