//! What of a computed result FPSCR, CR1 and the target register get, and the interrupt of an enabled
//! exception: Power ISA 3.0B Book I 4.4.

use arch::instruction::Word;
use arch::interrupt::{Vector, program};
use arch::registers::msr;

use super::fpscr::{
    EXCEPTIONS, FEX, FI, FPRF, FR, FX, INVALID, VE, VXSNAN, VXVC, ZE, ZX, with_summaries,
};
use super::round::Computed;
use crate::exec::{Flow, Outcome};
use crate::state::thread::Thread;
use crate::state::thread::trap::{Interrupt, Trap};

/// Delivers a floating-point result to FRT.
#[inline]
pub(super) fn deliver(thread: &mut Thread, i: Word, computed: Computed) -> Outcome {
    deliver_replacing(thread, i, computed, FR | FI | FPRF.mask())
}

/// Delivers an integer to FRT: FPRF stays.
pub(super) fn deliver_integer(thread: &mut Thread, i: Word, computed: Computed) -> Outcome {
    deliver_replacing(thread, i, computed, FR | FI)
}

/// Delivers to FRT, and to FPSCR in place of the bits `replaced`.
#[inline]
fn deliver_replacing(thread: &mut Thread, i: Word, computed: Computed, replaced: u64) -> Outcome {
    let Computed { value, status } = computed;
    deliver_by(thread, i, status, replaced, |thread| thread.set_fpr(i.frt(), value))
}

/// Delivers by `put`, unless an enabled exception leaves no result, and `status` to FPSCR in place of
/// the bits `replaced`.
#[inline]
pub(in crate::exec) fn deliver_by(
    thread: &mut Thread,
    i: Word,
    status: u64,
    replaced: u64,
    put: impl FnOnce(&mut Thread),
) -> Outcome {
    write_result(thread, status, replaced, put);
    conclude(thread, i)
}

/// The same without CR1 and the interrupt.
#[inline]
pub(in crate::exec) fn write_result(
    thread: &mut Thread,
    status: u64,
    replaced: u64,
    put: impl FnOnce(&mut Thread),
) {
    let before = thread.fpscr;
    let exceptions = status & EXCEPTIONS;
    if exceptions & (INVALID | ZX) != 0 && is_suppressed(exceptions, before) {
        // The target and FPRF keep what they have.
        thread.fpscr = before & !(FR | FI);
    } else {
        put(thread);
        thread.fpscr = before & !replaced | status & !EXCEPTIONS;
    }
    raise(thread, exceptions);
}

/// Whether an exception is enabled that leaves no result.
#[cold]
fn is_suppressed(exceptions: u64, fpscr: u64) -> bool {
    exceptions & INVALID != 0 && fpscr & VE != 0 || exceptions & ZX != 0 && fpscr & ZE != 0
}

/// Sets exception bits and the summaries that follow.
#[inline]
pub(in crate::exec) fn raise(thread: &mut Thread, exceptions: u64) {
    if exceptions & !thread.fpscr != 0 {
        thread.fpscr = with_summaries(thread.fpscr | exceptions | FX);
    }
}

/// Sets the exception bits of a comparison with a NaN.
pub(in crate::exec) fn raise_unordered(thread: &mut Thread, signals: bool, is_ordered: bool) {
    raise(thread, unordered(thread.fpscr, signals, is_ordered));
}

/// The exception bits of a comparison with a NaN. With VE set, one that signals hides that the
/// comparison was ordered.
pub(in crate::exec) fn unordered(fpscr: u64, signals: bool, is_ordered: bool) -> u64 {
    match (signals, is_ordered) {
        (true, true) if fpscr & VE == 0 => VXSNAN | VXVC,
        (true, _) => VXSNAN,
        (false, true) => VXVC,
        (false, false) => 0,
    }
}

/// Ends an instruction that wrote FPSCR: CR1 of the record forms, and the interrupt.
#[inline]
pub(super) fn conclude(thread: &mut Thread, i: Word) -> Outcome {
    record(thread, i);
    interrupt_if_enabled(thread)
}

/// Copies FX, FEX, VX and OX to CR1 if the instruction is a record form.
#[inline]
pub(in crate::exec) fn record(thread: &mut Thread, i: Word) {
    if i.rc() {
        thread.set_cr_field(1, (thread.fpscr >> 28) as u32 & 0xF);
    }
}

/// The same behind an instruction that wrote the MSR: the thread's `nia` is set.
#[inline]
pub(in crate::exec) fn interrupt_if_allowed(thread: &mut Thread) -> Result<(), Trap> {
    if is_pending(thread) {
        let status = program::FLOATING_POINT | program::IMPRECISE;
        let interrupt = Interrupt::new(Vector::Program);
        return Err(thread.interrupt(Interrupt {
            status,
            is_after_instruction: true,
            ..interrupt
        }));
    }
    Ok(())
}

#[inline]
fn is_pending(thread: &Thread) -> bool {
    thread.fpscr & FEX != 0 && thread.msr() & (msr::FE0 | msr::FE1) != 0
}

/// The program interrupt that is due while FEX is set and MSR\[FE0\] or MSR\[FE1\] is.
#[inline]
pub(in crate::exec) fn interrupt_if_enabled(thread: &mut Thread) -> Outcome {
    if is_pending(thread) {
        return Err(thread.program_interrupt(program::FLOATING_POINT));
    }
    Ok(Flow::Next)
}
