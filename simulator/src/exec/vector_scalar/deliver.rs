//! What FPSCR and the target register get of a computed result: Power ISA 3.0B Book I 7.4.
//!
//! A scalar result goes by the rules of the scalar facility. A vector's leaves FPRF, FR and FI, and is
//! delivered only if no element raised an exception that is enabled, of any kind.

use std::cell::Cell;

use arch::instruction::Word;

use super::float::Float;
use crate::exec::Outcome;
use crate::exec::floating_point::deliver::{interrupt_if_enabled, raise, write_result};
use crate::exec::floating_point::fpscr::{ENABLES, EXCEPTIONS, FEX, FI, FPRF, FR, with_summaries};
use crate::exec::floating_point::round::Computed;
use crate::exec::vector::lane::{Lane, build, get};
use crate::state::thread::Thread;

/// Delivers a floating-point result to doubleword 0 of XT; doubleword 1 becomes zero.
#[inline]
pub(super) fn scalar(
    thread: &mut Thread,
    i: Word,
    Computed { value, status }: Computed,
) -> Outcome {
    write_result(thread, status, FR | FI | FPRF.mask(), |t| t.vsr[i.xt()] = [value, 0]);
    interrupt_if_enabled(thread)
}

/// Delivers an integer to doubleword 0 of XT: FPRF stays.
pub(super) fn scalar_integer(
    thread: &mut Thread,
    i: Word,
    Computed { value, status }: Computed,
) -> Outcome {
    write_result(thread, status, FR | FI, |t| t.vsr[i.xt()] = [value, 0]);
    interrupt_if_enabled(thread)
}

/// Delivers to doubleword 0 of XT what leaves FPRF, FR and FI, unless an exception is enabled.
pub(super) fn scalar_quiet(thread: &mut Thread, i: Word, value: u64, exceptions: u64) -> Outcome {
    let is_suppressed = is_enabled(thread, exceptions);
    raise(thread, exceptions);
    if !is_suppressed {
        thread.vsr[i.xt()] = [value, 0];
    }
    interrupt_if_enabled(thread)
}

/// Whether one of `exceptions` is enabled.
fn is_enabled(thread: &Thread, exceptions: u64) -> bool {
    with_summaries(exceptions | thread.fpscr & ENABLES) & FEX != 0
}

/// Delivers the elements that `element` computes to XT, and what it says of each to FPSCR.
#[inline]
pub(super) fn vector<L: Lane>(
    thread: &mut Thread,
    i: Word,
    element: impl Fn(&Thread, u32) -> (L, u64),
) -> Outcome {
    if let Some(value) = elements(thread, element) {
        thread.set_vsr(i.xt(), value);
    }
    interrupt_if_enabled(thread)
}

/// The elements that `element` computes, unless an enabled exception leaves no result. What it says of
/// each goes to FPSCR.
#[inline]
pub(super) fn elements<L: Lane>(
    thread: &mut Thread,
    element: impl Fn(&Thread, u32) -> (L, u64),
) -> Option<u128> {
    let status = Cell::new(0);
    let value = build(|index| {
        let (value, of_element) = element(thread, index);
        status.set(status.get() | of_element);
        value
    });
    let exceptions = status.get() & EXCEPTIONS;
    let is_suppressed = is_enabled(thread, exceptions);
    raise(thread, exceptions);
    (!is_suppressed).then_some(value)
}

/// The element that a result is in its format, and its status.
#[inline(always)]
pub(super) fn element<L: Float>(computed: Computed) -> (L, u64) {
    (L::of(computed.value), computed.status)
}

/// Element `index` of VSR `register`, as a double.
#[inline(always)]
pub(super) fn operand<L: Float>(thread: &Thread, register: usize, index: u32) -> u64 {
    get::<L>(thread.vsr(register), index).double()
}
