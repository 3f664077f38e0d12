//! Integer comparisons: Power ISA 3.0B Book I chapter 6. Each element becomes ones or zeros; the record forms say in
//! CR6 whether all are ones, or all zeros.

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::lane::{Lane, zip};
use super::{a, b, put};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The CR field of vector comparisons.
pub(super) const CR6: usize = 6;

/// The handler of a comparison.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vcmpequb => |t, _, i| compare(t, i, |a: u8, b| a == b),
        Mnemonic::Vcmpequh => |t, _, i| compare(t, i, |a: u16, b| a == b),
        Mnemonic::Vcmpequw => |t, _, i| compare(t, i, |a: u32, b| a == b),
        Mnemonic::Vcmpequd => |t, _, i| compare(t, i, |a: u64, b| a == b),
        Mnemonic::Vcmpgtub => |t, _, i| compare(t, i, |a: u8, b| a > b),
        Mnemonic::Vcmpgtuh => |t, _, i| compare(t, i, |a: u16, b| a > b),
        Mnemonic::Vcmpgtuw => |t, _, i| compare(t, i, |a: u32, b| a > b),
        Mnemonic::Vcmpgtud => |t, _, i| compare(t, i, |a: u64, b| a > b),
        Mnemonic::Vcmpgtsb => |t, _, i| compare(t, i, |a: i8, b| a > b),
        Mnemonic::Vcmpgtsh => |t, _, i| compare(t, i, |a: i16, b| a > b),
        Mnemonic::Vcmpgtsw => |t, _, i| compare(t, i, |a: i32, b| a > b),
        Mnemonic::Vcmpgtsd => |t, _, i| compare(t, i, |a: i64, b| a > b),
        Mnemonic::Vcmpneb => |t, _, i| compare(t, i, |a: u8, b| a != b),
        Mnemonic::Vcmpneh => |t, _, i| compare(t, i, |a: u16, b| a != b),
        Mnemonic::Vcmpnew => |t, _, i| compare(t, i, |a: u32, b| a != b),
        Mnemonic::Vcmpnezb => |t, _, i| compare(t, i, |a: u8, b| a != b || a == 0),
        Mnemonic::Vcmpnezh => |t, _, i| compare(t, i, |a: u16, b| a != b || a == 0),
        Mnemonic::Vcmpnezw => |t, _, i| compare(t, i, |a: u32, b| a != b || a == 0),
        _ => return None,
    })
}

/// Sets VRT, and in the record forms CR6, by whether something holds for each pair of elements.
pub(super) fn compare<L: Lane>(
    thread: &mut Thread,
    i: Word,
    holds: impl Fn(L, L) -> bool,
) -> Outcome {
    let ones = L::from_low(u128::MAX);
    let (a, b) = (a(thread, i), b(thread, i));
    let result = zip(a, b, |a: L, b: L| if holds(a, b) { ones } else { L::default() });
    if i.rc21() {
        record(thread, result);
    }
    put(thread, i, result)
}

/// Sets CR6 by a result whose elements are ones or zeros.
pub(in crate::exec) fn record(thread: &mut Thread, result: u128) {
    let bits = match result {
        u128::MAX => cr::LT,
        0 => cr::EQ,
        _ => 0,
    };
    thread.set_cr_field(CR6, bits);
}
