//! Shifts. Counts of one more bit than the width needs shift everything out.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode, Outcome};
use super::{finish, set_carry, sign_extend_word, variant};
use crate::state::thread::Thread;

/// The handler of a shift.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Slw => variant!(rc i, word, u32::checked_shl),
        Mnemonic::Srw => variant!(rc i, word, u32::checked_shr),
        Mnemonic::Sld => variant!(rc i, doubleword, u64::checked_shl),
        Mnemonic::Srd => variant!(rc i, doubleword, u64::checked_shr),
        Mnemonic::Srawi => {
            variant!(rc i, algebraic, |t, i| sign_extend_word(t.gpr[i.rs()]), |_, i| i.sh())
        }
        Mnemonic::Sraw => variant!(
            rc i, algebraic, |t, i| sign_extend_word(t.gpr[i.rs()]), |t, i| count(t, i) & 63
        ),
        Mnemonic::Sradi => variant!(rc i, algebraic, |t, i| t.gpr[i.rs()], |_, i| i.sh6()),
        Mnemonic::Srad => variant!(rc i, algebraic, |t, i| t.gpr[i.rs()], count),
        Mnemonic::Extswsli => variant!(rc i, extswsli),
        _ => return None,
    })
}

/// The seven bits of RB that a doubleword shift looks at.
#[inline(always)]
fn count(thread: &Thread, i: Word) -> u32 {
    thread.gpr[i.rb()] as u32 & 127
}

#[inline(always)]
fn word<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    shift: impl Fn(u32, u32) -> Option<u32>,
) -> Outcome {
    let result = shift(thread.gpr[i.rs()] as u32, count(thread, i) & 63).unwrap_or(0);
    finish::<RC>(thread, i.ra(), u64::from(result))
}

#[inline(always)]
fn doubleword<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    shift: impl Fn(u64, u32) -> Option<u64>,
) -> Outcome {
    let result = shift(thread.gpr[i.rs()], count(thread, i)).unwrap_or(0);
    finish::<RC>(thread, i.ra(), result)
}

/// A shift that keeps the sign. CA and CA32 tell that a negative value lost a one.
#[inline(always)]
fn algebraic<const RC: bool>(
    thread: &mut Thread,
    i: Word,
    value: impl Fn(&Thread, Word) -> u64,
    count: impl Fn(&Thread, Word) -> u32,
) -> Outcome {
    let (value, count) = (value(thread, i) as i64, count(thread, i));
    let result = value >> count.min(63);
    let lost = if count > 63 { value } else { value & !(-1 << count) };
    let carry = value < 0 && lost != 0;
    set_carry(thread, carry, carry);
    finish::<RC>(thread, i.ra(), result as u64)
}

#[inline(always)]
fn extswsli<const RC: bool>(thread: &mut Thread, i: Word) -> Outcome {
    finish::<RC>(thread, i.ra(), sign_extend_word(thread.gpr[i.rs()]) << i.sh6())
}
