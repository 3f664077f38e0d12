//! Vectors: Power ISA 3.0B Book I chapter 6. A VR is one of VSRs 32 to 63, and here a `u128`: element 0 is in the
//! most significant bits, whatever the byte order of storage.
//!
//! | module | what it is |
//! |---|---|
//! | [`lane`] | a vector as elements of one width, and operations on all of them |
//! | `load`, `store` | storage accesses |
//! | `permute` | bytes put elsewhere |
//! | `add` | sums |
//! | `compare` | comparisons, and CR6 |
//! | `status` | VSCR |
//!
//! That MSR\[VEC\] or HFSCR withholds them is decided before ([`vector_facility`](super::vector_facility)).

mod add;
mod compare;
pub(super) mod lane;
mod load;
mod permute;
mod status;
mod store;

use arch::instruction::{Mnemonic, Word};

use super::{Flow, Handler, Mode, Outcome};
use crate::thread::Thread;

/// The handler of a vector instruction.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    let families = [
        load::handler,
        store::handler,
        permute::handler,
        add::handler,
        compare::handler,
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
