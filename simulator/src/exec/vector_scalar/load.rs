//! Loads: Power ISA 3.0B Book I 7.6.
//!
//! A quadword is read in one piece and its elements are put in order afterwards: `lxvd2x`, `lxvw4x`, `lxvh8x`
//! and `lxvb16x` keep the order of elements in both byte orders, `lxv` and `lxvx` reverse all bytes in
//! little-endian mode. No operand need be aligned.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use crate::exec::floating_point::load::{double_from_single, indexed};
use crate::exec::vector::lane::{Lane, build, get};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lxvx => |t, s, i| load(t, s, i.xt(), indexed(t, i), quadword),
        Mnemonic::Lxv => |t, s, i| load(t, s, i.xt_dq(), by_quadword(t, i), quadword),
        Mnemonic::Lxvd2x => |t, s, i| load(t, s, i.xt(), indexed(t, i), elements::<u64>),
        Mnemonic::Lxvw4x => |t, s, i| load(t, s, i.xt(), indexed(t, i), elements::<u32>),
        Mnemonic::Lxvh8x => |t, s, i| load(t, s, i.xt(), indexed(t, i), elements::<u16>),
        Mnemonic::Lxvb16x => |t, s, i| load(t, s, i.xt(), indexed(t, i), elements::<u8>),
        Mnemonic::Lxvdsx => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| {
                let value = t.load_u64(s, a)?;
                Ok(doublewords(value, value))
            })
        },
        Mnemonic::Lxvwsx => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| {
                let word = u64::from(t.load_u32(s, a)?);
                Ok(doublewords(word << 32 | word, word << 32 | word))
            })
        },
        Mnemonic::Lxsdx => |t, s, i| load(t, s, i.xt(), indexed(t, i), doubleword),
        Mnemonic::Lxsd => |t, s, i| load(t, s, i.vrt() + 32, by_word(t, i), doubleword),
        Mnemonic::Lxsspx => |t, s, i| load(t, s, i.xt(), indexed(t, i), single),
        Mnemonic::Lxssp => |t, s, i| load(t, s, i.vrt() + 32, by_word(t, i), single),
        Mnemonic::Lxsiwax => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| {
                Ok(doublewords(i64::from(t.load_u32(s, a)? as i32) as u64, 0))
            })
        },
        Mnemonic::Lxsiwzx => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| {
                Ok(doublewords(t.load_u32(s, a)?.into(), 0))
            })
        },
        Mnemonic::Lxsihzx => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| {
                Ok(doublewords(t.load_u16(s, a)?.into(), 0))
            })
        },
        Mnemonic::Lxsibzx => |t, s, i| {
            load(t, s, i.xt(), indexed(t, i), |t, s, a| Ok(doublewords(t.load_u8(s, a)?.into(), 0)))
        },
        _ => return None,
    })
}

/// (RA|0) + DQ.
pub(super) fn by_quadword(thread: &Thread, i: Word) -> u64 {
    thread.gpr_or_zero(i.ra()).wrapping_add_signed(i.dq())
}

/// (RA|0) + DS.
pub(super) fn by_word(thread: &Thread, i: Word) -> u64 {
    thread.gpr_or_zero(i.ra()).wrapping_add_signed(i.ds())
}

#[inline]
fn load(
    thread: &mut Thread,
    shared: &mut Shared,
    target: usize,
    address: u64,
    read: impl Fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<u128, Trap>,
) -> Outcome {
    let value = read(thread, shared, thread.effective(address))?;
    thread.set_vsr(target, value);
    Ok(Flow::Next)
}

fn quadword(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u128, Trap> {
    t.load_u128(s, address)
}

/// Elements, each in the thread's byte order.
fn elements<L: Lane>(
    t: &mut Thread,
    s: &mut Shared,
    address: EffectiveAddress,
) -> Result<u128, Trap> {
    let value = t.load_u128(s, address)?;
    Ok(in_element_order::<L>(value, t.is_little_endian()))
}

/// From a quadword as the thread's byte order has it to one whose elements lie in the order of their
/// addresses, or back: in little-endian mode the first element is the last.
pub(super) fn in_element_order<L: Lane>(quadword: u128, is_little: bool) -> u128 {
    if is_little { build(|n| get::<L>(quadword, L::COUNT - 1 - n)) } else { quadword }
}

fn doublewords(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn doubleword(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u128, Trap> {
    Ok(doublewords(t.load_u64(s, address)?, 0))
}

fn single(t: &mut Thread, s: &mut Shared, address: EffectiveAddress) -> Result<u128, Trap> {
    Ok(doublewords(double_from_single(t.load_u32(s, address)?), 0))
}
