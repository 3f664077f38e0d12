//! Barriers and cache management: Power ISA 3.0B Book II chapter 4.
//!
//! The machine is sequentially consistent and its caches are coherent with the fetch of instructions,
//! so most of these have no effect on the architected state; the timing model prices them. What they
//! do check is that their address can be accessed.

use arch::instruction::{Mnemonic, Word};

use super::{Flow, Handler, Mode, Outcome, stored};
use crate::mmu::Access;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// Bytes of a cache block on POWER8 and POWER9.
const BLOCK_BYTES: u64 = 128;

/// The handler of a barrier or cache instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        // What alters a context synchronizes by itself.
        Mnemonic::Isync | Mnemonic::Sync | Mnemonic::Eieio => |_, _, _| Ok(Flow::Next),
        // Hints: what they touch need not be accessible.
        Mnemonic::Dcbt => |t, s, i| hint(t, s, i, Access::Load),
        Mnemonic::Dcbtst => |t, s, i| hint(t, s, i, Access::Store),
        Mnemonic::Icbt => |_, _, _| Ok(Flow::Next),
        // The processors have no such streams.
        Mnemonic::Dst | Mnemonic::Dstt | Mnemonic::Dstst | Mnemonic::Dststt => {
            |_, _, _| Ok(Flow::Next)
        }
        Mnemonic::Dss | Mnemonic::Dssall => |_, _, _| Ok(Flow::Next),
        Mnemonic::Dcbst | Mnemonic::Dcbf | Mnemonic::Icbi => touch_block,
        Mnemonic::Dcbz => dcbz,
        _ => return None,
    })
}

fn block(thread: &Thread, i: Word) -> arch::address::EffectiveAddress {
    let address = thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]);
    thread.effective(address & !(BLOCK_BYTES - 1))
}

/// Tells the timing model what a touch names. One that describes a stream (TH of 8 to 15) starts none.
fn hint(thread: &mut Thread, shared: &mut Shared, i: Word, access: Access) -> Outcome {
    if !(8..16).contains(&i.th()) {
        thread.hint(shared, block(thread, i), access);
    }
    Ok(Flow::Next)
}

fn touch_block(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    thread.locate(shared, block(thread, i), Access::Load)?;
    Ok(Flow::Next)
}

fn dcbz(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let block = block(thread, i);
    if thread.is_inhibited(shared, block, Access::Store)? {
        return Err(thread.alignment_interrupt(block));
    }
    thread.store_bytes(shared, block, [0; BLOCK_BYTES as usize])?;
    stored(shared)
}
