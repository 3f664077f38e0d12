//! Vector-scalar instructions: Power ISA 3.0B Book I chapter 7. A VSR is a `u128` here: doubleword 0 is its
//! most significant half.
//!
//! That the MSR or HFSCR withholds them is decided before ([`vector_facility`](super::vector_facility)).

mod load;
mod logic;
mod moves;
mod store;

use arch::instruction::{Mnemonic, Word};

use super::{Handler, Mode};

/// The handler of a vector-scalar instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let families = [load::handler, store::handler, moves::handler, logic::handler];
    families.iter().find_map(|family| family(mnemonic, i))
}
