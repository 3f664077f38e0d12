//! Sums and differences: Power ISA 3.0B Book I 6.9.1.

use arch::instruction::{Mnemonic, Word};

use super::lane::zip;
use super::saturate::saturating;
use super::{a, b, c, put};
use crate::exec::Handler;

/// The handler of a sum or difference.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vaddubm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u8::wrapping_add)),
        Mnemonic::Vadduhm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u16::wrapping_add)),
        Mnemonic::Vadduwm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::wrapping_add)),
        Mnemonic::Vaddudm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u64::wrapping_add)),
        Mnemonic::Vadduqm => |t, _, i| put(t, i, a(t, i).wrapping_add(b(t, i))),
        Mnemonic::Vaddcuw => |t, _, i| {
            put(t, i, zip(a(t, i), b(t, i), |a: u32, b| u32::from(a.overflowing_add(b).1)))
        },
        Mnemonic::Vaddcuq => |t, _, i| put(t, i, carrying(a(t, i), b(t, i), false).1.into()),
        Mnemonic::Vaddeuqm => |t, _, i| put(t, i, carrying(a(t, i), b(t, i), c(t, i) & 1 != 0).0),
        Mnemonic::Vaddecuq => {
            |t, _, i| put(t, i, carrying(a(t, i), b(t, i), c(t, i) & 1 != 0).1.into())
        }
        Mnemonic::Vaddubs => |t, _, i| saturating(t, i, |a: u8, b: u8| i64::from(a) + i64::from(b)),
        Mnemonic::Vadduhs => {
            |t, _, i| saturating(t, i, |a: u16, b: u16| i64::from(a) + i64::from(b))
        }
        Mnemonic::Vadduws => {
            |t, _, i| saturating(t, i, |a: u32, b: u32| i64::from(a) + i64::from(b))
        }
        Mnemonic::Vaddsbs => |t, _, i| saturating(t, i, |a: i8, b: i8| i64::from(a) + i64::from(b)),
        Mnemonic::Vaddshs => {
            |t, _, i| saturating(t, i, |a: i16, b: i16| i64::from(a) + i64::from(b))
        }
        Mnemonic::Vaddsws => {
            |t, _, i| saturating(t, i, |a: i32, b: i32| i64::from(a) + i64::from(b))
        }
        _ => return difference(mnemonic),
    })
}

fn difference(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vsububm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u8::wrapping_sub)),
        Mnemonic::Vsubuhm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u16::wrapping_sub)),
        Mnemonic::Vsubuwm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::wrapping_sub)),
        Mnemonic::Vsubudm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u64::wrapping_sub)),
        Mnemonic::Vsubuqm => |t, _, i| put(t, i, a(t, i).wrapping_sub(b(t, i))),
        Mnemonic::Vsubcuw => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u32, b| u32::from(a >= b)))
        }
        Mnemonic::Vsubcuq => |t, _, i| put(t, i, carrying(a(t, i), !b(t, i), true).1.into()),
        Mnemonic::Vsubeuqm => |t, _, i| put(t, i, carrying(a(t, i), !b(t, i), c(t, i) & 1 != 0).0),
        Mnemonic::Vsubecuq => {
            |t, _, i| put(t, i, carrying(a(t, i), !b(t, i), c(t, i) & 1 != 0).1.into())
        }
        Mnemonic::Vsububs => |t, _, i| saturating(t, i, |a: u8, b: u8| i64::from(a) - i64::from(b)),
        Mnemonic::Vsubuhs => {
            |t, _, i| saturating(t, i, |a: u16, b: u16| i64::from(a) - i64::from(b))
        }
        Mnemonic::Vsubuws => {
            |t, _, i| saturating(t, i, |a: u32, b: u32| i64::from(a) - i64::from(b))
        }
        Mnemonic::Vsubsbs => |t, _, i| saturating(t, i, |a: i8, b: i8| i64::from(a) - i64::from(b)),
        Mnemonic::Vsubshs => {
            |t, _, i| saturating(t, i, |a: i16, b: i16| i64::from(a) - i64::from(b))
        }
        Mnemonic::Vsubsws => {
            |t, _, i| saturating(t, i, |a: i32, b: i32| i64::from(a) - i64::from(b))
        }
        _ => return None,
    })
}

/// `a` + `b` + a carry, and the carry out.
fn carrying(a: u128, b: u128, carry: bool) -> (u128, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry.into());
    (sum, first || second)
}
