//! Bits put elsewhere: Power ISA 3.0B Book I 6.12.

use arch::instruction::{Mnemonic, Word};

use super::lane::{build, get};
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a permutation of bits.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vgbbd => |t, _, i| put(t, i, build(|index| transposed(get(b(t, i), index)))),
        Mnemonic::Vbpermq => {
            |t, _, i| put(t, i, u128::from(picked(a(t, i), 128, &b(t, i).to_be_bytes())) << 64)
        }
        Mnemonic::Vbpermd => |t, _, i| {
            let doubleword = |index| {
                let (from, indices) = (get::<u64>(a(t, i), index), get::<u64>(b(t, i), index));
                picked(u128::from(from) << 64, 64, &indices.to_be_bytes())
            };
            put(t, i, build(doubleword))
        },
        _ => return None,
    })
}

/// Bit `j` of byte `i` becomes bit `i` of byte `j`.
fn transposed(doubleword: u64) -> u64 {
    let bit = |byte: u32, bit: u32| doubleword >> (63 - 8 * byte - bit) & 1;
    (0..64).fold(0, |all, place| all << 1 | bit(place % 8, place / 8))
}

/// The bits of `from` that `indices` name, counted from the left, right-justified; 0 from index `end` on.
fn picked(from: u128, end: u8, indices: &[u8]) -> u64 {
    let bit = |&index: &u8| index < end && from >> (127 - index) & 1 != 0;
    indices.iter().fold(0, |all, index| all << 1 | u64::from(bit(index)))
}
