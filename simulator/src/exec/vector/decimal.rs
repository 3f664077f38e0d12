//! Decimal integers: Power ISA 3.0B Book I chapter 6. A packed number has 31 digits and a sign in the last four bits.
//! CR6 says what the result is, with the last bit that it did not fit, or alone that an operand is no number. The
//! result is undefined then; here VRT stays as it was.

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::compare::CR6;
use super::lane::get;
use super::packed::{Packed, Zoned, digits, from_digits, national};
use super::{a, b};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a decimal instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Bcdadd => |t, _, i| deliver(t, i, add(a(t, i), b(t, i), false, i.ps())),
        Mnemonic::Bcdsub => |t, _, i| deliver(t, i, add(a(t, i), b(t, i), true, i.ps())),
        Mnemonic::Bcdcpsgn => |t, _, i| deliver(t, i, copy_sign(a(t, i), b(t, i))),
        Mnemonic::Bcdsetsgn => |t, _, i| deliver(t, i, set_sign(b(t, i), i.ps())),
        Mnemonic::Bcds => |t, _, i| deliver(t, i, shift(count(t, i), b(t, i), i.ps(), false)),
        Mnemonic::Bcdsr => |t, _, i| deliver(t, i, shift(count(t, i), b(t, i), i.ps(), true)),
        Mnemonic::Bcdus => |t, _, i| deliver(t, i, shift_unsigned(count(t, i), b(t, i))),
        Mnemonic::Bcdtrunc => |t, _, i| deliver(t, i, truncate(length(t, i), b(t, i), i.ps())),
        Mnemonic::Bcdutrunc => |t, _, i| deliver(t, i, truncate_unsigned(length(t, i), b(t, i))),
        Mnemonic::Bcdcfn => |t, _, i| deliver(t, i, from_national(b(t, i), i.ps())),
        Mnemonic::Bcdctn => |t, _, i| deliver(t, i, to_national(b(t, i))),
        Mnemonic::Bcdcfz => |t, _, i| deliver(t, i, from_zoned(b(t, i), i.ps())),
        Mnemonic::Bcdctz => |t, _, i| deliver(t, i, to_zoned(b(t, i), i.ps())),
        Mnemonic::Bcdcfsq => |t, _, i| deliver(t, i, from_binary(b(t, i) as i128, i.ps())),
        Mnemonic::Bcdctsq => |t, _, i| deliver(t, i, to_binary(b(t, i))),
        _ => return None,
    })
}

/// A result with what CR6 says of it.
struct Decimal {
    value: u128,
    condition: u32,
}

impl Decimal {
    /// `value`, which means a number of this sign and magnitude.
    fn new(value: u128, negative: bool, is_zero: bool, overflows: bool) -> Self {
        let order = match (is_zero, negative) {
            (true, _) => cr::EQ,
            (false, true) => cr::LT,
            (false, false) => cr::GT,
        };
        Self { value, condition: order | if overflows { cr::SO } else { 0 } }
    }
}

/// Sets VRT and CR6; without a result an operand was invalid.
fn deliver(thread: &mut Thread, i: Word, result: Option<Decimal>) -> Outcome {
    match result {
        Some(Decimal { value, condition }) => {
            thread.set_cr_field(CR6, condition);
            thread.set_vr(i.vrt(), value);
        }
        None => thread.set_cr_field(CR6, cr::SO),
    }
    Ok(Flow::Next)
}

/// Ten to the power of 31, and of 32: one more than what a signed and an unsigned number hold.
const SIGNED_END: u128 = 10_u128.pow(31);
const UNSIGNED_END: u128 = 10_u128.pow(32);

/// The number with these properties, without the digits above the 31st.
fn signed(negative: bool, magnitude: u128, preferred: bool) -> Option<Decimal> {
    let kept = magnitude % SIGNED_END;
    let number = Packed { negative, magnitude: kept };
    Some(Decimal::new(number.pack(preferred), negative, magnitude == 0, kept != magnitude))
}

fn add(a: u128, b: u128, subtracts: bool, preferred: bool) -> Option<Decimal> {
    let (a, b) = (Packed::unpack(a)?.value(), Packed::unpack(b)?.value());
    let sum = if subtracts { a - b } else { a + b };
    signed(sum < 0, sum.unsigned_abs(), preferred)
}

/// The digits of `a` with the sign code of `b`.
fn copy_sign(a: u128, b: u128) -> Option<Decimal> {
    let (magnitude, sign) = (Packed::unpack(a)?.magnitude, Packed::unpack(b)?.negative);
    Some(Decimal::new(a & !0xF | b & 0xF, sign, magnitude == 0, false))
}

