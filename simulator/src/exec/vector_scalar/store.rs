//! Vector-scalar stores: Power ISA 3.0B Book I 7.6.1.

use arch::instruction::{Mnemonic, Word};

use super::load::indexed;
use crate::exec::{Handler, Outcome, stored};
use crate::shared::Shared;
use crate::thread::Thread;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stxvd2x => stxvd2x,
        _ => return None,
    })
}

fn stxvd2x(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let value = thread.vsr(i.xt());
    let value = if thread.is_little_endian() { value.rotate_left(64) } else { value };
    thread.store_u128(shared, indexed(thread, i), value)?;
    stored(shared)
}
