//! The sigma functions of SHA-2 (FIPS 180-4) and carry-less products: Power ISA 3.0B Book I 6.15.2 and 6.15.3.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get};
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a sigma function or carry-less product.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vshasigmaw => |t, _, i| {
            put(t, i, build(|index| word(get(a(t, i), index), i.st(), i.six() >> (3 - index) & 1)))
        },
        Mnemonic::Vshasigmad => |t, _, i| {
            put(
                t,
                i,
                build(|index| {
                    doubleword(get(a(t, i), index), i.st(), i.six() >> (3 - 2 * index) & 1)
                }),
            )
        },
        Mnemonic::Vpmsumb => |t, _, i| put(t, i, products::<u8, u16>(a(t, i), b(t, i))),
        Mnemonic::Vpmsumh => |t, _, i| put(t, i, products::<u16, u32>(a(t, i), b(t, i))),
        Mnemonic::Vpmsumw => |t, _, i| put(t, i, products::<u32, u64>(a(t, i), b(t, i))),
        Mnemonic::Vpmsumd => |t, _, i| put(t, i, products::<u64, u128>(a(t, i), b(t, i))),
        _ => return None,
    })
}

/// The small sigma functions of SHA-256, or the `capital` ones.
fn word(value: u32, capital: bool, which: u32) -> u32 {
    let rotated = |bits| value.rotate_right(bits);
    match (capital, which) {
        (false, 0) => rotated(7) ^ rotated(18) ^ value >> 3,
        (false, _) => rotated(17) ^ rotated(19) ^ value >> 10,
        (true, 0) => rotated(2) ^ rotated(13) ^ rotated(22),
        (true, _) => rotated(6) ^ rotated(11) ^ rotated(25),
    }
}

/// Those of SHA-512.
fn doubleword(value: u64, capital: bool, which: u32) -> u64 {
    let rotated = |bits| value.rotate_right(bits);
    match (capital, which) {
        (false, 0) => rotated(1) ^ rotated(8) ^ value >> 7,
        (false, _) => rotated(19) ^ rotated(61) ^ value >> 6,
        (true, 0) => rotated(28) ^ rotated(34) ^ rotated(39),
        (true, _) => rotated(14) ^ rotated(18) ^ rotated(41),
    }
}

/// The sums, without carries, of the products of each even element and the odd one after it.
fn products<N: Lane, W: Lane>(a: u128, b: u128) -> u128 {
    build(|index| {
        let product = |place| carryless(get::<N>(a, place).bits(), get::<N>(b, place).bits());
        W::from_low(product(2 * index) ^ product(2 * index + 1))
    })
}

/// The product of polynomials over the bits, of degree 63 at most.
fn carryless(a: u128, b: u128) -> u128 {
    (0..64).filter(|bit| b >> bit & 1 != 0).fold(0, |sum, bit| sum ^ a << bit)
}
