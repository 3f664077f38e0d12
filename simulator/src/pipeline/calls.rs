//! The calls of each hardware thread that have not returned yet, for a ledger that knows who called.
//!
//! A taken branch that leaves a return address calls, and a `bclr` returns. A return comes to the address
//! behind its call with the stack pointer (GPR 1, as the ABI has it) of the call; one that does not, as after a
//! switch of tasks, shows that the calls are not known, and all are forgotten. What left without a return is
//! forgotten too: with the next call, return or `rfid` the stack pointer is above what it was at the call, and
//! a kernel that goes on to a program has no open calls. So a caller may be missing, but none is wrong in code
//! that keeps to the ABI.

use std::collections::BTreeMap;

use arch::registers::msr;
use arch::registers::spr::Spr;
use serde::{Deserialize, Serialize};

use super::predictor::Kind;
use super::stages::Executed;
use crate::ledger::callers::{Caller, Callers};
use crate::ledger::{Owner, Side};
use crate::state::thread::Thread;

/// Calls deeper than this have the caller of this depth: the account of an endless recursion is finite.
const DEEPEST: usize = 64;
/// So many open calls are none that will return.
const MOST: usize = 1 << 16;

/// The general-purpose registers that the ABI gives to the stack, and to the thread of a program.
const STACK: usize = 1;
const PROGRAM_THREAD: usize = 13;

/// Whose calls they are: of which side, and of a program its process and its thread.
type Stack = (Side, Option<(u64, u64)>);

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Call {
    returns_to: u64,
    stack_pointer: u64,
    caller: Caller,
}

/// The open calls of all hardware threads.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    open: Vec<BTreeMap<Stack, Vec<Call>>>,
}

impl Calls {
    /// Who called what `owner` is about to execute on `thread`.
    pub(super) fn caller(&mut self, thread: &Thread, owner: Owner) -> Caller {
        if owner == Owner::Idle {
            return Caller::default();
        }
        let open = self.of(thread, owner.side(), thread.is_problem());
        open.last().map_or_else(Caller::default, |call| call.caller)
    }

    /// `thread` executed an instruction that went elsewhere.
    pub(super) fn branched(
        &mut self,
        callers: &mut Callers,
        thread: &Thread,
        branch: &Executed<'_>,
    ) {
        let Executed { operation, address, taken_to: Some(to), owner, .. } = *branch else {
            return;
        };
        let is_branch = operation.branch.is_some();
        let behind = thread.effective(address.wrapping_add(4)).0;
        // To the next instruction: how a program finds where it is.
        let is_call = operation.is_call && to != behind;
        let is_indirect = matches!(operation.branch, Some(Kind::Indirect { .. }));
        if is_branch && !is_call && !operation.returns() && !is_indirect {
            return;
        }
        let side = owner.side();
        if !is_branch && side.is_none() && thread.msr() & msr::HV == 0 {
            // A hypervisor goes on behind its partition's exit.
            return;
        }
        let open = self.of(thread, side, is_branch && thread.is_problem());
        let stack_pointer = thread.gpr[STACK];
        while open.last().is_some_and(|call| call.stack_pointer < stack_pointer) {
            open.pop();
        }
        let is_it = |call: &Call| (call.returns_to, call.stack_pointer) == (to, stack_pointer);
        if is_call {
            let depth = open.len();
            if depth == MOST {
                open.clear();
            }
            let outer = open.last().map_or_else(Caller::default, |call| call.caller);
            let caller =
                if depth < DEEPEST { callers.calling(outer, owner, address) } else { outer };
            open.push(Call { returns_to: behind, stack_pointer, caller });
        } else if is_indirect {
            // A tail call, or a return by CTR or TAR.
            open.pop_if(|call| is_it(call));
        } else if is_branch && operation.returns() {
            let returned = open.iter().rposition(is_it).unwrap_or_default();
            open.truncate(returned);
        } else if !is_branch && thread.is_problem() {
            open.clear();
        }
    }

    /// The calls of a side, the innermost last: of the program that runs on `thread`, or of its kernel.
    fn of(&mut self, thread: &Thread, side: Side, is_program: bool) -> &mut Vec<Call> {
        let program = is_program.then(|| (thread.spr(Spr::Pidr), thread.gpr[PROGRAM_THREAD]));
        if self.open.len() <= thread.index {
            self.open.resize_with(thread.index + 1, BTreeMap::default);
        }
        self.open[thread.index].entry((side, program)).or_default()
    }
}
