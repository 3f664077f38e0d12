//! Vector loads: Power ISA 3.0B Book I 6.7.2. The low bits of the address are ignored, so that none is misaligned.
//! What an element load leaves undefined of the target stays as it was.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get};
use super::put;
use crate::exec::{Handler, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        // That it will not be used soon changes nothing.
        Mnemonic::Lvx | Mnemonic::Lvxl => lvx,
        Mnemonic::Lvebx => |t, s, i| element(t, s, i, Thread::load_u8),
        Mnemonic::Lvehx => |t, s, i| element(t, s, i, Thread::load_u16),
        Mnemonic::Lvewx => |t, s, i| element(t, s, i, Thread::load_u32),
        _ => return None,
    })
}

/// (RA|0) + (RB), without the bits below a multiple of `bytes`.
pub(super) fn truncated(thread: &Thread, i: Word, bytes: u64) -> EffectiveAddress {
    let address = thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]);
    thread.effective(address & !(bytes - 1))
}

/// The element that the bytes at `address` are when the whole quadword around them is in a VR.
pub(super) fn place<L: Lane>(thread: &Thread, address: EffectiveAddress) -> u32 {
    let place = (address.0 & 0xF) as u32 / (L::BITS / 8);
    if thread.is_little_endian() { L::COUNT - 1 - place } else { place }
}

fn lvx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let value = thread.load_u128(shared, truncated(thread, i, 16))?;
    put(thread, i, value)
}

fn element<L: Lane>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    read: fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<L, Trap>,
) -> Outcome {
    let address = truncated(thread, i, u64::from(L::BITS) / 8);
    let value = read(thread, shared, address)?;
    let (place, rest) = (place::<L>(thread, address), thread.vr(i.vrt()));
    put(thread, i, build(|index| if index == place { value } else { get(rest, index) }))
}
