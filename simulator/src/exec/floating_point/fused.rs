//! Multiply-add with one rounding: Power ISA 3.0B Book I 4.6.6.2.

use arch::instruction::{Mnemonic, Word};

use super::deliver::deliver;
use super::fpscr::{VXIMZ, VXISI, rounds_to_nearest};
use super::number::{
    Number, SIGN, Wide, is_finite_nonzero, is_infinite, is_nan, is_negative, is_zero,
    propagate_nan, zero_sum_is_negative,
};
use super::quick;
use super::round::{Computed, Double, Format, Single, round, round_bits, zero_sum};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a multiply-add instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Fmadd => |t, _, i| fused::<Double, false, false>(t, i),
        Mnemonic::Fmadds => |t, _, i| fused::<Single, false, false>(t, i),
        Mnemonic::Fmsub => |t, _, i| fused::<Double, true, false>(t, i),
        Mnemonic::Fmsubs => |t, _, i| fused::<Single, true, false>(t, i),
        Mnemonic::Fnmadd => |t, _, i| fused::<Double, false, true>(t, i),
        Mnemonic::Fnmadds => |t, _, i| fused::<Single, false, true>(t, i),
        Mnemonic::Fnmsub => |t, _, i| fused::<Double, true, true>(t, i),
        Mnemonic::Fnmsubs => |t, _, i| fused::<Single, true, true>(t, i),
        _ => return None,
    })
}

/// (FRA x FRC) + FRB, with signs as in [`signed_multiply_add`].
#[inline]
fn fused<F: Format, const SUBTRACTS: bool, const NEGATES: bool>(
    thread: &mut Thread,
    i: Word,
) -> Outcome {
    let operands = [thread.fpr(i.fra()), thread.fpr(i.frb()), thread.fpr(i.frc())];
    deliver(thread, i, signed_multiply_add::<F, SUBTRACTS, NEGATES>(operands, thread.fpscr))
}

/// (a x c) + b, or - b if it `SUBTRACTS`; `NEGATES` after rounding. A NaN keeps its sign.
#[inline]
pub(in crate::exec) fn signed_multiply_add<
    F: Format,
    const SUBTRACTS: bool,
    const NEGATES: bool,
>(
    [a, b, c]: [u64; 3],
    fpscr: u64,
) -> Computed {
    let addend = if SUBTRACTS && !is_nan(b) { b ^ SIGN } else { b };
    let computed = multiply_add::<F>(a, addend, c, fpscr);
    if NEGATES { computed.negated() } else { computed }
}

/// (a x c) + b.
#[inline]
pub(in crate::exec) fn multiply_add<F: Format>(a: u64, b: u64, c: u64, fpscr: u64) -> Computed {
    if rounds_to_nearest(fpscr)
        && let Some(computed) = quick::multiply_add::<F>(a, b, c)
    {
        return computed;
    }
    multiply_add_exactly::<F>(a, b, c, fpscr)
}

#[inline(never)]
pub(super) fn multiply_add_exactly<F: Format>(a: u64, b: u64, c: u64, fpscr: u64) -> Computed {
    if is_finite_nonzero(a) && is_finite_nonzero(b) && is_finite_nonzero(c) {
        let product = Wide::product(Number::unpack(a), Number::unpack(c));
        return match product.plus(Number::unpack(b).into()) {
            Some(sum) => round::<F>(sum.narrow(), fpscr),
            None => Computed::zero(zero_sum_is_negative(fpscr)),
        };
    }
    multiply_add_special::<F>(a, b, c, fpscr)
}

#[cold]
fn multiply_add_special<F: Format>(a: u64, b: u64, c: u64, fpscr: u64) -> Computed {
    let has_infinite_factor = is_infinite(a) || is_infinite(c);
    let has_zero_factor = is_zero(a) || is_zero(c);
    // Infinity x zero counts as invalid even where an addend that is a NaN is the result.
    let product_exception = if has_infinite_factor && has_zero_factor { VXIMZ } else { 0 };
    if let Some((nan, exception)) = propagate_nan(&[a, b, c]) {
        return Computed::nan::<F>(nan).with(exception | product_exception);
    }
    if product_exception != 0 {
        return Computed::invalid(product_exception);
    }
    let product_is_negative = is_negative(a ^ c);
    match (has_infinite_factor, is_infinite(b)) {
        (true, true) if product_is_negative != is_negative(b) => Computed::invalid(VXISI),
        (true, _) => Computed::infinity(product_is_negative),
        (_, true) => Computed::infinity(is_negative(b)),
        _ if !has_zero_factor => round::<F>(Number::unpack(a).times(Number::unpack(c)), fpscr),
        _ if is_zero(b) => zero_sum(product_is_negative, is_negative(b), fpscr),
        _ => round_bits::<F>(b, fpscr),
    }
}
