//! Vectors: Power ISA 3.0B Book I chapter 6. A VR is one of VSRs 32 to 63, and here a `u128`: element 0 is in the
//! most significant bits, whatever the byte order of storage.
//!
//! | module | what it is |
//! |---|---|
//! | [`lane`] | a vector as elements of one width, and operations on all of them |
//! | `saturate` | results that do not fit |
//! | `load`, `store` | storage accesses |
//! | `pack`, `merge`, `permute`, `extract`, `bits` | elements, bytes and bits put elsewhere |
//! | `shift`, `logic` | shifts, rotations, logic |
//! | `add`, `multiply`, `across`, `extreme`, `count` | integers |
//! | `compare` | comparisons, and CR6 |
//! | `floating`, `floating_compare` | floating point |
//! | `decimal`, `packed` | decimal integers, and their formats |
//! | `cipher`, `hash` | AES, SHA-2, carry-less products |
//! | `status` | VSCR |
//!
//! That MSR\[VEC\] or HFSCR withholds them is decided before ([`vector_facility`](super::vector_facility)).

mod across;
mod add;
mod bits;
mod cipher;
mod compare;
mod count;
mod decimal;
mod extract;
mod extreme;
mod floating;
mod floating_compare;
mod hash;
pub(super) mod lane;
mod load;
mod logic;
mod merge;
mod multiply;
mod pack;
mod packed;
mod permute;
mod saturate;
mod shift;
mod status;
mod store;

use arch::instruction::{Mnemonic, Word};

use super::{Flow, Handler, Mode, Outcome};
use crate::state::thread::Thread;

/// The handler of a vector instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let families = [
        load::handler,
        store::handler,
        logic::handler,
        permute::handler,
        compare::handler,
        merge::handler,
        add::handler,
        pack::handler,
        extract::handler,
        bits::handler,
        shift::handler,
        multiply::handler,
        across::handler,
        extreme::handler,
        count::handler,
        cipher::handler,
        hash::handler,
        floating::handler,
        floating_compare::handler,
        decimal::handler,
        status::handler,
    ];
    families.iter().find_map(|family| family(mnemonic, i))
}

/// VRA.
fn a(thread: &Thread, i: Word) -> u128 {
    thread.vr(i.vra())
}

/// VRB.
fn b(thread: &Thread, i: Word) -> u128 {
    thread.vr(i.vrb())
}

/// VRC.
fn c(thread: &Thread, i: Word) -> u128 {
    thread.vr(i.vrc())
}

/// Sets VRT.
fn put(thread: &mut Thread, i: Word, value: u128) -> Outcome {
    thread.set_vr(i.vrt(), value);
    Ok(Flow::Next)
}
