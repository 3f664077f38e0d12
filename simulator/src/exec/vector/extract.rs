//! Elements taken out and put in at any byte: Power ISA 3.0B Book I chapter 6. What would reach beyond the
//! vector is undefined; here it goes on with byte 0.

use arch::instruction::{Mnemonic, Word};

use super::{b, put};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an extraction or insertion.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vextractub => |t, _, i| extract(t, i, 1),
        Mnemonic::Vextractuh => |t, _, i| extract(t, i, 2),
        Mnemonic::Vextractuw => |t, _, i| extract(t, i, 4),
        Mnemonic::Vextractd => |t, _, i| extract(t, i, 8),
        Mnemonic::Vinsertb => |t, _, i| insert(t, i, 1),
        Mnemonic::Vinserth => |t, _, i| insert(t, i, 2),
        Mnemonic::Vinsertw => |t, _, i| insert(t, i, 4),
        Mnemonic::Vinsertd => |t, _, i| insert(t, i, 8),
        Mnemonic::Vextublx => |t, _, i| from_left(t, i, 1),
        Mnemonic::Vextuhlx => |t, _, i| from_left(t, i, 2),
        Mnemonic::Vextuwlx => |t, _, i| from_left(t, i, 4),
        Mnemonic::Vextubrx => |t, _, i| from_right(t, i, 1),
        Mnemonic::Vextuhrx => |t, _, i| from_right(t, i, 2),
        Mnemonic::Vextuwrx => |t, _, i| from_right(t, i, 4),
        _ => return None,
    })
}

/// `bytes` bytes of `vector` from byte `first` on, right-justified.
fn take(vector: u128, first: u32, bytes: u32) -> u64 {
    (vector.rotate_left(8 * first) >> (128 - 8 * bytes)) as u64
}

/// Right-justified in doubleword 0.
fn extract(thread: &mut Thread, i: Word, bytes: u32) -> Outcome {
    let value = take(b(thread, i), i.uim4(), bytes);
    put(thread, i, u128::from(value) << 64)
}

/// The rightmost bytes of doubleword 0, put into VRT.
fn insert(thread: &mut Thread, i: Word, bytes: u32) -> Outcome {
    let (first, mask) = (8 * i.uim4(), u128::MAX << (128 - 8 * bytes));
    let value = b(thread, i) << (64 - 8 * bytes);
    let kept = thread.vr(i.vrt()).rotate_left(first) & !mask;
    put(thread, i, (kept | value & mask).rotate_right(first))
}

fn from_left(thread: &mut Thread, i: Word, bytes: u32) -> Outcome {
    let first = thread.gpr[i.ra()] as u32 & 0xF;
    thread.gpr[i.rt()] = take(b(thread, i), first, bytes);
    Ok(Flow::Next)
}

fn from_right(thread: &mut Thread, i: Word, bytes: u32) -> Outcome {
    let last = 15 - (thread.gpr[i.ra()] as u32 & 0xF);
    let first = last.wrapping_sub(bytes - 1) & 0xF;
    thread.gpr[i.rt()] = take(b(thread, i), first, bytes);
    Ok(Flow::Next)
}