fn set_sign(b: u128, preferred: bool) -> Option<Decimal> {
    let number = Packed::unpack(b)?;
    Some(Decimal::new(number.pack(preferred), number.negative, number.magnitude == 0, false))
}

/// How far to shift to the left, in digits: byte 7 of VRA.
fn count(thread: &Thread, i: Word) -> i8 {
    get(a(thread, i), 7)
}

/// How many digits to keep: halfword 3 of VRA.
fn length(thread: &Thread, i: Word) -> u32 {
    get::<u16>(a(thread, i), 3).into()
}

/// Ten to the power of `exponent`, with 40 digits at most.
fn power(exponent: u32) -> Option<u128> {
    10_u128.checked_pow(exponent)
}

/// `digits` shifted right by a count of digits, rounded half up if it `rounds`.
fn shift_right(digits: u128, by: u32, rounds: bool) -> u128 {
    let shifted = |by| power(by).map_or(0, |divisor| digits / divisor);
    let has_half = rounds && by > 0 && shifted(by - 1) % 10 >= 5;
    shifted(by) + u128::from(has_half)
}

/// `digits` shifted left in a number that is below `end`, and whether digits were lost.
fn shift_left(digits: u128, by: u32, end: u128) -> (u128, bool) {
    // What stays is what is below this.
    let kept_end = power(by).map_or(1, |factor| (end / factor).max(1));
    let kept = digits % kept_end;
    (power(by).map_or(0, |factor| kept * factor % end), kept != digits)
}

fn shift(count: i8, b: u128, preferred: bool, rounds: bool) -> Option<Decimal> {
    let Packed { negative, magnitude } = Packed::unpack(b)?;
    let by = count.unsigned_abs().into();
    let (magnitude, is_lost) = match count {
        0.. => shift_left(magnitude, by, SIGNED_END),
        _ => (shift_right(magnitude, by, rounds), false),
    };
    let value = Packed { negative, magnitude }.pack(preferred);
    Some(Decimal::new(value, negative, magnitude == 0, is_lost))
}

fn shift_unsigned(count: i8, b: u128) -> Option<Decimal> {
    let value = digits(b)?;
    let by = count.unsigned_abs().into();
    let (value, is_lost) = match count {
        0.. => shift_left(value, by, UNSIGNED_END),
        _ => (shift_right(value, by, false), false),
    };
    Some(Decimal::new(from_digits(value), false, value == 0, is_lost))
}

fn truncate(length: u32, b: u128, preferred: bool) -> Option<Decimal> {
    let Packed { negative, magnitude } = Packed::unpack(b)?;
    let kept = power(length).map_or(magnitude, |end| magnitude % end);
    let value = Packed { negative, magnitude: kept }.pack(preferred);
    Some(Decimal::new(value, negative, kept == 0, kept != magnitude))
}

fn truncate_unsigned(length: u32, b: u128) -> Option<Decimal> {
    let value = digits(b)?;
    let kept = power(length).map_or(value, |end| value % end);
    Some(Decimal::new(from_digits(kept), false, kept == 0, kept != value))
}

fn from_national(b: u128, preferred: bool) -> Option<Decimal> {
    let Packed { negative, magnitude } = national::unpack(b)?;
    signed(negative, magnitude, preferred)
}

fn to_national(b: u128) -> Option<Decimal> {
    const END: u128 = 10_u128.pow(7);
    let Packed { negative, magnitude } = Packed::unpack(b)?;
    let kept = Packed { negative, magnitude: magnitude % END };
    Some(Decimal::new(national::pack(kept), negative, magnitude == 0, magnitude >= END))
}

fn from_zoned(b: u128, preferred: bool) -> Option<Decimal> {
    let Packed { negative, magnitude } = Zoned { has_f: preferred }.unpack(b)?;
    signed(negative, magnitude, false)
}

fn to_zoned(b: u128, preferred: bool) -> Option<Decimal> {
    const END: u128 = 10_u128.pow(16);
    let Packed { negative, magnitude } = Packed::unpack(b)?;
    let kept = Packed { negative, magnitude: magnitude % END };
    let value = Zoned { has_f: preferred }.pack(kept);
    Some(Decimal::new(value, negative, magnitude == 0, magnitude >= END))
}

fn from_binary(b: i128, preferred: bool) -> Option<Decimal> {
    signed(b < 0, b.unsigned_abs(), preferred)
}

fn to_binary(b: u128) -> Option<Decimal> {
    let number = Packed::unpack(b)?;
    Some(Decimal::new(number.value() as u128, number.negative, number.magnitude == 0, false))
}
