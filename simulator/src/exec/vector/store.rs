//! Vector stores: Power ISA 3.0B Book I 6.7.3.

use arch::instruction::{Mnemonic, Word};

use super::load::truncated;
use crate::exec::{Handler, Outcome, stored};
use crate::shared::Shared;
use crate::thread::Thread;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stvx => stvx,
        _ => return None,
    })
}

fn stvx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    thread.store_u128(shared, truncated(thread, i, 16), thread.vr(i.vrs()))?;
    stored(shared)
}
