//! Division and remainder.
//!
//! The architecture leaves the quotient undefined where it does not fit, and where the divisor is
//! zero; here it is zero, as in Libre-SOC's pseudo-code, and so is the remainder.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode, Outcome};
use super::{finish, set_overflow, variant};
use crate::state::thread::Thread;

/// The handler of a division.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Divw => variant!(oe rc i, quotient, |a, b| {
            (a as i32).checked_div(b as i32).map(|quotient| u64::from(quotient as u32))
        }),
        Mnemonic::Divwu => variant!(oe rc i, quotient, |a, b| {
            (a as u32).checked_div(b as u32).map(u64::from)
        }),
        Mnemonic::Divwe => variant!(oe rc i, quotient, |a, b| {
            let quotient = (i64::from(a as i32) << 32).checked_div(i64::from(b as i32))?;
            i32::try_from(quotient).ok().map(|quotient| u64::from(quotient as u32))
        }),
        Mnemonic::Divweu => variant!(oe rc i, quotient, |a, b| {
            let quotient = (a << 32).checked_div(u64::from(b as u32))?;
            u32::try_from(quotient).ok().map(u64::from)
        }),
        Mnemonic::Divd => variant!(oe rc i, quotient, |a, b| {
            (a as i64).checked_div(b as i64).map(|quotient| quotient as u64)
        }),
        Mnemonic::Divdu => variant!(oe rc i, quotient, u64::checked_div),
        Mnemonic::Divde => variant!(oe rc i, quotient, |a, b| {
            let quotient = (i128::from(a as i64) << 64).checked_div(i128::from(b as i64))?;
            i64::try_from(quotient).ok().map(|quotient| quotient as u64)
        }),
        Mnemonic::Divdeu => variant!(oe rc i, quotient, |a, b| {
            let quotient = (u128::from(a) << 64).checked_div(u128::from(b))?;
            u64::try_from(quotient).ok()
        }),
        Mnemonic::Modsw => |t, _, i| {
            remainder(t, i, |a, b| {
                (a as i32).checked_rem(b as i32).map(|remainder| i64::from(remainder) as u64)
            })
        },
        Mnemonic::Moduw => {
            |t, _, i| remainder(t, i, |a, b| (a as u32).checked_rem(b as u32).map(u64::from))
        }
        Mnemonic::Modsd => |t, _, i| {
            remainder(t, i, |a, b| {
                (a as i64).checked_rem(b as i64).map(|remainder| remainder as u64)
            })
        },
        Mnemonic::Modud => |t, _, i| remainder(t, i, u64::checked_rem),
        _ => return None,
    })
}

/// RT = RA / RB, or overflow.
#[inline(always)]
fn quotient<const OE: bool, const RC: bool>(
    thread: &mut Thread,
    i: Word,
    divide: impl Fn(u64, u64) -> Option<u64>,
) -> Outcome {
    let quotient = divide(thread.gpr[i.ra()], thread.gpr[i.rb()]);
    if OE {
        set_overflow(thread, quotient.is_none(), quotient.is_none());
    }
    finish::<RC>(thread, i.rt(), quotient.unwrap_or(0))
}

#[inline(always)]
fn remainder(thread: &mut Thread, i: Word, divide: impl Fn(u64, u64) -> Option<u64>) -> Outcome {
    let remainder = divide(thread.gpr[i.ra()], thread.gpr[i.rb()]);
    finish::<false>(thread, i.rt(), remainder.unwrap_or(0))
}
