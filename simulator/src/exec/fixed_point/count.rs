//! Counting of zeros and ones, parity, comparison of bytes, permutation of bits.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode};
use super::logical::{binary, unary};
use super::variant;

/// The handler of a counting instruction.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Cntlzw => variant!(rc i, unary, |a| u64::from((a as u32).leading_zeros())),
        Mnemonic::Cntlzd => variant!(rc i, unary, |a| u64::from(a.leading_zeros())),
        Mnemonic::Cnttzw => variant!(rc i, unary, |a| u64::from((a as u32).trailing_zeros())),
        Mnemonic::Cnttzd => variant!(rc i, unary, |a| u64::from(a.trailing_zeros())),
        Mnemonic::Popcntb => |t, _, i| {
            unary::<false>(t, i, |a| {
                u64::from_be_bytes(a.to_be_bytes().map(|byte| byte.count_ones() as u8))
            })
        },
        Mnemonic::Popcntw => |t, _, i| {
            unary::<false>(t, i, |a| {
                u64::from((a >> 32).count_ones()) << 32 | u64::from((a as u32).count_ones())
            })
        },
        Mnemonic::Popcntd => |t, _, i| unary::<false>(t, i, |a| u64::from(a.count_ones())),
        Mnemonic::Prtyw => |t, _, i| {
            unary::<false>(t, i, |a| {
                u64::from(parity(a >> 32)) << 32 | u64::from(parity(a & 0xFFFF_FFFF))
            })
        },
        Mnemonic::Prtyd => |t, _, i| unary::<false>(t, i, |a| u64::from(parity(a))),
        Mnemonic::Cmpb => |t, _, i| binary::<false>(t, i, cmpb),
        Mnemonic::Bpermd => |t, _, i| binary::<false>(t, i, bpermd),
        _ => return None,
    })
}

/// The parity of the lowest bits of the bytes.
fn parity(value: u64) -> u32 {
    (value & 0x0101_0101_0101_0101).count_ones() & 1
}

/// 0xFF in each byte in which the operands are equal.
fn cmpb(a: u64, b: u64) -> u64 {
    u64::from_be_bytes((a ^ b).to_be_bytes().map(|byte| if byte == 0 { 0xFF } else { 0 }))
}

/// Eight bits of `source`, chosen by the bytes of `indices`; an index above 63 chooses a zero.
fn bpermd(indices: u64, source: u64) -> u64 {
    indices.to_be_bytes().into_iter().fold(0, |bits, index| {
        bits << 1 | source.checked_shr(63_u32.wrapping_sub(index.into())).unwrap_or(0) & 1
    })
}
