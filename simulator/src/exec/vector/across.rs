//! Sums of several elements or of their products: Power ISA 3.0B Book I chapter 6.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get};
use super::saturate::saturated;
use super::{a, b, c, put};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a sum across elements.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vmsumubm => |t, _, i| put(t, i, modulo(|index| products::<u8, u8>(t, i, index))),
        Mnemonic::Vmsummbm => |t, _, i| put(t, i, modulo(|index| products::<i8, u8>(t, i, index))),
        Mnemonic::Vmsumuhm => {
            |t, _, i| put(t, i, modulo(|index| products::<u16, u16>(t, i, index)))
        }
        Mnemonic::Vmsumshm => {
            |t, _, i| put(t, i, modulo(|index| products::<i16, i16>(t, i, index)))
        }
        Mnemonic::Vmsumuhs => |t, _, i| {
            let sums = four(|index| products::<u16, u16>(t, i, index));
            saturated::<u32>(t, i, |index| sums[index as usize])
        },
        Mnemonic::Vmsumshs => |t, _, i| {
            let sums = four(|index| signed_products(t, i, index));
            saturated::<i32>(t, i, |index| sums[index as usize])
        },
        Mnemonic::Vmsumudm => |t, _, i| {
            let (a, b) = (a(t, i), b(t, i));
            let product =
                |index| u128::from(get::<u64>(a, index)) * u128::from(get::<u64>(b, index));
            put(t, i, c(t, i).wrapping_add(product(0)).wrapping_add(product(1)))
        },
        Mnemonic::Vsum4ubs => |t, _, i| {
            let sums = four(|index| {
                elements::<u8>(a(t, i), index) + i64::from(get::<u32>(b(t, i), index))
            });
            saturated::<u32>(t, i, |index| sums[index as usize])
        },
        Mnemonic::Vsum4sbs => |t, _, i| sum_words::<i8>(t, i),
        Mnemonic::Vsum4shs => |t, _, i| sum_words::<i16>(t, i),
        Mnemonic::Vsum2sws => |t, _, i| sum_into(t, i, 2),
        Mnemonic::Vsumsws => |t, _, i| sum_into(t, i, 4),
        _ => return None,
    })
}

fn four(f: impl Fn(u32) -> i64) -> [i64; 4] {
    [0, 1, 2, 3].map(f)
}

/// The words that `f` gives, without what does not fit.
fn modulo(f: impl Fn(u32) -> i64) -> u128 {
    build(|index| f(index) as u32)
}

/// The sum of word `index` of VRC and the products of the elements of VRA and VRB in it.
fn products<L: Lane + Into<i64>, R: Lane + Into<i64>>(thread: &Thread, i: Word, index: u32) -> i64 {
    let each = 32 / L::BITS;
    let product = |place: u32| {
        let (a, b): (L, R) = (get(a(thread, i), place), get(b(thread, i), place));
        a.into() * b.into()
    };
    let sum: i64 = (index * each..(index + 1) * each).map(product).sum();
    sum + i64::from(get::<u32>(c(thread, i), index))
}

/// The same with signed halfwords and words.
fn signed_products(thread: &Thread, i: Word, index: u32) -> i64 {
    let unsigned = i64::from(get::<u32>(c(thread, i), index));
    products::<i16, i16>(thread, i, index) - unsigned + i64::from(get::<i32>(c(thread, i), index))
}

/// The sum of the elements in word `index`.
fn elements<L: Lane + Into<i64>>(vector: u128, index: u32) -> i64 {
    let each = 32 / L::BITS;
    (index * each..(index + 1) * each).map(|place| get::<L>(vector, place).into()).sum()
}

/// In each word the sum of the elements of VRA in it and of the word of VRB.
fn sum_words<L: Lane + Into<i64>>(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    saturated::<i32>(thread, i, |index| elements::<L>(a, index) + i64::from(get::<i32>(b, index)))
}

/// In the last of each `words` words their sum, with the last of VRB; zeros in the others.
fn sum_into(thread: &mut Thread, i: Word, words: u32) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    let sum = |last: u32| {
        (last + 1 - words..=last).map(|place| i64::from(get::<i32>(a, place))).sum::<i64>()
    };
    saturated::<i32>(thread, i, |index| {
        if (index + 1) % words == 0 { sum(index) + i64::from(get::<i32>(b, index)) } else { 0 }
    })
}
