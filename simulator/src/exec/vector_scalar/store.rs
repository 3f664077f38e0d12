//! Stores: Power ISA 3.0B Book I 7.6. See `load` for the order of bytes.

use arch::instruction::{Mnemonic, Word};

use super::load::{by_quadword, by_word, in_element_order};
use crate::exec::floating_point::load::indexed;
use crate::exec::floating_point::store::single_from_double;
use crate::exec::vector::lane::Lane;
use crate::exec::{Handler, Outcome, stored};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stxvx => |t, s, i| quadword(t, s, indexed(t, i), t.vsr(i.xt())),
        Mnemonic::Stxv => |t, s, i| quadword(t, s, by_quadword(t, i), t.vsr(i.xt_dq())),
        Mnemonic::Stxvd2x => elements::<u64>,
        Mnemonic::Stxvw4x => elements::<u32>,
        Mnemonic::Stxvh8x => elements::<u16>,
        Mnemonic::Stxvb16x => elements::<u8>,
        Mnemonic::Stxsdx => |t, s, i| doubleword(t, s, indexed(t, i), t.vsr[i.xt()][0]),
        Mnemonic::Stxsd => |t, s, i| doubleword(t, s, by_word(t, i), t.vsr[i.vrs() + 32][0]),
        Mnemonic::Stxsspx => |t, s, i| single(t, s, indexed(t, i), t.vsr[i.xt()][0]),
        Mnemonic::Stxssp => |t, s, i| single(t, s, by_word(t, i), t.vsr[i.vrs() + 32][0]),
        Mnemonic::Stxsiwx => |t, s, i| word(t, s, indexed(t, i), t.vsr[i.xt()][0] as u32),
        Mnemonic::Stxsihx => |t, s, i| {
            let address = t.effective(indexed(t, i));
            t.store_u16(s, address, t.vsr[i.xt()][0] as u16)?;
            stored(s)
        },
        Mnemonic::Stxsibx => |t, s, i| {
            let address = t.effective(indexed(t, i));
            t.store_u8(s, address, t.vsr[i.xt()][0] as u8)?;
            stored(s)
        },
        _ => return None,
    })
}

fn quadword(thread: &mut Thread, shared: &mut Shared, address: u64, value: u128) -> Outcome {
    thread.store_u128(shared, thread.effective(address), value)?;
    stored(shared)
}

/// Elements, each in the thread's byte order.
fn elements<L: Lane>(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let ordered = in_element_order::<L>(thread.vsr(i.xt()), thread.is_little_endian());
    quadword(thread, shared, indexed(thread, i), ordered)
}

fn doubleword(thread: &mut Thread, shared: &mut Shared, address: u64, value: u64) -> Outcome {
    thread.store_u64(shared, thread.effective(address), value)?;
    stored(shared)
}

fn single(thread: &mut Thread, shared: &mut Shared, address: u64, value: u64) -> Outcome {
    word(thread, shared, address, single_from_double(value))
}

fn word(thread: &mut Thread, shared: &mut Shared, address: u64, value: u32) -> Outcome {
    thread.store_u32(shared, thread.effective(address), value)?;
    stored(shared)
}
