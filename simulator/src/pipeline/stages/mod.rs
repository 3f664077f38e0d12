//! One hardware thread's pipeline: when each instruction completes, and what that time is charged to.
//!
//! Instructions come one by one, in program order, after they were executed. Each passes fetch, dispatch,
//! issue and completion; for each stage a cycle is found that fits all constraints. Completion is in
//! order. What the time is charged to, [`super::chain`] says.
//!
//! Here is the way of every instruction; `fetch` and `dispatch` are its first two stages, `storage` and `special`
//! what loads, stores and registers that are not renamed add.

mod dispatch;
mod fetch;
mod special;
mod storage;

use serde::{Deserialize, Serialize};

use super::Context;
use super::chain::Chain;
use super::class::Class;
use super::dispatch::{Dispatch, Share};
use super::forward::Forwarding;
use super::front_end::FrontEnd;
use super::operation::Operation;
use super::parameters::Parameters;
use super::predictor::History;
use super::ready::Ready;
use super::registers::{Registers, UNREAD, UNWRITTEN, Walk};
use crate::ledger::callers::Caller;
use crate::ledger::{Account, Cause, Charges, Owner};
use crate::state::thread::accesses::Accesses;

/// An instruction that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// As the pipeline sees it.
    pub operation: &'a Operation,
    /// Its effective address.
    pub address: u64,
    /// Where it went, if not to the next instruction.
    pub taken_to: Option<u64>,
    /// What it did to memory and to translations.
    pub accesses: &'a Accesses,
    /// Who executed it.
    pub owner: Owner,
    /// Its account.
    pub account: Account,
}

/// A thread's pipeline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pipeline {
    front: FrontEnd,
    dispatch: Dispatch,
    history: History,
    /// When each renamed register's latest value is there.
    registers: Box<[Ready]>,
    chain: Chain,
    /// The last completion.
    completed: Ready,
    /// Nothing is dispatched before.
    hold: Ready,
    /// No access to memory is made before.
    order: Ready,
    /// The last write of a register that is not renamed, and the last access to one.
    scoreboard: Ready,
    special_unit: Ready,
    /// An operation altered the context since the last `isync` or flush.
    is_context_altered: bool,
    /// When the latest broadcast of a `tlbie` is over.
    broadcast: Ready,
    /// The last store that drained: when it began, and when it had.
    drain_began: u64,
    drained: Ready,
    forwarding: Forwarding,
    /// Physical line of the latest fetch.
    line: u64,
    /// The thread's share of the core, and of which version of what it depends on.
    share: Share,
    share_version: u64,
    /// The superslice and the part of the issue queue that are its own; `None` if it has all.
    superslice: Option<usize>,
    part: Option<usize>,
    /// Who called the function that the thread is in, where the ledger knows that.
    pub caller: Caller,
    /// Branches that went another way than was predicted.
    pub mispredictions: u64,
}

/// No line.
const NONE: u64 = u64::MAX;

impl Pipeline {
    /// An empty pipeline of hardware thread `thread` at cycle `now`.
    #[must_use]
    pub fn new(parameters: &Parameters, thread: usize, now: u64) -> Self {
        let nothing = Ready::new(now, Cause::DispatchWidth);
        let mut registers = vec![nothing; UNWRITTEN + 1];
        registers[UNREAD] = Ready::default();
        Self {
            front: FrontEnd::new(&parameters.core, now),
            dispatch: Dispatch::new(parameters, now),
            history: History::default(),
            registers: registers.into(),
            chain: Chain::new(thread, parameters.core.window, now),
            completed: nothing,
            hold: nothing,
            order: nothing,
            scoreboard: Ready::default(),
            special_unit: nothing,
            is_context_altered: false,
            broadcast: nothing,
            drain_began: now,
            drained: nothing,
            forwarding: Forwarding::default(),
            line: NONE,
            share: Share::whole(parameters, 1),
            share_version: 0,
            superslice: None,
            part: None,
            caller: Caller::default(),
            mispredictions: 0,
        }
    }

