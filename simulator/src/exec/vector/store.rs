//! Vector stores: Power ISA 3.0B Book I 6.7.3.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, get};
use super::load::{place, truncated};
use crate::exec::{Handler, Outcome, stored};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stvx | Mnemonic::Stvxl => stvx,
        Mnemonic::Stvebx => |t, s, i| element(t, s, i, Thread::store_u8),
        Mnemonic::Stvehx => |t, s, i| element(t, s, i, Thread::store_u16),
        Mnemonic::Stvewx => |t, s, i| element(t, s, i, Thread::store_u32),
        _ => return None,
    })
}

fn stvx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    thread.store_u128(shared, truncated(thread, i, 16), thread.vr(i.vrs()))?;
    stored(shared)
}

fn element<L: Lane>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    write: fn(&mut Thread, &mut Shared, EffectiveAddress, L) -> Result<(), Trap>,
) -> Outcome {
    let address = truncated(thread, i, u64::from(L::BITS) / 8);
    let value = get(thread.vr(i.vrs()), place::<L>(thread, address));
    write(thread, shared, address, value)?;
    stored(shared)
}
