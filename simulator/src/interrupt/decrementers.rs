//! The decrementers: their values, and when they interrupt.
//!
//! DEC's exception is there while its sign bit is set. HDEC's comes when the bit becomes set, by counting or by a
//! write, and is there until its interrupt is taken, whatever HDEC holds by then. Threads that share HDEC have an
//! exception each. What is written to the time base changes neither. Source: `docs/facts/interrupts.md#decrementers`.

use arch::registers::spr::Spr;

use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::timers::{Timers, Underflow};

/// The decrementer's value after so many ticks of its thread, sign-extended from its width.
#[must_use]
pub fn decrementer(thread: &Thread, shared: &Shared, ticks: u64) -> i64 {
    sign_extend(thread.spr(Spr::Dec).wrapping_sub(ticks), dec_bits(thread, shared))
}

/// Bits of the decrementer, which LPCR\[LD\] makes large.
pub(crate) fn dec_bits(thread: &Thread, shared: &Shared) -> u32 {
    if thread.has_large_decrementer() { large_bits(shared) } else { SMALL_BITS }
}

/// The hypervisor decrementer's value, in the same way.
#[must_use]
pub fn hypervisor_decrementer(thread: &Thread, shared: &Shared, ticks: u64) -> i64 {
    sign_extend(thread.spr(Spr::Hdec).wrapping_sub(ticks), large_bits(shared))
}

const SMALL_BITS: u32 = 32;

fn large_bits(shared: &Shared) -> u32 {
    shared.processor.facts().decrementer_bits
}

fn sign_extend(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

/// The cycle of the thread's time at which a timer of `value` now is negative: now, if it is.
pub(super) fn negative_at(thread: &Thread, shared: &Shared, value: i64) -> u64 {
    if value < 0 {
        return thread.time_now().cycles();
    }
    shared.cycle_of(thread, shared.own_ticks(thread).saturating_add(value as u64 + 1))
}

/// The cycle of the thread's time at which the hypervisor decrementer's exception is there: now, if it is.
pub(super) fn hypervisor_exception_at(thread: &Thread, shared: &Shared) -> Option<u64> {
    let hdec = hypervisor_decrementer(thread, shared, shared.own_ticks(thread));
    if thread.underflow.is_kept {
        return Some(thread.time_now().cycles());
    }
    let has_edge_ahead = hdec >= 0 || !thread.underflow.is_over;
    has_edge_ahead.then(|| negative_at(thread, shared, hdec))
}

/// When a decrementer of so many bits is 0 that is written with `value`. Software may have been shown a later time than
/// the thread's own, and counts from that; but no value becomes negative by it.
pub(crate) fn zero_at(thread: &Thread, shared: &Shared, value: u64, bits: u32) -> u64 {
    let own = shared.own_ticks(thread);
    let room = (1 << (bits - 1)) - 1 - sign_extend(value, bits);
    let ahead = shared.ticks(thread).wrapping_sub(own).min(room as u64);
    value.wrapping_add(own).wrapping_add(ahead)
}

/// Writes HDEC. A sign bit that becomes set brings an exception; nothing that is written ends one.
pub fn set_hypervisor_decrementer(thread: &mut Thread, shared: &Shared, value: u64) {
    let zero_at = zero_at(thread, shared, value, large_bits(shared));
    move_zero(thread, shared, zero_at, shared.own_ticks(thread));
}

/// A sibling that shares HDEC with the thread wrote it at `cycle` of its time, and it is 0 at `zero_at` now. The
/// exception that HDEC has brought by then is the thread's too, which may not have got so far.
pub fn follow_hypervisor_decrementer(
    thread: &mut Thread,
    shared: &Shared,
    zero_at: u64,
    cycle: u64,
) {
    move_zero(thread, shared, zero_at, shared.ticks_at(thread, cycle));
}

/// After so many ticks of the thread HDEC becomes what is 0 at `zero_at`.
fn move_zero(thread: &mut Thread, shared: &Shared, zero_at: u64, ticks: u64) {
    let was = hypervisor_decrementer(thread, shared, ticks);
    let was_there = thread.underflow.is_there(was);
    thread.set_spr(Spr::Hdec, zero_at);
    let is = hypervisor_decrementer(thread, shared, ticks);
    let is_over = is < 0 && was < 0;
    // It may count past its most negative value before anybody looks.
    let is_kept = was_there || is < 0 && !is_over;
    thread.underflow = Underflow { is_kept, is_over };
    thread.timers = Timers::default();
}

/// Ends the hypervisor decrementer's exception: its interrupt is taken.
pub(super) fn end_hypervisor_exception(thread: &mut Thread, shared: &Shared) {
    let hdec = hypervisor_decrementer(thread, shared, shared.own_ticks(thread));
    thread.underflow = Underflow { is_kept: false, is_over: hdec < 0 };
    thread.timers = Timers::default();
}

/// What the decrementers ask for now.
pub(super) fn timers(thread: &mut Thread, shared: &Shared) -> Timers {
    let slept = shared.cores[thread.core].ticks_slept;
    let is_large = thread.has_large_decrementer();
    let inputs = (thread.spr(Spr::Dec), thread.spr(Spr::Hdec), slept, is_large);
    if thread.timers.inputs == inputs && thread.time_now().cycles() < thread.timers.until {
        return thread.timers;
    }
    let now = shared.own_ticks(thread);
    let dec = decrementer(thread, shared, now);
    let hdec = hypervisor_decrementer(thread, shared, now);
    let ticks = ticks_to_sign_change(dec, dec_bits(thread, shared))
        .min(ticks_to_sign_change(hdec, large_bits(shared)));
    let until = shared.cycle_of(thread, now.saturating_add(ticks));
    // It has counted past its most negative value: the sign bit will be set anew.
    thread.underflow.is_over &= hdec < 0;
    let (is_dec_negative, has_hdec_exception) = (dec < 0, thread.underflow.is_there(hdec));
    thread.timers = Timers { is_dec_negative, has_hdec_exception, until, inputs };
    thread.timers
}

/// A decrementer that counts down from `value` passes zero, or its most negative value.
fn ticks_to_sign_change(value: i64, bits: u32) -> u64 {
    let to_wrap = if value < 0 { 1 << (bits - 1) } else { 0 };
    (value + to_wrap + 1) as u64
}

/// The cycle of the thread's time at which the sign of a decrementer changes next.
#[must_use]
pub fn next_timer(thread: &mut Thread, shared: &Shared) -> u64 {
    timers(thread, shared).until
}
