//! Shifts of the whole vector and of elements, and rotations: Power ISA 3.0B Book I chapter 6.

use arch::instruction::{Mnemonic, Word};

use super::lane::{build, get, zip};
use super::{a, b, put};
use crate::exec::fixed_point::rotate::mask;
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a shift or rotation.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        // Where the bytes of VRB do not agree on the count, it is undefined; here the last has it.
        Mnemonic::Vsl => |t, _, i| put(t, i, a(t, i) << (b(t, i) & 7)),
        Mnemonic::Vsr => |t, _, i| put(t, i, a(t, i) >> (b(t, i) & 7)),
        // Bits 121 to 124 count bytes.
        Mnemonic::Vslo => |t, _, i| put(t, i, a(t, i) << (b(t, i) & 0x78)),
        Mnemonic::Vsro => |t, _, i| put(t, i, a(t, i) >> (b(t, i) & 0x78)),
        Mnemonic::Vslv => |t, _, i| put(t, i, left_by_byte(a(t, i), b(t, i))),
        Mnemonic::Vsrv => |t, _, i| put(t, i, right_by_byte(a(t, i), b(t, i))),
        Mnemonic::Vslb => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| a.wrapping_shl(b.into())))
        }
        Mnemonic::Vslh => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| a.wrapping_shl(b.into())))
        }
        Mnemonic::Vslw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::wrapping_shl)),
        Mnemonic::Vsld => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u64, b| a.wrapping_shl(b as u32)))
        }
        Mnemonic::Vsrb => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| a.wrapping_shr(b.into())))
        }
        Mnemonic::Vsrh => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| a.wrapping_shr(b.into())))
        }
        Mnemonic::Vsrw => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::wrapping_shr)),
        Mnemonic::Vsrd => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u64, b| a.wrapping_shr(b as u32)))
        }
        Mnemonic::Vsrab => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i8, b| a.wrapping_shr(b as u32)))
        }
        Mnemonic::Vsrah => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i16, b| a.wrapping_shr(b as u32)))
        }
        Mnemonic::Vsraw => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i32, b| a.wrapping_shr(b as u32)))
        }
        Mnemonic::Vsrad => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: i64, b| a.wrapping_shr(b as u32)))
        }
        Mnemonic::Vrlb => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u8, b| a.rotate_left((b & 7).into())))
        }
        Mnemonic::Vrlh => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u16, b| a.rotate_left((b & 15).into())))
        }
        Mnemonic::Vrlw => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u32, b| a.rotate_left(b & 31)))
        }
        Mnemonic::Vrld => {
            |t, _, i| put(t, i, zip(a(t, i), b(t, i), |a: u64, b| a.rotate_left(b as u32 & 63)))
        }
        Mnemonic::Vrlwnm => |t, _, i| words(t, i, 0),
        Mnemonic::Vrlwmi => |t, _, i| words(t, i, t.vr(i.vrt())),
        Mnemonic::Vrldnm => |t, _, i| doublewords(t, i, 0),
        Mnemonic::Vrldmi => |t, _, i| doublewords(t, i, t.vr(i.vrt())),
        _ => return None,
    })
}

/// Each byte shifted left by its own count, with bits of the next byte from the right.
fn left_by_byte(vector: u128, counts: u128) -> u128 {
    build(|index| {
        let next = if index < 15 { get::<u8>(vector, index + 1) } else { 0 };
        let pair = u16::from_be_bytes([get(vector, index), next]);
        (pair << (get::<u8>(counts, index) & 7) >> 8) as u8
    })
}

/// Each byte shifted right by its own count, with bits of the previous byte from the left.
fn right_by_byte(vector: u128, counts: u128) -> u128 {
    build(|index| {
        let previous = if index > 0 { get::<u8>(vector, index - 1) } else { 0 };
        let pair = u16::from_be_bytes([previous, get(vector, index)]);
        (pair >> (get::<u8>(counts, index) & 7)) as u8
    })
}

/// Words of VRA rotated and masked as those of VRB say; what the mask leaves out is as in `kept`.
fn words(thread: &mut Thread, i: Word, kept: u128) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    let result = build(|index| {
        let (value, control) = (get::<u32>(a, index), get::<u32>(b, index));
        let mask = mask(32 + (control >> 16 & 31), 32 + (control >> 8 & 31)) as u32;
        value.rotate_left(control & 31) & mask | get::<u32>(kept, index) & !mask
    });
    put(thread, i, result)
}

/// The same with doublewords.
fn doublewords(thread: &mut Thread, i: Word, kept: u128) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    let result = build(|index| {
        let (value, control) = (get::<u64>(a, index), get::<u64>(b, index) as u32);
        let mask = mask(control >> 16 & 63, control >> 8 & 63);
        value.rotate_left(control & 63) & mask | get::<u64>(kept, index) & !mask
    });
    put(thread, i, result)
}
