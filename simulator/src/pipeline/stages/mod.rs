//! One hardware thread's pipeline: when each instruction completes, and what that time is charged to.
//!
//! Instructions come one by one, in program order, after they were executed. Each passes fetch, dispatch,
//! issue and completion; for each stage a cycle is found that fits all constraints. Completion is in
//! order. What the time is charged to, [`super::chain`] says.

mod special;
mod storage;

use serde::{Deserialize, Serialize};

use super::Context;
use super::chain::Chain;
use super::class::Class;
use super::dispatch::{Dispatch, Dispatched, PARTS, Share};
use super::forward::Forwarding;
use super::front_end::FrontEnd;
use super::operation::Operation;
use super::parameters::Parameters;
use super::predictor::{self, History, Prediction};
use super::ready::Ready;
use super::registers::{Registers, UNREAD, UNWRITTEN, Walk};
use crate::cache::{Kind, LINE_LOG2};
use crate::ledger::{Account, Cause, Charges, Owner};
use crate::mmu::Access;
use crate::state::memory::Offset;
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
            dispatch: Dispatch::new(&parameters.core, now),
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
            share: Share::whole(&parameters.core, 1),
            share_version: 0,
            superslice: None,
            part: None,
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
        let mut issued = bound;
        if !operation.units.is_none() {
            let member = context.member;
            let Operation { units, engine, .. } = *operation;
            let at = context.core.ports.issue(units, engine, self.superslice, bound.at());
            let at = free.cost(Cause::IssuePort, at).max(bound.at());
            issued = self.chain.step(bound, at, Cause::IssuePort, account);
            let entries = operation.operations.min(context.parameters.core.cracked);
            context.core.queues.of(units, self.part).take(member, dispatched.at, entries, issued);
        }
        let finished = self.execute(context, executed, issued);
        if finished.at() > self.completed.at() {
            self.completed = finished;
        }
        self.dispatch.complete(operation, self.completed);
        self.finish(context, executed, issued, finished);
        self.go_on(context, executed, issued);
        self.completed.at()
    }

    /// When an instruction can be dispatched, as far as it is for the thread itself.
    fn held(&self, operation: &Operation, address: u64) -> Ready {
        let fetched = self.front.at_hand(address).unwrap_or_default();
        let mut ready = self.hold.later(fetched);
        if operation.waits_to_be_next {
            ready = ready.later(self.completed);
        }
        self.dispatch.held(operation, ready, &self.share)
    }

    /// The cycle before which the instruction that is about to execute cannot be dispatched, whatever other threads
    /// do; it has been fetched.
    pub fn place(&mut self, context: &Context<'_>, operation: &Operation) -> u64 {
        self.share(context);
        let held = self.held(operation, context.thread.cia);
        let special = self.special_hold(context, operation).map_or(0, |(_, at, _)| at);
        held.at().max(special).max(self.dispatch.own_slot())
    }

    /// Dispatches an instruction.
    fn dispatch(&mut self, context: &mut Context<'_>, executed: &Executed<'_>) -> Dispatched {
        let Executed { operation, account, .. } = *executed;
        let Context { free, member, .. } = *context;
        self.share(context);
        let mut held = self.held(operation, executed.address);
        if !operation.is_plain
            && let Some((from, at, cause)) = self.special_hold(context, operation)
        {
            held = held.later(self.chain.step(from, at, cause, account));
        }
        if !operation.units.is_none() && !free.contains(Cause::DispatchQueue) {
            let at = held.at().max(self.dispatch.own_slot());
            let queue = context.core.queues.of(operation.units, self.part);
            held = held.later(queue.room(member, at));
        }
        let parameters = &context.parameters.core;
        let reason = context.core.reason(member);
        let is_shared = context.core.is_shared();
        let mut none = 0;
        let slots = if is_shared && !free.contains(reason) {
            context.core.slots(member)
        } else {
            &mut none
        };
        let dispatched =
            self.dispatch.dispatch(operation, held, slots, &self.share, parameters, free);
        if is_shared {
            context.core.served(member, dispatched.at, operation.operations, parameters);
        }
        if dispatched.at > self.chain.charged() {
            self.charge(context.charges, dispatched, reason, account);
        }
        dispatched
    }

    /// Charges the time up to the dispatch of an instruction: to work as far as slots alone decided, to what
    /// held it up beyond that, to its siblings by `reason`, and to its parts.
    fn charge(
        &mut self,
        charges: &mut Charges,
        dispatched: Dispatched,
        reason: Cause,
        account: Account,
    ) {
        let Dispatched { slot, held, shared, at } = dispatched;
        self.chain.charge(charges, (slot / PARTS).min(at), self.share.cause, account);
        self.chain.charge_chain(charges, held, account);
        self.chain.charge(charges, (shared / PARTS).min(at), reason, account);
        self.chain.charge(charges, at, Cause::DispatchMicrocode, account);
    }

    /// Charges what passed up to the last completion.
    pub fn settle(&mut self, charges: &mut Charges) {
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

    /// Brings the thread's share of the core up to date.
    fn share(&mut self, context: &Context<'_>) {
        if self.share_version != context.core.version() {
            self.share_version = context.core.version();
            let parameters = &context.parameters.core;
            self.share = context.core.share(context.member, parameters, context.free);
            self.superslice = context.core.superslice(context.member);
            self.part = context.core.part(context.member);
        }
    }

    /// The core's SMT mode changes, which takes `cycles` that `account` is charged with.
    pub fn change_mode(&mut self, cycles: u64, account: Account) {
        let completed = self.completed;
        let changed = self.chain.step(completed, completed.at() + cycles, Cause::WaitMode, account);
        self.hold = self.hold.later(changed);
    }

    /// Whether the instruction at `address` is in the block at hand.
    #[inline]
    #[must_use]
    pub fn has_fetched(&self, address: u64) -> bool {
        self.front.at_hand(address).is_some()
    }

    /// Fetches the block of the instruction that the thread is about to execute, which lies at `offset`.
    pub fn fetch(&mut self, context: &mut Context<'_>, offset: Offset, owner: Owner) {
        let address = context.thread.cia;
        let mut there = self.front.begin(self.dispatch.last(), self.share.blocks);
        let line = (offset >> LINE_LOG2) as u64;
        if context.core.is_shared() {
            let at = context.core.ports.fetch(there.at());
            there = Ready::new(at, Cause::DispatchShare).later(there);
        }
        if line != self.line {
            self.line = line;
            let translated = context.translate(address, Access::Fetch, there.at(), owner);
            there = self.fetch_step(context, owner, there, translated);
            let answer = context.access(Kind::Fetch, line, address, there.at(), owner);
            there = self.fetch_step(context, owner, there, answer);
        }
        self.front.arrive(address, there);
    }

    /// The step of a fetch from `from` to `to`.
    fn fetch_step(
        &mut self,
        context: &mut Context<'_>,
        owner: Owner,
        from: Ready,
        to: Ready,
    ) -> Ready {
        if to.at() <= from.at() {
            return from;
        }
        let account = context.charges.account(owner, context.thread.cia);
        self.chain.step(from, to.at(), to.reason(), account)
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
        self.special_constraints(context, executed, ready)
    }

    /// When the result of an instruction is there that was issued when `issued` says.
    fn execute(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: Ready,
    ) -> Ready {
        let Operation { class, cause, latency: mut own, .. } = *executed.operation;
        let mut loaded = issued;
        if !executed.operation.is_plain {
            if class == Class::Isync && self.is_context_altered {
                own = context.free.cost(cause, context.parameters.special.isync);
            }
            if class.is_load() {
                for access in executed.accesses.list().iter().filter(|access| !access.is_store) {
                    loaded = loaded.later(self.load(context, executed, access, issued));
                }
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
        if !operation.is_plain {
            self.special_effects(context, executed, finished);
        }
    }

    /// Where fetch goes on.
    fn go_on(&mut self, context: &mut Context<'_>, executed: &Executed<'_>, issued: Ready) {
        let Executed { operation, address, taken_to, account, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        let Some(kind) = operation.branch else {
            if taken_to.is_some() {
                self.flush();
            }
            return;
        };
        let entries = (parameters.core.link_stack / self.share.divisor) as usize;
        let tables = &mut context.core.tables;
        let history = &mut self.history;
        let predicted =
            tables.predict(history, kind, address, taken_to, operation.is_call, entries);
        let core = &parameters.core;
        let dispatched = self.dispatch.last();
        // The branch target cache helps a thread that has the core for itself, and says what was last.
        let has_targets = self.share.divisor == 1;
        if predicted == Prediction::Wrong && !free.contains(Cause::FetchMispredict) {
            let at = issued.at() + core.mispredict;
            let refilled = self.chain.step(issued, at, Cause::FetchMispredict, account);
            self.front.redirect(refilled, dispatched);
        } else if taken_to.is_some() {
            let latency = match kind {
                predictor::Kind::Return { .. } => core.taken_return,
                predictor::Kind::Indirect { .. } => core.taken_branch_shared,
                _ if has_targets && predicted == Prediction::AsLast => core.taken_branch,
                _ => core.taken_branch_shared,
            };
            self.front.taken(latency, dispatched, free);
        } else if has_targets && predicted == Prediction::Right {
            self.front.taken(core.taken_branch_shared, dispatched, free);
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
        self.settle(charges);
        if now > self.completed.at() {
            self.chain.charge(charges, now, cause, account);
            self.completed = Ready::new(now, cause);
        }
        self.flush();
    }
}
