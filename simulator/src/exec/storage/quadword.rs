//! `lq` and `stq`: a quadword in an even-odd pair of registers, the even one with the upper half.

use arch::instruction::{Mnemonic, Word};

use super::super::{Flow, Handler, Mode, Outcome, stored};
use super::{aligned, dq, ds};
use crate::mmu::Access;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

const QUADWORD_LOG2: u32 = 4;

/// The handler of a quadword access.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lq => lq,
        Mnemonic::Stq => stq,
        _ => return None,
    })
}

/// Sets the pair of registers that begins at `first`, which is even.
pub(super) fn set_pair(thread: &mut Thread, first: usize, value: u128) {
    thread.gpr[first & !1] = (value >> 64) as u64;
    thread.gpr[first | 1] = value as u64;
}

/// The pair of registers that begins at `first`, which is even.
pub(super) fn pair(thread: &Thread, first: usize) -> u128 {
    u128::from(thread.gpr[first & !1]) << 64 | u128::from(thread.gpr[first | 1])
}

fn lq(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let address = dq(thread, i);
    aligned(thread, address, QUADWORD_LOG2)?;
    thread.require_cached(shared, address, Access::Load)?;
    let value = thread.load_u128(shared, address)?;
    set_pair(thread, i.rt(), value);
    Ok(Flow::Next)
}

fn stq(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let address = ds(thread, i);
    aligned(thread, address, QUADWORD_LOG2)?;
    thread.require_cached(shared, address, Access::Store)?;
    thread.store_u128(shared, address, pair(thread, i.rs()))?;
    stored(shared)
}
