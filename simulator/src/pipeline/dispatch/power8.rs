//! Groups: POWER8 dispatches up to six operations and two branches at once, and completes them as one.
//!
//! One thread dispatches a group in each cycle. Where several share the core, a group is smaller, and one of the even
//! threads and one of the odd ones dispatch one each. A cracked instruction lies in one group; one that is microcode,
//! or is to be alone, has groups of its own. Source: JRD8; GCC8 for what begins a group or is alone in it.

use serde::{Deserialize, Serialize};

use super::{Dispatch, Dispatched, PARTS, Share};
use crate::ledger::{Cause, CauseSet};
use crate::pipeline::operation::{Grouping, Operation};
use crate::pipeline::parameters::{CoreParameters, Parameters};
use crate::pipeline::ready::Ready;

/// The group at hand, which the next operation may still join.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Groups {
    /// The cycle at which it is dispatched.
    at: u64,
    /// Operations in it other than branches, and branches.
    filled: [u64; 2],
    /// Nothing joins it any more.
    is_over: bool,
    /// When what is in it completes; `None` before the first.
    completed: Option<Ready>,
}

/// One part in `divisor` of what is divided statically, and a group in each cycle.
pub(super) fn share(parameters: &Parameters, divisor: u64) -> Share {
    let Parameters { core, groups, .. } = parameters;
    let part = |entries: u64| (entries / divisor).max(1);
    // As many threads as these have each as much as one alone.
    let front = (divisor / groups.threads_whole).max(1);
    let (group, window) = match divisor {
        1 => ([groups.operations, groups.branches], groups.in_flight),
        _ => ([groups.operations_shared, groups.branches_shared], part(2 * groups.in_flight)),
    };
    Share {
        slot: PARTS,
        cause: Cause::DispatchWidth,
        width: PARTS,
        divisor,
        window,
        loads: part(core.load_queue),
        stores: part(core.store_queue),
        blocks: (core.instruction_buffer / core.block_instructions() / front).max(1),
        link_stack: (core.link_stack / front).max(1),
        has_targets: false,
        group,
    }
}

impl Groups {
    /// No group at cycle `now`.
    pub(super) fn new(now: u64) -> Self {
        Self { at: now, filled: [0; 2], is_over: true, completed: None }
    }

    /// The cycle at which the group at hand is dispatched.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Nothing joins the group at hand any more.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Whether the group at hand takes an operation that can be dispatched when `ready` says.
    pub(super) fn takes(&self, operation: &Operation, ready: Ready, share: &Share) -> bool {
        let [operations, branches] = counts(operation);
        !self.is_over
            && operation.grouping == Grouping::Any
            && ready.at() <= self.at
            && self.filled[0] + operations <= share.group[0]
            && self.filled[1] + branches <= share.group[1]
    }

    /// Whether there is something in the group at hand, which is then in flight.
    pub(super) fn is_filled(&self) -> bool {
        self.completed.is_some()
    }

    /// What is in the group completes when `completed` says, or later.
    pub(super) fn complete(&mut self, completed: Ready) {
        self.completed = Some(completed);
    }
}

/// Operations of an instruction other than branches, and branches.
fn counts(operation: &Operation) -> [u64; 2] {
    let branches = u64::from(operation.branch.is_some());
    [operation.operations - branches, branches]
}

impl Dispatch {
    /// Dispatches an operation that is [`held`](Self::held) until then: in the group at hand, or in a new one.
    pub(super) fn dispatch_grouped(
        &mut self,
        operation: &Operation,
        held: Ready,
        slots: &mut u64,
        share: &Share,
        parameters: &CoreParameters,
        free: CauseSet,
    ) -> Dispatched {
        let Some(groups) = &mut self.groups else { unreachable!("there are groups") };
        let [operations, branches] = counts(operation);
        if groups.takes(operation, held, share) {
            groups.filled = [groups.filled[0] + operations, groups.filled[1] + branches];
            groups.is_over = groups.filled[1] == share.group[1];
            let (at, slot) = (groups.at, groups.at * PARTS);
            return Dispatched { slot, held, shared: slot, at };
        }
        if let Some(completed) = groups.completed.take() {
            self.window.push(completed);
        }
        let held = held.later(self.window.room(share.window));
        let (slot, shared) = (self.slot, *slots);
        let start = slot.max(held.at() * PARTS).max(shared);
        // Microcode fills as many groups as it needs.
        let more = operations.saturating_sub(1) / share.group[0];
        let more = free.cost(Cause::DispatchMicrocode, more);
        let sequencer = if operation.is_microcode { parameters.microcode } else { 0 };
        let last = start + (more + free.cost(Cause::DispatchMicrocode, sequencer)) * PARTS;
        self.slot = last + free.cost(share.cause, share.slot);
        *slots = start + (more + 1) * share.width;
        let at = last / PARTS;
        groups.at = at;
        groups.filled = [operations - more * share.group[0], branches];
        groups.is_over = operation.is_microcode
            || operation.grouping == Grouping::Alone
            || branches == share.group[1];
        self.last = self.last.max(at);
        Dispatched { slot, held, shared, at }
    }
}

