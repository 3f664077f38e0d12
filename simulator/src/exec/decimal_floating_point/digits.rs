//! The digits of a significand: between declets and four bits a digit (BCD), and shifts. Power ISA 3.0B
//! Book I 5.6.6.
//!
//! `ddedpd` and the shifts take a special datum's significand to be its trailing digits; none of these
//! but `denbcd` touches FPSCR.

use arch::instruction::{Mnemonic, Word};

use super::format::{EXTENDED, Format, LONG};
use super::number::{Decimal, power};
use super::operand::{Computed, bits, datum, deliver, put};
use crate::exec::floating_point::fpscr::VXCVI;
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an instruction on digits.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Ddedpd => |t, _, i| ddedpd(t, i, LONG),
        Mnemonic::Ddedpdq => |t, _, i| ddedpd(t, i, EXTENDED),
        Mnemonic::Denbcd => |t, _, i| denbcd(t, i, LONG),
        Mnemonic::Denbcdq => |t, _, i| denbcd(t, i, EXTENDED),
        Mnemonic::Dscli => |t, _, i| dscli(t, i, LONG),
        Mnemonic::Dscliq => |t, _, i| dscli(t, i, EXTENDED),
        Mnemonic::Dscri => |t, _, i| dscri(t, i, LONG),
        Mnemonic::Dscriq => |t, _, i| dscri(t, i, EXTENDED),
        _ => return None,
    })
}

/// Digits of four bits that the registers of a format hold.
fn register_digits(format: &Format) -> u32 {
    if format.is_pair { 32 } else { 16 }
}

/// The signs that BCD knows: these, beside others that `denbcd` takes for the same.
const PLUS: u128 = 0xC;
const MINUS: u128 = 0xD;
const UNSIGNED_PLUS: u128 = 0xF;

fn ddedpd(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let Decimal { negative, coefficient, .. } = datum(thread, i.frb(), format);
    let digits = (0..register_digits(format)).fold(0, |bcd, place| {
        let digit = coefficient / power(place) % 10;
        bcd | digit << (4 * place)
    });
    // A sign moves the digits up, the highest out of the register.
    let value = match i.sp() {
        0 | 1 => digits,
        _ if negative => digits << 4 | MINUS,
        2 => digits << 4 | PLUS,
        _ => digits << 4 | UNSIGNED_PLUS,
    };
    put(thread, i, format, value)
}

/// The result's exponent is 0.
fn denbcd(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let bcd = bits(thread, i.frb(), format);
    let computed = match encode(bcd, register_digits(format), i.s_denbcd() != 0) {
        Some(number) => Computed::exact(number),
        None => Computed::invalid(VXCVI),
    };
    deliver(thread, i, format, computed)
}

/// The number that `bcd` is; `None` with an invalid digit or sign.
pub(super) fn encode(bcd: u128, places: u32, is_signed: bool) -> Option<Decimal> {
    let digit = |place: u32| bcd >> (4 * place) & 0xF;
    let negative = match (is_signed, digit(0)) {
        (false, _) => false,
        (true, 0xB | MINUS) => true,
        (true, 0xA..) => false,
        (true, _) => return None,
    };
    let coefficient = (u32::from(is_signed)..places).rev().try_fold(0, |coefficient, place| {
        (digit(place) <= 9).then(|| coefficient * 10 + digit(place))
    })?;
    Some(Decimal::finite(negative, 0, coefficient))
}

/// Digits that leave the significand on the left are lost.
fn dscli(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let a = datum(thread, i.fra(), format);
    let kept = significand_digits(format, a).checked_sub(i.sh_decimal());
    let coefficient = kept.map_or(0, |kept| a.coefficient % power(kept) * power(i.sh_decimal()));
    put(thread, i, format, format.pack(Decimal { coefficient, ..a }))
}

fn dscri(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let a = datum(thread, i.fra(), format);
    let coefficient = 10_u128.checked_pow(i.sh_decimal()).map_or(0, |unit| a.coefficient / unit);
    put(thread, i, format, format.pack(Decimal { coefficient, ..a }))
}

/// Digits of the significand: a special datum has no leading one.
fn significand_digits(format: &Format, datum: Decimal) -> u32 {
    format.digits() - u32::from(!datum.is_finite())
}
