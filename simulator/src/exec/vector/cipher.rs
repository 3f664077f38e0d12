//! The rounds of AES (FIPS 197): Power ISA 3.0B Book I 6.15.1. Byte 0 of a vector is the first of the state.

use arch::instruction::{Mnemonic, Word};

use super::lane::{build, get, map};
use super::{a, b, put};
use crate::exec::Handler;

/// The handler of a round.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vcipher => {
            |t, _, i| put(t, i, mix(shift_rows(substitute(a(t, i)), 5), [2, 3, 1, 1]) ^ b(t, i))
        }
        Mnemonic::Vcipherlast => |t, _, i| put(t, i, shift_rows(substitute(a(t, i)), 5) ^ b(t, i)),
        Mnemonic::Vncipher => |t, _, i| {
            put(t, i, mix(unsubstitute(shift_rows(a(t, i), 13)) ^ b(t, i), [14, 11, 13, 9]))
        },
        Mnemonic::Vncipherlast => {
            |t, _, i| put(t, i, unsubstitute(shift_rows(a(t, i), 13)) ^ b(t, i))
        }
        Mnemonic::Vsbox => |t, _, i| put(t, i, substitute(a(t, i))),
        _ => return None,
    })
}

/// `SubBytes`.
fn substitute(state: u128) -> u128 {
    map(state, |byte: u8| SUBSTITUTES[byte as usize])
}

/// Its inverse.
fn unsubstitute(state: u128) -> u128 {
    map(state, |byte: u8| INVERSE[byte as usize])
}

/// `ShiftRows` with `step` 5, and its inverse with 13: byte n becomes what byte `step` n was.
fn shift_rows(state: u128, step: u32) -> u128 {
    build(|index| get::<u8>(state, step * index))
}

/// `MixColumns`: the product of each column with the matrix whose first row is `row`, each other the one
/// above it rotated to the right.
fn mix(state: u128, row: [u8; 4]) -> u128 {
    build(|index| {
        let (column, place) = (index & !3, index & 3);
        (0..4).fold(0, |sum, term| {
            sum ^ product(row[((4 + term - place) % 4) as usize], get(state, column + term))
        })
    })
}

/// The product in AES's field of 256 elements.
const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while a != 0 {
        if a & 1 != 0 {
            sum ^= b;
        }
        b = b << 1 ^ if b & 0x80 != 0 { 0x1B } else { 0 };
        a >>= 1;
    }
    sum
}

/// AES's S-box: the inverse in the field, and an affine transformation.
static SUBSTITUTES: [u8; 256] = substitutes();
static INVERSE: [u8; 256] = inverse(substitutes());

const fn substitutes() -> [u8; 256] {
    let mut table = [0x63; 256];
    // 3 generates the field without zero, and 0xF6 is its inverse.
    let (mut element, mut reciprocal) = (1, 1);
    let mut count = 0;
    while count < 255 {
        let sum = reciprocal
            ^ u8::rotate_left(reciprocal, 1)
            ^ u8::rotate_left(reciprocal, 2)
            ^ u8::rotate_left(reciprocal, 3)
            ^ u8::rotate_left(reciprocal, 4);
        table[element as usize] = sum ^ 0x63;
        element = product(3, element);
        reciprocal = product(0xF6, reciprocal);
        count += 1;
    }
    table
}

const fn inverse(table: [u8; 256]) -> [u8; 256] {
    let mut inverse = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        inverse[table[byte] as usize] = byte as u8;
        byte += 1;
    }
    inverse
}
