//! Vector-scalar loads: Power ISA 3.0B Book I 7.6.1.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::shared::Shared;
use crate::thread::Thread;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lxvd2x => lxvd2x,
        _ => return None,
    })
}

/// (RA|0) + (RB).
pub(super) fn indexed(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]))
}

/// The doublewords come in order, each in the byte order of storage.
fn lxvd2x(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let value = thread.load_u128(shared, indexed(thread, i))?;
    let value = if thread.is_little_endian() { value.rotate_left(64) } else { value };
    thread.set_vsr(i.xt(), value);
    Ok(Flow::Next)
}
