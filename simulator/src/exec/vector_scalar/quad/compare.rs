//! Comparisons and the test for data classes of quads: Power ISA 3.0B Book I 7.6.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};

use super::number::{
    SIGN, exponent_field, is_infinite, is_nan, is_negative, is_signalling, is_zero,
};
use crate::exec::floating_point::deliver::{interrupt_if_enabled, raise_unordered};
use crate::exec::vector_scalar::class::{DENORMAL, INFINITY, NAN, ZERO, set};
use crate::exec::vector_scalar::compare::{order_condition, set_condition, set_order};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a comparison or test.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xscmpoqp => |t, _, i| compare(t, i, true),
        Mnemonic::Xscmpuqp => |t, _, i| compare(t, i, false),
        Mnemonic::Xscmpexpqp => |t, _, i| {
            let (a, b) = (t.vr(i.vra()), t.vr(i.vrb()));
            let is_unordered = is_nan(a) || is_nan(b);
            let order = exponent_field(a).cmp(&exponent_field(b));
            set_order(t, i, (!is_unordered).then_some(order))
        },
        Mnemonic::Xststdcqp => |t, _, i| {
            let b = t.vr(i.vrb());
            set(t, i, is_negative(b), class(b), false)
        },
        _ => return None,
    })
}

fn compare(thread: &mut Thread, i: Word, is_ordered: bool) -> Outcome {
    let (a, b) = (thread.vr(i.vra()), thread.vr(i.vrb()));
    let order = order(a, b);
    set_condition(thread, i, order_condition(order));
    if order.is_none() {
        raise_unordered(thread, is_signalling(a) || is_signalling(b), is_ordered);
    }
    interrupt_if_enabled(thread)
}

/// The order of two numbers; `None` if one is a NaN.
fn order(a: u128, b: u128) -> Option<Ordering> {
    // A negative number as the negative of its magnitude, so that both zeros are 0.
    let value = |bits: u128| {
        let magnitude = (bits & !SIGN) as i128;
        if is_negative(bits) { -magnitude } else { magnitude }
    };
    (!is_nan(a) && !is_nan(b)).then(|| value(a).cmp(&value(b)))
}

/// The class as DCMX has it; 0 of a normal number.
fn class(bits: u128) -> u32 {
    let by_sign = |class: [u32; 2]| class[usize::from(is_negative(bits))];
    match bits {
        _ if is_nan(bits) => NAN,
        _ if is_infinite(bits) => by_sign(INFINITY),
        _ if is_zero(bits) => by_sign(ZERO),
        _ if exponent_field(bits) == 0 => by_sign(DENORMAL),
        _ => 0,
    }
}
