//! Datums in registers, and the delivery of results.

use arch::instruction::Word;

use super::format::{Format, LONG};
use super::number::Decimal;
use crate::exec::floating_point::deliver::{deliver_by, record};
use crate::exec::floating_point::fpscr::{FI, FPRF, FR};
use crate::exec::{Flow, Outcome};
use crate::state::thread::Thread;

/// What an instruction computed, before FPSCR decides what of it is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Computed {
    pub(super) datum: Decimal,
    /// FPSCR bits: FR, FI and exceptions.
    pub(super) status: u64,
}

impl Computed {
    /// An exact result.
    pub(super) fn exact(datum: Decimal) -> Self {
        Self { datum, status: 0 }
    }

    /// The result of an invalid operation that has no NaN to deliver.
    pub(super) fn invalid(exception: u64) -> Self {
        Self { datum: Decimal::DEFAULT_NAN, status: exception }
    }
}

impl From<(Decimal, u64)> for Computed {
    fn from((datum, status): (Decimal, u64)) -> Self {
        Self { datum, status }
    }
}

/// The bits in the register, or in the pair that begins with it.
pub(super) fn bits(thread: &Thread, register: usize, format: &Format) -> u128 {
    let first = u128::from(thread.fpr(register));
    if format.is_pair { first << 64 | u128::from(thread.fpr(register + 1)) } else { first }
}

/// The datum in the register, or in the pair that begins with it.
pub(super) fn datum(thread: &Thread, register: usize, format: &Format) -> Decimal {
    format.unpack(bits(thread, register, format))
}

fn put_bits(thread: &mut Thread, register: usize, format: &Format, bits: u128) {
    if format.is_pair {
        thread.set_fpr(register, (bits >> 64) as u64);
        thread.set_fpr(register + 1, bits as u64);
    } else {
        thread.set_fpr(register, bits as u64);
    }
}

/// Delivers to FRT or FRTp, and its class to FPRF.
pub(super) fn deliver(
    thread: &mut Thread,
    i: Word,
    format: &Format,
    computed: Computed,
) -> Outcome {
    let Computed { datum, status } = computed;
    let status = status | format.fprf(datum);
    deliver_by(thread, i, status, FR | FI | FPRF.mask(), |thread| {
        put_bits(thread, i.frt(), format, format.pack(datum));
    })
}

/// Delivers an integer to FRT: FPRF stays.
pub(super) fn deliver_integer(thread: &mut Thread, i: Word, value: u64, status: u64) -> Outcome {
    deliver_by(thread, i, status, FR | FI, |thread| thread.set_fpr(i.frt(), value))
}

/// Delivers DFP Long in the first of a pair of registers, with zero in the second.
pub(super) fn deliver_long_to_pair(thread: &mut Thread, i: Word, computed: Computed) -> Outcome {
    let Computed { datum, status } = computed;
    let status = status | LONG.fprf(datum);
    deliver_by(thread, i, status, FR | FI | FPRF.mask(), |thread| {
        thread.set_fpr(i.frt(), LONG.pack(datum) as u64);
        thread.set_fpr(i.frt() + 1, 0);
    })
}

/// Puts `bits` into FRT or FRTp; FPSCR stays.
pub(super) fn put(thread: &mut Thread, i: Word, format: &Format, bits: u128) -> Outcome {
    put_bits(thread, i.frt(), format, bits);
    record(thread, i);
    Ok(Flow::Next)
}
