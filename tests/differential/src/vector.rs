//! What vector cases need beside random registers: decimal integers and counts for their shifts, operands of
//! floating point that are near each other.

use arch::instruction::{Mnemonic as M, Row, Word};
use fastrand::Rng;

use crate::state::State;

/// Makes the operands ones that the instruction mostly has a result for.
pub(crate) fn steer(row: &Row, word: Word, start: &mut State, rng: &mut Rng) {
    let (a, b) = (word.vra(), word.vrb());
    if row.name.starts_with("bcd") {
        for register in [a, b] {
            start.set_vr(register, packed(rng));
        }
    }
    match row.mnemonic {
        M::Bcds | M::Bcdsr | M::Bcdus => {
            start.vsr[32 + a][0] = rng.u64(..) & !0xFF | u64::from(rng.i8(-36..36) as u8);
        }
        M::Bcdtrunc | M::Bcdutrunc => {
            start.vsr[32 + a][0] = rng.u64(..) & !0xFFFF | rng.u64(..36);
        }
        M::Bcdcfn => {
            let sign = [0x2B, 0x2D, 0x2B, 0x2D, 0x20][rng.usize(..5)];
            let value = (0..7).fold(0, |all, _| all << 16 | u128::from(0x30 + digit(rng)));
            start.set_vr(b, value << 16 | sign);
        }
        M::Bcdcfz => {
            let zone = if word.ps() { 0xF0 } else { 0x30 };
            let value = (0..16).fold(0, |all, _| all << 8 | u128::from(zone + digit(rng)));
            start.set_vr(b, value & !0xF0 | u128::from(rng.u8(..16)) << 4);
        }
        M::Bcdcfsq => {
            let value = (rng.u128(..) >> rng.u32(20..127)) as i128;
            start.set_vr(b, if rng.bool() { value } else { -value } as u128);
        }
        _ => {}
    }
    match row.mnemonic {
        // What may be a digit in the last four bits of every byte.
        M::Bcdus | M::Bcdutrunc if rng.u32(..4) != 0 => {
            let value = start.vr(b);
            start.set_vr(b, value & !0xF | u128::from(digit(rng)));
        }
        M::Vmaddfp | M::Vnmsubfp | M::Vaddfp | M::Vsubfp if rng.bool() => near(word, start, rng),
        _ => {}
    }
}

fn digit(rng: &mut Rng) -> u8 {
    match rng.u32(..4) {
        0 => 0,
        1 => 9,
        // Now and then none.
        2 if rng.u32(..64) == 0 => rng.u8(10..16),
        _ => rng.u8(..10),
    }
}

/// A packed number, mostly valid, often short.
fn packed(rng: &mut Rng) -> u128 {
    let length = rng.u32(..32);
    let digits = (0..length).fold(0, |all, _| all << 4 | u128::from(digit(rng)));
    let sign = if rng.u32(..16) == 0 { rng.u8(..16) } else { rng.u8(10..16) };
    digits << 4 | u128::from(sign)
}

/// Makes sums cancel and results tiny.
fn near(word: Word, start: &mut State, rng: &mut Rng) {
    let singles = |vector: u128| [96, 64, 32, 0].map(|at| f32::from_bits((vector >> at) as u32));
    let (a, b, c) = (start.vr(word.vra()), start.vr(word.vrb()), start.vr(word.vrc()));
    let is_tiny = rng.bool();
    let (mut new_a, mut new_b, mut new_c) = (0, 0, 0);
    for ((a, b), c) in singles(a).into_iter().zip(singles(b)).zip(singles(c)) {
        let put = |all: &mut u128, value: f32, rng: &mut Rng| {
            let bits = value.to_bits().wrapping_add_signed(rng.i32(-2..=2));
            *all = *all << 32 | u128::from(bits);
        };
        let exponent =
            |value: f32, field: u32| f32::from_bits(value.to_bits() & !(0xFF << 23) | field << 23);
        let factor = if row_has_product(word) { c } else { 1.0 };
        let (a, b, factor) = if is_tiny {
            let field = rng.u32(1..120);
            (exponent(a, field), exponent(b, rng.u32(..3)), exponent(factor, 127 - field.min(126)))
        } else {
            (a, -a * factor, factor)
        };
        put(&mut new_a, a, rng);
        put(&mut new_b, b, rng);
        put(&mut new_c, factor, rng);
    }
    start.set_vr(word.vra(), new_a);
    start.set_vr(word.vrb(), new_b);
    if row_has_product(word) {
        start.set_vr(word.vrc(), new_c);
    }
}

/// Whether it is `vmaddfp` or `vnmsubfp`.
fn row_has_product(word: Word) -> bool {
    word.0 & 0x3E == 0x2E
}
