//! Conversions between the formats, and from and to integers: Power ISA 3.0B Book I 5.6.5.
//!
//! DFP Short is a format of storage: a signalling NaN stays one on the way from and to it.

use arch::instruction::{Mnemonic, Word};

use super::format::{EXTENDED, Format, LONG, SHORT};
use super::number::{Decimal, propagate_nan};
use super::operand::{Computed, datum, deliver, deliver_integer, deliver_long_to_pair};
use super::quantize::integral;
use super::round::{Rounding, round};
use crate::exec::floating_point::fpscr::{OE, OX, UE, UX, VXCVI, VXSNAN};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The handler of a conversion.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dctdp => |t, _, i| dctdp(t, i),
        Mnemonic::Dctqpq => |t, _, i| dctqpq(t, i),
        Mnemonic::Drsp => |t, _, i| drsp(t, i),
        Mnemonic::Drdpq => |t, _, i| drdpq(t, i),
        Mnemonic::Dcffix => |t, _, i| from_integer(t, i, LONG),
        Mnemonic::Dcffixq => |t, _, i| from_integer(t, i, EXTENDED),
        Mnemonic::Dctfix => |t, _, i| to_integer(t, i, LONG),
        Mnemonic::Dctfixq => |t, _, i| to_integer(t, i, EXTENDED),
        _ => return None,
    })
}

/// From the low word of FRB.
fn dctdp(thread: &mut Thread, i: Word) -> Outcome {
    let short = SHORT.unpack(u128::from(thread.fpr(i.frb()) as u32));
    deliver(thread, i, LONG, Computed::exact(widened(short)))
}

fn dctqpq(thread: &mut Thread, i: Word) -> Outcome {
    let long = datum(thread, i.frb(), LONG);
    let computed = match propagate_nan(&[long]) {
        Some(nan) => nan.into(),
        None => Computed::exact(widened(long)),
    };
    deliver(thread, i, EXTENDED, computed)
}

/// A datum in a wider format. What an infinity's significand holds is lost.
fn widened(datum: Decimal) -> Decimal {
    if datum.is_infinite() { Decimal::infinity(datum.negative) } else { datum }
}

fn drsp(thread: &mut Thread, i: Word) -> Outcome {
    let b = datum(thread, i.frb(), LONG);
    let computed = if b.is_nan() {
        Computed::exact(b)
    } else {
        narrowed(thread, "drsp with an enabled overflow or underflow", SHORT, b)?
    };
    deliver(thread, i, SHORT, computed)
}

fn drdpq(thread: &mut Thread, i: Word) -> Outcome {
    let b = datum(thread, i.frb(), EXTENDED);
    let computed = match propagate_nan(&[b]) {
        Some(nan) => nan.into(),
        None => narrowed(thread, "drdpq with an enabled overflow or underflow", LONG, b)?,
    };
    deliver_long_to_pair(thread, i, computed)
}

/// A number or an infinity in a narrower format; `scaled` names what is not modelled of it.
fn narrowed(
    thread: &mut Thread,
    scaled: &'static str,
    format: &Format,
    b: Decimal,
) -> Result<Computed, Trap> {
    if b.is_infinite() {
        return Ok(Computed::exact(Decimal::infinity(b.negative)));
    }
    let computed = round(format, b.into(), b.exponent, thread.fpscr);
    let is_enabled = |exception: u64, enable: u64| {
        computed.status & exception != 0 && thread.fpscr & enable != 0
    };
    if is_enabled(OX, OE) || is_enabled(UX, UE) {
        return Err(thread.stop(StopReason::InstructionNotModelled(scaled)));
    }
    Ok(computed)
}

/// The ideal exponent is 0.
fn from_integer(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let value = thread.fpr(i.frb()) as i64;
    let exact = Decimal::finite(value < 0, 0, value.unsigned_abs().into());
    let computed = round(format, exact.into(), 0, thread.fpscr);
    deliver(thread, i, format, computed)
}

fn to_integer(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let b = datum(thread, i.frb(), format);
    let (value, status) = integer(format, b, Rounding::of(thread.fpscr));
    deliver_integer(thread, i, value, status)
}

/// The signed doubleword that `b` is rounded to, or the nearest to it with VXCVI.
pub(super) fn integer(format: &Format, b: Decimal, rounding: Rounding) -> (u64, u64) {
    const LEAST: u64 = 1 << 63;
    if b.is_nan() {
        return (LEAST, VXCVI | if b.is_signalling() { VXSNAN } else { 0 });
    }
    let limit = if b.negative { LEAST } else { LEAST - 1 };
    let Computed { datum, status } = integral(format, b, rounding);
    let power = 10_u128.checked_pow(datum.exponent as u32);
    let magnitude = match (datum.coefficient, power) {
        (0, _) if datum.is_finite() => Some(0),
        (coefficient, Some(power)) if datum.is_finite() => coefficient.checked_mul(power),
        _ => None,
    };
    match magnitude {
        Some(magnitude) if magnitude <= u128::from(limit) => {
            let magnitude = magnitude as u64;
            (if b.negative { magnitude.wrapping_neg() } else { magnitude }, status)
        }
        _ => (limit, VXCVI),
    }
}
