//! Products: Power ISA 3.0B Book I chapter 6.

use arch::instruction::{Mnemonic, Word};

use super::lane::{Lane, build, get, zip};
use super::saturate::saturated;
use super::{a, b, c, put};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a product.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Vmuloub => |t, _, i| put(t, i, products::<u8, u16>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmulouh => |t, _, i| put(t, i, products::<u16, u32>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmulouw => |t, _, i| put(t, i, products::<u32, u64>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmulosb => |t, _, i| put(t, i, products::<i8, i16>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmulosh => |t, _, i| put(t, i, products::<i16, i32>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmulosw => |t, _, i| put(t, i, products::<i32, i64>(a(t, i), b(t, i), 1)),
        Mnemonic::Vmuleub => |t, _, i| put(t, i, products::<u8, u16>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmuleuh => |t, _, i| put(t, i, products::<u16, u32>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmuleuw => |t, _, i| put(t, i, products::<u32, u64>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmulesb => |t, _, i| put(t, i, products::<i8, i16>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmulesh => |t, _, i| put(t, i, products::<i16, i32>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmulesw => |t, _, i| put(t, i, products::<i32, i64>(a(t, i), b(t, i), 0)),
        Mnemonic::Vmuluwm => |t, _, i| put(t, i, zip(a(t, i), b(t, i), u32::wrapping_mul)),
        Mnemonic::Vmhaddshs => |t, _, i| high_and_add(t, i, 0),
        Mnemonic::Vmhraddshs => |t, _, i| high_and_add(t, i, 0x4000),
        Mnemonic::Vmladduhm => |t, _, i| {
            let products = zip(a(t, i), b(t, i), u16::wrapping_mul);
            put(t, i, zip(products, c(t, i), u16::wrapping_add))
        },
        Mnemonic::Vmul10uq => |t, _, i| put(t, i, ten_times(a(t, i), 0).0),
        Mnemonic::Vmul10cuq => |t, _, i| put(t, i, ten_times(a(t, i), 0).1),
        Mnemonic::Vmul10euq => |t, _, i| put(t, i, ten_times(a(t, i), b(t, i)).0),
        Mnemonic::Vmul10ecuq => |t, _, i| put(t, i, ten_times(a(t, i), b(t, i)).1),
        _ => return None,
    })
}

/// The products of the even elements, or of the `odd` ones, twice as wide.
fn products<N: Lane, W: Lane + From<N> + std::ops::Mul<Output = W>>(
    a: u128,
    b: u128,
    odd: u32,
) -> u128 {
    build(|index| {
        let element = |vector| W::from(get::<N>(vector, 2 * index + odd));
        element(a) * element(b)
    })
}

/// The high 17 bits of the products of signed halfwords, and VRC, saturated.
fn high_and_add(thread: &mut Thread, i: Word, rounding: i64) -> Outcome {
    let (a, b, c) = (a(thread, i), b(thread, i), c(thread, i));
    saturated::<i16>(thread, i, |index| {
        let element = |vector| i64::from(get::<i16>(vector, index));
        ((element(a) * element(b) + rounding) >> 15) + element(c)
    })
}

/// Ten times `value` and the last digit of `digit`: the low 128 bits, and what is above.
fn ten_times(value: u128, digit: u128) -> (u128, u128) {
    let low = (value & u128::from(u64::MAX)) * 10 + (digit & 0xF);
    let high = (value >> 64) * 10 + (low >> 64);
    (high << 64 | low & u128::from(u64::MAX), high >> 64)
}
