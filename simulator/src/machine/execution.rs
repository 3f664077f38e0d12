//! Decoded blocks: finding the one that comes next, and executing it.

use arch::address::EffectiveAddress;
use arch::instruction::Mnemonic;

use crate::blocks::{Block, Blocks, Op};
use crate::exec::{Flow, Mode, Outcome};
use crate::mmu::{self, Access};
use crate::state::shared::Shared;
use crate::state::thread::trap::{Cause, Interrupt, Trap};
use crate::state::thread::{Activity, Thread};
use crate::trace::Observer;

/// Why execution of a block, or of block after block, ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StretchEnd {
    /// The limit was reached, or the block's end.
    Straight,
    /// An instruction changed the state that code is executed in.
    Synchronize,
    /// An instruction did not complete.
    Trap,
    /// In timing mode: other threads come first.
    Turn,
    /// The run ends before what is next.
    Place,
}

/// The number of the decoded block that the thread executes next.
#[inline]
pub(super) fn find_block(
    thread: &mut Thread,
    shared: &mut Shared,
    blocks: &mut Blocks,
    mode: Mode,
) -> Result<u32, Trap> {
    if let Some(number) = thread.shortcuts.find_block(thread.nia) {
        return Ok(number);
    }
    let address = EffectiveAddress(thread.nia);
    let offset = match thread.shortcuts.fetch.find(address.0, 4) {
        Some(offset) => offset,
        // To make room for this translation the TLB may be emptied.
        None => mmu::translate(thread, shared, address, Access::Fetch)?.offset,
    };
    // A TLB that lost an entry made all shortcuts void, and most blocks are where they were.
    let number = match thread.shortcuts.last_block(address.0) {
        Some(number) if blocks.is_at(number, offset, mode) => number,
        _ => blocks.find(&mut shared.memory, shared.processor, offset, mode),
    };
    thread.shortcuts.insert_block(address.0, number);
    Ok(number)
}

/// Executes `block` from its start, at most `allowed` instructions.
#[inline]
pub(super) fn execute<O: Observer>(
    thread: &mut Thread,
    shared: &mut Shared,
    block: &Block,
    allowed: u64,
    mode: Mode,
    observer: &mut O,
) -> StretchEnd {
    let count = usize::try_from(allowed).unwrap_or(usize::MAX).min(block.ops.len());
    let mut cia = thread.cia;
    for op in &block.ops[..count] {
        if O::SEES_STORES {
            thread.accesses.clear();
        }
        let outcome = (op.handler)(thread, shared, op.word);
        if O::SEES_STORES && !thread.accesses.list().is_empty() {
            observer.stored(thread, shared);
        }
        if O::SEES_INSTRUCTIONS && completes(thread, outcome) {
            observer.completed(thread, op, mode);
        }
        // Nearly every instruction hands over to the next: to test that alone is faster than a jump by a table.
        if !matches!(outcome, Ok(Flow::Next)) {
            return left(thread, shared, op, outcome, mode, observer);
        }
        // Kept in a variable: reading back what was just stored would make each instruction wait for
        // the one before.
        cia = cia.wrapping_add(4);
        thread.cia = cia;
    }
    to_next(thread);
    StretchEnd::Straight
}

/// Leaves a block behind an instruction that did not hand over to the next one.
#[inline(always)]
fn left<O: Observer>(
    thread: &mut Thread,
    shared: &mut Shared,
    op: &Op,
    outcome: Outcome,
    mode: Mode,
    observer: &mut O,
) -> StretchEnd {
    match outcome {
        Ok(Flow::Branch) => {
            retire(thread, 1);
            StretchEnd::Straight
        }
        Ok(Flow::Next | Flow::Synchronize) => {
            thread.cia = thread.cia.wrapping_add(4);
            to_next(thread);
            StretchEnd::Synchronize
        }
        Ok(Flow::Return) => {
            observer.returned(thread, shared, mode);
            retire(thread, 1);
            StretchEnd::Synchronize
        }
        Err(_) => {
            thread.contain(op.word);
            let is_complete = completes(thread, outcome);
            if has_returned(op, outcome, is_complete) {
                observer.returned(thread, shared, mode);
            }
            retire(thread, u64::from(is_complete));
            StretchEnd::Trap
        }
    }
}

/// All before `cia` is done, and the thread goes on there.
#[inline]
fn to_next(thread: &mut Thread) {
    retire(thread, 0);
    thread.nia = thread.effective(thread.cia).0;
}

/// Whether the instruction returned from an interrupt, also where the state that it returned to takes
/// another at once.
pub(super) fn has_returned(op: &Op, outcome: Outcome, is_complete: bool) -> bool {
    match outcome {
        Ok(flow) => flow == Flow::Return,
        Err(_) => is_complete && matches!(op.mnemonic, Some(Mnemonic::Rfid | Mnemonic::Hrfid)),
    }
}

/// Whether the instruction with this outcome completed.
pub(super) fn completes(thread: &Thread, outcome: Outcome) -> bool {
    let after = |cause: &Cause| {
        matches!(cause, Cause::Interrupt(Interrupt { is_after_instruction: true, .. }))
    };
    outcome.is_ok() || thread.cause.as_ref().is_some_and(after)
}

/// Counts the instructions from the start of the run to `cia`, and `more` beyond.
#[inline]
fn retire(thread: &mut Thread, more: u64) {
    let instructions = thread.cia.wrapping_sub(thread.run_start) / 4 + more;
    thread.completed += instructions;
    thread.time.charge_functional(instructions);
    thread.run_start = thread.cia;
}

/// How long a thread goes on, and in which mode.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// The cycle of the thread behind which nothing begins.
    pub(super) deadline: u64,
    /// Its steps, likewise.
    pub(super) limit: u64,
    pub(super) mode: Mode,
}

impl Stretch {
    pub(super) fn is_over(self, thread: &Thread) -> bool {
        thread.time.cycles() >= self.deadline || thread.steps() >= self.limit
    }
}

/// The cycle at which `thread` has something to do, if it ever has.
pub(super) fn next_at(thread: &Thread) -> Option<u64> {
    match thread.activity {
        Activity::Running => Some(thread.time.cycles()),
        activity if activity.is_asleep() && thread.wakes_at != u64::MAX => {
            Some(thread.wakes_at.max(thread.time.cycles()))
        }
        _ => None,
    }
}
