//! Counts of bits and bytes, parity, negation, extension of the sign: Power ISA 3.0B Book I 6.9.5 to 6.9.7, 6.13 and 6.14.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, map};
use super::{b, put};
use crate::exec::{Flow, Handler};

/// The last bit of each byte.
const LAST_BITS: u128 = u128::MAX / 0xFF;

/// The handler of a count.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vclzb => {
            |t, _, i| put(t, i, map(b(t, i), |b: u8| u8::from_low(b.leading_zeros().into())))
        }
        Mnemonic::Vctzb => {
            |t, _, i| put(t, i, map(b(t, i), |b: u8| u8::from_low(b.trailing_zeros().into())))
        }
        Mnemonic::Vpopcntb => {
            |t, _, i| put(t, i, map(b(t, i), |b: u8| u8::from_low(b.count_ones().into())))
        }
        Mnemonic::Vclzh => {
            |t, _, i| put(t, i, map(b(t, i), |b: u16| u16::from_low(b.leading_zeros().into())))
        }
        Mnemonic::Vctzh => {
            |t, _, i| put(t, i, map(b(t, i), |b: u16| u16::from_low(b.trailing_zeros().into())))
        }
        Mnemonic::Vpopcnth => {
            |t, _, i| put(t, i, map(b(t, i), |b: u16| u16::from_low(b.count_ones().into())))
        }
        Mnemonic::Vclzw => {
            |t, _, i| put(t, i, map(b(t, i), |b: u32| u32::from_low(b.leading_zeros().into())))
        }
        Mnemonic::Vctzw => {
            |t, _, i| put(t, i, map(b(t, i), |b: u32| u32::from_low(b.trailing_zeros().into())))
        }
        Mnemonic::Vpopcntw => {
            |t, _, i| put(t, i, map(b(t, i), |b: u32| u32::from_low(b.count_ones().into())))
        }
        Mnemonic::Vclzd => {
            |t, _, i| put(t, i, map(b(t, i), |b: u64| u64::from_low(b.leading_zeros().into())))
        }
        Mnemonic::Vctzd => {
            |t, _, i| put(t, i, map(b(t, i), |b: u64| u64::from_low(b.trailing_zeros().into())))
        }
        Mnemonic::Vpopcntd => {
            |t, _, i| put(t, i, map(b(t, i), |b: u64| u64::from_low(b.count_ones().into())))
        }
        Mnemonic::Vclzlsbb => |t, _, i| {
            t.gpr[i.rt()] = u64::from((b(t, i) & LAST_BITS).leading_zeros() / 8);
            Ok(Flow::Next)
        },
        Mnemonic::Vctzlsbb => |t, _, i| {
            t.gpr[i.rt()] = u64::from((b(t, i) & LAST_BITS).trailing_zeros() / 8);
            Ok(Flow::Next)
        },
        Mnemonic::Vprtybw => |t, _, i| put(t, i, map(b(t, i), |b: u32| parity(b.into()) as u32)),
        Mnemonic::Vprtybd => |t, _, i| put(t, i, map(b(t, i), |b: u64| parity(b.into()) as u64)),
        Mnemonic::Vprtybq => |t, _, i| put(t, i, parity(b(t, i))),
        Mnemonic::Vnegw => |t, _, i| put(t, i, map(b(t, i), |b: u32| b.wrapping_neg())),
        Mnemonic::Vnegd => |t, _, i| put(t, i, map(b(t, i), |b: u64| b.wrapping_neg())),
        Mnemonic::Vextsb2w => |t, _, i| put(t, i, map(b(t, i), |b: u32| i32::from(b as i8))),
        Mnemonic::Vextsh2w => |t, _, i| put(t, i, map(b(t, i), |b: u32| i32::from(b as i16))),
        Mnemonic::Vextsb2d => |t, _, i| put(t, i, map(b(t, i), |b: u64| i64::from(b as i8))),
        Mnemonic::Vextsh2d => |t, _, i| put(t, i, map(b(t, i), |b: u64| i64::from(b as i16))),
        Mnemonic::Vextsw2d => |t, _, i| put(t, i, map(b(t, i), |b: u64| i64::from(b as i32))),
        _ => return None,
    })
}

/// 1 if the last bits of an odd number of bytes are 1, and 0 otherwise.
fn parity(value: u128) -> u128 {
    u128::from((value & LAST_BITS).count_ones() & 1)
}
