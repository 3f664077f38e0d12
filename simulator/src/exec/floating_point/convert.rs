//! Conversions between floating point and integers: Power ISA 3.0B Book I 4.6.7.2 and 4.6.7.3.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{deliver, deliver_integer};
use super::fpscr::{FI, FR, RN, Rounding, VXCVI, VXSNAN, XX};
use super::number::{Number, is_finite_nonzero, is_nan, is_negative, is_signalling, is_zero};
use super::round::{Computed, Double, Format, Single, round};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a conversion from or to an integer.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fctid => |t, _, i| to_integer(t, i, SIGNED_DOUBLEWORD, t.fpscr),
        Mnemonic::Fctidz => |t, _, i| to_integer(t, i, SIGNED_DOUBLEWORD, TOWARD_ZERO),
        Mnemonic::Fctidu => |t, _, i| to_integer(t, i, UNSIGNED_DOUBLEWORD, t.fpscr),
        Mnemonic::Fctiduz => |t, _, i| to_integer(t, i, UNSIGNED_DOUBLEWORD, TOWARD_ZERO),
        Mnemonic::Fctiw => |t, _, i| to_integer(t, i, SIGNED_WORD, t.fpscr),
        Mnemonic::Fctiwz => |t, _, i| to_integer(t, i, SIGNED_WORD, TOWARD_ZERO),
        Mnemonic::Fctiwu => |t, _, i| to_integer(t, i, UNSIGNED_WORD, t.fpscr),
        Mnemonic::Fctiwuz => |t, _, i| to_integer(t, i, UNSIGNED_WORD, TOWARD_ZERO),
        Mnemonic::Fcfid => |t, _, i| from_signed::<Double>(t, i),
        Mnemonic::Fcfids => |t, _, i| from_signed::<Single>(t, i),
        Mnemonic::Fcfidu => |t, _, i| from_unsigned::<Double>(t, i),
        Mnemonic::Fcfidus => |t, _, i| from_unsigned::<Single>(t, i),
        _ => return None,
    })
}

/// An FPSCR whose rounding mode is toward zero.
pub(in crate::exec) const TOWARD_ZERO: u64 = RN.set(0, 1);

/// The integers that a conversion can deliver.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Range {
    /// Magnitude of the least.
    least: u64,
    greatest: u64,
    is_word: bool,
}

pub(in crate::exec) const SIGNED_DOUBLEWORD: Range =
    Range { least: 1 << 63, greatest: (1 << 63) - 1, is_word: false };
pub(in crate::exec) const UNSIGNED_DOUBLEWORD: Range =
    Range { least: 0, greatest: u64::MAX, is_word: false };
pub(in crate::exec) const SIGNED_WORD: Range =
    Range { least: 1 << 31, greatest: (1 << 31) - 1, is_word: true };
pub(in crate::exec) const UNSIGNED_WORD: Range =
    Range { least: 0, greatest: (1 << 32) - 1, is_word: true };

fn to_integer(thread: &mut Thread, i: Word, range: Range, rounding: u64) -> Outcome {
    let b = thread.fpr(i.frb());
    deliver_integer(thread, i, integer(b, range, Rounding::of(rounding)))
}

/// The integer of `range` that `b` is rounded to.
pub(in crate::exec) fn integer(b: u64, range: Range, rounding: Rounding) -> Computed {
    if is_nan(b) {
        let signals = if is_signalling(b) { VXSNAN } else { 0 };
        return range.value(true, range.least, VXCVI | signals);
    }
    let negative = is_negative(b);
    let limit = if negative { range.least } else { range.greatest };
    if is_zero(b) {
        return range.value(negative, 0, 0);
    }
    let rounded = is_finite_nonzero(b).then(|| magnitude(Number::unpack(b), rounding)).flatten();
    match rounded {
        Some((magnitude, status)) if magnitude <= limit => range.value(negative, magnitude, status),
        _ => range.value(negative, limit, VXCVI),
    }
}

impl Range {
    /// An integer in the form that the instruction delivers it.
    fn value(self, negative: bool, magnitude: u64, status: u64) -> Computed {
        let integer = if negative { magnitude.wrapping_neg() } else { magnitude };
        let low = integer & 0xFFFF_FFFF;
        Computed { value: if self.is_word { low << 32 | low } else { integer }, status }
    }
}

/// The magnitude of the integer that `number` is rounded to, with FR, FI and XX; `None` if it needs more
/// than 64 bits.
fn magnitude(number: Number, rounding: Rounding) -> Option<(u64, u64)> {
    let Number { negative, exponent, significand } = number;
    if exponent > 63 {
        return None;
    }
    // 64 integer bits, 64 fraction bits; what is below one half keeps only that it is there.
    let fixed = u128::from(significand) << 64 >> (63 - exponent).min(126);
    let (whole, fraction) = ((fixed >> 64) as u64, fixed as u64);
    if fraction == 0 {
        return Some((whole, 0));
    }
    const HALF: u64 = 1 << 63;
    let is_up = match rounding {
        Rounding::NearestEven => fraction > HALF || fraction == HALF && whole & 1 != 0,
        Rounding::TowardZero => false,
        Rounding::Up => !negative,
        Rounding::Down => negative,
    };
    let rounded = whole.checked_add(u64::from(is_up))?;
    Some((rounded, FI | XX | if is_up { FR } else { 0 }))
}

fn from_signed<F: Format>(thread: &mut Thread, i: Word) -> Outcome {
    let b = thread.fpr(i.frb()) as i64;
    from_integer::<F>(thread, i, b < 0, b.unsigned_abs())
}

fn from_unsigned<F: Format>(thread: &mut Thread, i: Word) -> Outcome {
    let b = thread.fpr(i.frb());
    from_integer::<F>(thread, i, false, b)
}

fn from_integer<F: Format>(
    thread: &mut Thread,
    i: Word,
    negative: bool,
    magnitude: u64,
) -> Outcome {
    deliver(thread, i, floating::<F>(negative, magnitude, thread.fpscr))
}

/// An integer in format `F`.
pub(in crate::exec) fn floating<F: Format>(negative: bool, magnitude: u64, fpscr: u64) -> Computed {
    match Number::from_integer(negative, magnitude) {
        Some(number) => round::<F>(number, fpscr),
        None => Computed::zero(false),
    }
}
