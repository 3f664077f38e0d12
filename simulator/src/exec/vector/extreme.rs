//! Means, absolute differences, the greater and the smaller: Power ISA 3.0B Book I 6.9.1.3 to 6.9.2.

use arch::instruction::{Mnemonic, Word};

use super::lane::zip;
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a mean or extreme.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vavgub => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| mean(a.into(), b.into()) as u8))
        }
        Mnemonic::Vavguh => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| mean(a.into(), b.into()) as u16))
        }
        Mnemonic::Vavguw => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u32, b| mean(a.into(), b.into()) as u32))
        }
        Mnemonic::Vavgsb => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i8, b| mean(a.into(), b.into()) as i8))
        }
        Mnemonic::Vavgsh => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i16, b| mean(a.into(), b.into()) as i16))
        }
        Mnemonic::Vavgsw => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i32, b| mean(a.into(), b.into()) as i32))
        }
        Mnemonic::Vabsdub => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u8::abs_diff)),
        Mnemonic::Vabsduh => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u16::abs_diff)),
        Mnemonic::Vabsduw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::abs_diff)),
        Mnemonic::Vmaxub => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| a.max(b))),
        Mnemonic::Vmaxuh => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| a.max(b))),
        Mnemonic::Vmaxuw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u32, b| a.max(b))),
        Mnemonic::Vmaxud => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u64, b| a.max(b))),
        Mnemonic::Vmaxsb => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i8, b| a.max(b))),
        Mnemonic::Vmaxsh => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i16, b| a.max(b))),
        Mnemonic::Vmaxsw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i32, b| a.max(b))),
        Mnemonic::Vmaxsd => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i64, b| a.max(b))),
        Mnemonic::Vminub => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| a.min(b))),
        Mnemonic::Vminuh => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| a.min(b))),
        Mnemonic::Vminuw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u32, b| a.min(b))),
        Mnemonic::Vminud => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u64, b| a.min(b))),
        Mnemonic::Vminsb => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i8, b| a.min(b))),
        Mnemonic::Vminsh => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i16, b| a.min(b))),
        Mnemonic::Vminsw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i32, b| a.min(b))),
        Mnemonic::Vminsd => |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i64, b| a.min(b))),
        _ => return None,
    })
}

/// The mean, rounded up.
fn mean(a: i64, b: i64) -> i64 {
    (a + b + 1) >> 1
}
