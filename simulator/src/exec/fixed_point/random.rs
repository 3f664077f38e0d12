//! `darn`: random numbers, every one of which the machine's seed decides.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode};
use super::finish;
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;

/// The handler of `darn`.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    if mnemonic != Mnemonic::Darn {
        return None;
    }
    Some(match i.l_darn() {
        0 => |t, s, i| finish::<false>(t, i.rt(), next(s) >> 32),
        1 | 2 => |t, s, i| finish::<false>(t, i.rt(), next(s)),
        _ => |t, _, _| Err(t.stop(StopReason::InvalidForm("darn (L=3)"))),
    })
}

/// The next number of SplitMix64: a counter, and a hash of it that passes the usual tests of
/// randomness. It never delivers the error value of `darn`, all ones.
fn next(shared: &mut Shared) -> u64 {
    loop {
        shared.random = shared.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (shared.random ^ shared.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = mixed ^ mixed >> 31;
        if number != u64::MAX {
            return number;
        }
    }
}
