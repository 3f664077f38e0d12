//! Signs, exponents and significands of double and single format: Power ISA 3.0B Book I 7.6. Bits go as they
//! are; FPSCR is not touched.

use arch::instruction::{Mnemonic, Word};

use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// A sign bit for each number in a doubleword: of one double, or two singles.
const DOUBLE: u64 = 1 << 63;
const SINGLES: u64 = 1 << 63 | 1 << 31;

/// The handler.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xsabsdp => |t, _, i| scalar(t, i, |_, b| b & !DOUBLE),
        Mnemonic::Xsnabsdp => |t, _, i| scalar(t, i, |_, b| b | DOUBLE),
        Mnemonic::Xsnegdp => |t, _, i| scalar(t, i, |_, b| b ^ DOUBLE),
        Mnemonic::Xscpsgndp => |t, _, i| scalar(t, i, |a, b| copy_sign(a, b, DOUBLE)),
        Mnemonic::Xvabsdp => |t, _, i| vector(t, i, |_, b| b & !DOUBLE),
        Mnemonic::Xvnabsdp => |t, _, i| vector(t, i, |_, b| b | DOUBLE),
        Mnemonic::Xvnegdp => |t, _, i| vector(t, i, |_, b| b ^ DOUBLE),
        Mnemonic::Xvcpsgndp => |t, _, i| vector(t, i, |a, b| copy_sign(a, b, DOUBLE)),
        Mnemonic::Xvabssp => |t, _, i| vector(t, i, |_, b| b & !SINGLES),
        Mnemonic::Xvnabssp => |t, _, i| vector(t, i, |_, b| b | SINGLES),
        Mnemonic::Xvnegsp => |t, _, i| vector(t, i, |_, b| b ^ SINGLES),
        Mnemonic::Xvcpsgnsp => |t, _, i| vector(t, i, |a, b| copy_sign(a, b, SINGLES)),
        Mnemonic::Xsxexpdp => |t, _, i| to_gpr(t, i, exponent),
        Mnemonic::Xsxsigdp => |t, _, i| to_gpr(t, i, significand),
        Mnemonic::Xsiexpdp => |t, _, i| {
            t.vsr[i.xt()] = [with_exponent(t.gpr[i.ra()], t.gpr[i.rb()]), 0];
            Ok(Flow::Next)
        },
        Mnemonic::Xvxexpdp => |t, _, i| vector(t, i, |_, b| exponent(b)),
        Mnemonic::Xvxsigdp => |t, _, i| vector(t, i, |_, b| significand(b)),
        Mnemonic::Xviexpdp => |t, _, i| vector(t, i, with_exponent),
        Mnemonic::Xvxexpsp => |t, _, i| vector(t, i, |_, b| b >> 23 & 0x0000_00FF_0000_00FF),
        Mnemonic::Xvxsigsp => |t, _, i| vector(t, i, |_, b| each_word(b, significand_of_single)),
        Mnemonic::Xviexpsp => |t, _, i| {
            vector(t, i, |a, b| a & 0x807F_FFFF_807F_FFFF | b << 23 & 0x7F80_0000_7F80_0000)
        },
        _ => return None,
    })
}

#[inline]
fn scalar(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> u64) -> Outcome {
    let (a, b) = (thread.vsr[i.xa()][0], thread.vsr[i.xb()][0]);
    thread.vsr[i.xt()] = [operation(a, b), 0];
    Ok(Flow::Next)
}

#[inline]
fn vector(thread: &mut Thread, i: Word, operation: impl Fn(u64, u64) -> u64) -> Outcome {
    let (a, b) = (thread.vsr[i.xa()], thread.vsr[i.xb()]);
    thread.vsr[i.xt()] = [operation(a[0], b[0]), operation(a[1], b[1])];
    Ok(Flow::Next)
}

fn to_gpr(thread: &mut Thread, i: Word, operation: impl Fn(u64) -> u64) -> Outcome {
    thread.gpr[i.rt()] = operation(thread.vsr[i.xb()][0]);
    Ok(Flow::Next)
}

fn copy_sign(a: u64, b: u64, signs: u64) -> u64 {
    a & signs | b & !signs
}

/// The exponent field.
fn exponent(b: u64) -> u64 {
    b >> 52 & 0x7FF
}

/// The fraction, with the hidden bit of a normal number.
fn significand(b: u64) -> u64 {
    let hidden = u64::from(!matches!(exponent(b), 0 | 0x7FF));
    hidden << 52 | b & 0x000F_FFFF_FFFF_FFFF
}

fn significand_of_single(b: u32) -> u32 {
    let hidden = u32::from(!matches!(b >> 23 & 0xFF, 0 | 0xFF));
    hidden << 23 | b & 0x007F_FFFF
}

/// `a` with the low bits of `b` for its exponent field.
fn with_exponent(a: u64, b: u64) -> u64 {
    a & 0x800F_FFFF_FFFF_FFFF | (b & 0x7FF) << 52
}

fn each_word(doubleword: u64, operation: impl Fn(u32) -> u32) -> u64 {
    let high = operation((doubleword >> 32) as u32);
    u64::from(high) << 32 | u64::from(operation(doubleword as u32))
}