#[cfg(test)]
mod tests {
    use arch::instruction::{Mnemonic, encode};

    use super::{Dispatch, Share};
    use crate::description::Description;
    use crate::ledger::{Cause, CauseSet};
    use crate::pipeline::operation::Operation;
    use crate::pipeline::parameters::Parameters;
    use crate::pipeline::ready::Ready;
    use crate::quantity::Bound;

    fn parameters() -> Parameters {
        let text = include_str!("../../../../machines/power8.toml");
        Description::from_toml(text).unwrap().timing().unwrap().core_at(Bound::Value)
    }

    fn operation(mnemonic: Mnemonic, operands: &[i64]) -> Operation {
        let word = encode(mnemonic, operands, false, false).unwrap();
        Operation::new(Some(mnemonic), word, &parameters(), CauseSet::default())
    }

    /// The cycles at which operations are dispatched that complete at once, for one of so many threads.
    fn cycles(divisor: u64, operations: &[Operation]) -> Vec<u64> {
        let parameters = parameters();
        let share = Share::whole(&parameters, divisor);
        let mut dispatch = Dispatch::new(&parameters, 0);
        let mut slots = 0;
        let ready = Ready::new(0, Cause::DispatchWidth);
        let mut dispatched = |operation: &Operation| {
            let held = dispatch.held(operation, ready, &share);
            let (core, free) = (&parameters.core, CauseSet::default());
            let at = dispatch.dispatch(operation, held, &mut slots, &share, core, free).at;
            dispatch.complete(operation, Ready::new(at, Cause::DispatchWidth));
            at
        };
        operations.iter().map(&mut dispatched).collect()
    }

    #[test]
    fn a_group_has_six_operations_and_two_branches_and_with_several_threads_three_and_one() {
        let add = operation(Mnemonic::Addi, &[3, 4, 1]);
        let branch = operation(Mnemonic::Bc, &[12, 2, 8, 0, 0]);
        assert_eq!(cycles(1, &[add; 8]), [0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(cycles(2, &[add; 7]), [0, 0, 0, 1, 1, 1, 2]);
        assert_eq!(cycles(1, &[add, branch, add, branch, add]), [0, 0, 0, 0, 1]);
        assert_eq!(cycles(2, &[add, branch, add]), [0, 0, 1]);
    }

    #[test]
    fn a_cracked_instruction_is_in_one_group_and_some_are_first_or_alone() {
        let add = operation(Mnemonic::Addi, &[3, 4, 1]);
        let update = operation(Mnemonic::Ldu, &[3, 8, 4]);
        assert_eq!(update.operations, 2);
        assert_eq!(cycles(1, &[add, add, add, add, add, update]), [0, 0, 0, 0, 0, 1]);
        let first = operation(Mnemonic::Crand, &[0, 1, 2]);
        assert_eq!(cycles(1, &[add, first, add]), [0, 1, 1]);
        let alone = operation(Mnemonic::Isync, &[]);
        assert_eq!(cycles(1, &[add, alone, add]), [0, 1, 2]);
    }

    #[test]
    fn as_many_groups_are_in_flight_as_the_table_has() {
        let parameters = parameters();
        let add = operation(Mnemonic::Addi, &[3, 4, 1]);
        for (divisor, in_flight) in [(1, 28), (2, 28), (4, 14), (8, 7)] {
            let share = Share::whole(&parameters, divisor);
            let mut dispatch = Dispatch::new(&parameters, 0);
            let late = Ready::new(1000, Cause::LoadMemory);
            let ready = Ready::new(0, Cause::DispatchWidth);
            let mut at = Vec::new();
            for _ in 0..(in_flight + 1) * share.group[0] {
                let held = dispatch.held(&add, ready, &share);
                let (core, free) = (&parameters.core, CauseSet::default());
                at.push(dispatch.dispatch(&add, held, &mut 0, &share, core, free).at);
                dispatch.complete(&add, late);
            }
            let held: Vec<_> = at.iter().filter(|at| **at >= 1000).collect();
            assert_eq!(held.len() as u64, share.group[0], "{divisor} threads");
        }
    }
}
