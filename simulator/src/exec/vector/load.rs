//! Vector loads: Power ISA 3.0B Book I 6.7.2. The low bits of the address are ignored, so that none is misaligned.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::put;
use crate::exec::{Handler, Outcome};
use crate::shared::Shared;
use crate::thread::Thread;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lvx => lvx,
        _ => return None,
    })
}

/// (RA|0) + (RB), without the bits below a multiple of `bytes`.
pub(super) fn truncated(thread: &Thread, i: Word, bytes: u64) -> EffectiveAddress {
    let address = thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]);
    thread.effective(address & !(bytes - 1))
}

fn lvx(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let value = thread.load_u128(shared, truncated(thread, i, 16))?;
    put(thread, i, value)
}
