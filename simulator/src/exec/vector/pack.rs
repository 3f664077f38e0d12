//! Elements made half or twice as wide, merged and copied: Power ISA 3.0B Book I chapter 6.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get};
use super::saturate::{Saturate, saturated};
use super::{a, b, put};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an instruction that changes the width.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vpkuhum => |t, _, i| pack::<u16, u8>(t, i),
        Mnemonic::Vpkuwum => |t, _, i| pack::<u32, u16>(t, i),
        Mnemonic::Vpkudum => |t, _, i| pack::<u64, u32>(t, i),
        Mnemonic::Vpkuhus => |t, _, i| pack_saturated::<u16, u8>(t, i),
        Mnemonic::Vpkuwus => |t, _, i| pack_saturated::<u32, u16>(t, i),
        Mnemonic::Vpkudus => |t, _, i| pack_saturated::<u64, u32>(t, i),
        Mnemonic::Vpkshus => |t, _, i| pack_saturated::<i16, u8>(t, i),
        Mnemonic::Vpkswus => |t, _, i| pack_saturated::<i32, u16>(t, i),
        Mnemonic::Vpksdus => |t, _, i| pack_saturated::<i64, u32>(t, i),
        Mnemonic::Vpkshss => |t, _, i| pack_saturated::<i16, i8>(t, i),
        Mnemonic::Vpkswss => |t, _, i| pack_saturated::<i32, i16>(t, i),
        Mnemonic::Vpksdss => |t, _, i| pack_saturated::<i64, i32>(t, i),
        Mnemonic::Vpkpx => |t, _, i| put(t, i, build(|index| pixel(both(a(t, i), b(t, i), index)))),
        Mnemonic::Vupkhsb => |t, _, i| put(t, i, unpack::<i8, i16>(b(t, i), 0)),
        Mnemonic::Vupkhsh => |t, _, i| put(t, i, unpack::<i16, i32>(b(t, i), 0)),
        Mnemonic::Vupkhsw => |t, _, i| put(t, i, unpack::<i32, i64>(b(t, i), 0)),
        Mnemonic::Vupklsb => |t, _, i| put(t, i, unpack::<i8, i16>(b(t, i), 8)),
        Mnemonic::Vupklsh => |t, _, i| put(t, i, unpack::<i16, i32>(b(t, i), 4)),
        Mnemonic::Vupklsw => |t, _, i| put(t, i, unpack::<i32, i64>(b(t, i), 2)),
        Mnemonic::Vupkhpx => |t, _, i| put(t, i, build(|index| word(get(b(t, i), index)))),
        Mnemonic::Vupklpx => |t, _, i| put(t, i, build(|index| word(get(b(t, i), index + 4)))),
        _ => return None,
    })
}

/// Element `index` of `a` and `b`, one after the other.
fn both<L: Lane>(a: u128, b: u128, index: u32) -> L {
    get(if index < L::COUNT { a } else { b }, index)
}

fn pack<W: Lane, N: Lane>(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    put(thread, i, build(|index| N::from_low(both::<W>(a, b, index).bits())))
}

fn pack_saturated<W: Lane + TryInto<i64>, N: Saturate>(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    // What does not fit is an unsigned doubleword, which is too large for everything.
    saturated::<N>(thread, i, |index| both::<W>(a, b, index).try_into().unwrap_or(i64::MAX))
}

/// The half of the elements from `first` on.
fn unpack<N: Lane, W: Lane + From<N>>(vector: u128, first: u32) -> u128 {
    build(|index| W::from(get::<N>(vector, first + index)))
}

/// A word of 8 bits a colour as a halfword of 5, with one bit before them.
fn pixel(word: u32) -> u16 {
    (word >> 9 & 0xFC00 | word >> 6 & 0x03E0 | word >> 3 & 0x001F) as u16
}

/// A pixel of a halfword in a word: its first bit fills the first byte.
fn word(pixel: u16) -> u32 {
    let colour = |shift: u32| u32::from(pixel >> shift & 0x1F);
    let first = if pixel & 0x8000 != 0 { 0xFF << 24 } else { 0 };
    first | colour(10) << 16 | colour(5) << 8 | colour(0)
}