    /// The cycle of the last completion.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed.at()
    }

    /// Passes an instruction through the pipeline, and charges what is known by then. Gives the cycle at which
    /// it completes.
    pub fn complete(&mut self, context: &mut Context<'_>, executed: &Executed<'_>) -> u64 {
        let Executed { operation, account, .. } = *executed;
        let free = context.free;
        let dispatched = self.dispatch(context, executed);
        let bound = Ready::new(dispatched.at, Cause::DispatchWidth);
        let bound = bound.later(self.operands(context, executed));
        let (mut issued, mut more) = (bound, 0);
        if !operation.units.is_none() {
            let member = context.member;
            let Operation { units, engine, .. } = *operation;
            let at;
            (at, more) = context.core.ports.issue(units, engine, self.superslice, bound.at());
            let at = free.cost(Cause::IssuePort, at).max(bound.at());
            issued = self.chain.step(bound, at, Cause::IssuePort, account);
            let entries = operation.operations.min(context.parameters.core.cracked);
            context.core.queues.of(units, self.part).take(member, dispatched.at, entries, issued);
        }
        let finished = self.execute(context, executed, issued, more);
        if finished.at() > self.completed.at() {
            self.completed = finished;
        }
        self.dispatch.complete(operation, self.completed);
        self.finish(context, executed, issued, finished);
        self.go_on(context, executed, issued);
        self.completed.at()
    }

    /// Charges what passed up to the last completion.
    pub fn charge_completed(&mut self, charges: &mut Charges) {
        self.chain.charge_chain(charges, self.completed, Account::default());
    }

    /// How many cycles up to the last completion are not charged yet.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.completed.at() - self.chain.charged()
    }

    /// Charges those, and leaves them to be charged again.
    pub fn charge_pending(&self, charges: &mut Charges) {
        self.chain.charge_pending(charges, self.completed, Account::default());
    }

    /// The core's SMT mode changes, which takes `cycles` that `account` is charged with.
    pub fn change_mode(&mut self, cycles: u64, account: Account) {
        let completed = self.completed;
        let changed = self.chain.step(completed, completed.at() + cycles, Cause::WaitMode, account);
        self.hold = self.hold.later(changed);
    }

    /// When everything is there that the instruction needs, beside its place in the window.
    fn operands(&mut self, context: &Context<'_>, executed: &Executed<'_>) -> Ready {
        let Executed { operation, account, .. } = *executed;
        let mut ready = Ready::default();
        match operation.sources {
            Walk::Few(few) => {
                for register in few {
                    ready = ready.later(self.registers[usize::from(register)]);
                }
            }
            Walk::Many(many) => {
                for register in many {
                    ready = ready.later(self.registers[register]);
                }
            }
        }
        if operation.class == Class::Branch {
            let extra = context.parameters.latency.condition_to_branch;
            let extra = context.free.cost(Cause::LatencyCondition, extra);
            for register in operation.effects.sources.and(Registers::CONDITION) {
                let condition = self.registers[register];
                let at = condition.at() + extra;
                if at > ready.at() {
                    ready = self.chain.step(condition, at, Cause::LatencyCondition, account);
                }
            }
        }
        if operation.is_plain {
            return ready;
        }
        let to_address =
            context.free.cost(Cause::LatencyFixed, context.parameters.groups.to_address);
        if operation.operand.is_some() && to_address > 0 {
            ready = self.wait_for_address(operation, ready, to_address, account);
        }
        self.special_constraints(context, executed, ready)
    }

    /// What makes an address or a store's data of a fixed-point result waits `more` cycles longer than `ready`.
    fn wait_for_address(
        &mut self,
        operation: &Operation,
        mut ready: Ready,
        more: u64,
        account: Account,
    ) -> Ready {
        for register in operation.effects.sources {
            let result = self.registers[register];
            let is_fixed =
                matches!(result.reason().cause(), Cause::LatencyFixed | Cause::LatencyMultiply);
            if is_fixed && result.at() + more > ready.at() {
                ready = self.chain.step(result, result.at() + more, Cause::LatencyFixed, account);
            }
        }
        ready
    }

    /// When the result of an instruction is there that was issued when `issued` says, and whose unit takes `more`
    /// cycles than others.
    fn execute(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: Ready,
        more: u64,
    ) -> Ready {
        let Operation { class, cause, latency: mut own, .. } = *executed.operation;
        own += context.free.cost(cause, more);
        let mut loaded = issued;
        if !executed.operation.is_plain {
            if class == Class::Isync && self.is_context_altered {
                own = context.free.cost(cause, context.parameters.special.isync);
            }
            if class.is_load() {
                for access in executed.accesses.list().iter().filter(|access| !access.is_store) {
                    loaded = loaded.later(self.load(context, executed, access, issued));
                }
            } else if class.is_touch() {
                loaded = self.touch(context, executed, issued);
            }
        }
        self.chain.step(loaded, loaded.at() + own, cause, executed.account)
    }

    /// What an instruction leaves for those behind it.
    fn finish(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: Ready,
        finished: Ready,
    ) {
        let Executed { operation, account, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        match operation.targets {
            Walk::Few(few) => {
                for register in few {
                    self.registers[usize::from(register)] = finished;
                }
            }
            Walk::Many(many) => {
                for register in many {
                    self.registers[register] = finished;
                }
            }
        }
        if !operation.effects.base.is_empty() {
            let at = issued.at() + free.cost(Cause::LatencyFixed, parameters.latency.fixed);
            let updated = self.chain.step(issued, at, Cause::LatencyFixed, account);
            for register in operation.effects.base {
                self.registers[register] = updated;
            }
        }
        if operation.carries {
            let at = issued.at() + free.cost(Cause::LatencyFixed, parameters.latency.carry);
            let carried = self.chain.step(issued, at, Cause::LatencyFixed, account);
            for register in Registers::CARRY {
                self.registers[register] = carried;
            }
        }
        if operation.compares && parameters.latency.compare > 0 {
            let at = issued.at() + free.cost(Cause::LatencyCondition, parameters.latency.compare);
            let compared = self.chain.step(issued, at, Cause::LatencyCondition, account);
            for register in operation.effects.targets.and(Registers::CONDITION) {
                self.registers[register] = compared;
            }
        }
        if !operation.is_plain {
            self.special_effects(context, executed, finished);
        }
    }

    /// Everything behind the last completed instruction is fetched anew.
    fn flush(&mut self) {
        self.dispatch.drain(self.completed.at());
        self.front.redirect(self.completed, self.dispatch.last());
        self.hold = self.hold.later(self.completed);
        self.is_context_altered = false;
    }

    /// The thread goes on at cycle `now`, with an empty pipeline: it took an interrupt or waited. Charges what
    /// passed since the last completion to `account`.
    pub fn wait(&mut self, charges: &mut Charges, now: u64, cause: Cause, account: Account) {
        self.charge_completed(charges);
        if now > self.completed.at() {
            self.chain.charge(charges, now, cause, account);
            self.completed = Ready::new(now, cause);
        }
        self.flush();
    }
}
