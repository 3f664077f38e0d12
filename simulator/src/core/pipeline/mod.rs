//! One hardware thread's pipeline: when each instruction completes, and what that time is charged to.
//!
//! Instructions come one by one, in program order, after they were executed. Each passes fetch, dispatch,
//! issue and completion; for each stage a cycle is found that fits all constraints. Completion is in
//! order, and the gap between two completions is charged to what decided the later one:
//!
//! 1. cycles in which every unit of the class was busy: `issue.port`;
//! 2. if operands decided when it issued: its own latency, and beyond it what made the operand late;
//! 3. if dispatch decided: as many cycles as dispatch came later than that of the instruction before, to
//!    what held it up; the rest to its own latency.
//!
//! With that a cause is charged with what the time would shrink by if it were free, as far as one
//! instruction can know. The charges of an instruction sum up to its gap.

mod special;
mod storage;

use serde::{Deserialize, Serialize};

use super::Context;
use super::class::Class;
use super::dispatch::{Dispatch, Share};
use super::forward::Forwarding;
use super::front_end::FrontEnd;
use super::operation::Operation;
use super::parameters::Parameters;
use super::predictor::{self, History};
use super::ready::{Ready, Reason};
use super::registers::{COUNT, Registers};
use crate::cache::{Kind, LINE_LOG2};
use crate::ledger::{Account, Cause, Owner};
use crate::memory::Offset;
use crate::mmu::Access;
use crate::thread::accesses::Accesses;

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
}

/// A thread's pipeline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pipeline {
    front: FrontEnd,
    dispatch: Dispatch,
    history: History,
    /// When each renamed register's latest value is there.
    registers: Box<[Ready]>,
    /// The cycle of the last completion: up to here the thread is charged.
    completed: u64,
    /// Nothing is dispatched before.
    hold: Ready,
    /// No access to memory is made before.
    order: Ready,
    /// No register that is not renamed is read before, and no access to one begins.
    scoreboard: u64,
    special_unit: u64,
    /// An operation altered the context since the last `isync` or flush.
    is_context_altered: bool,
    /// When the latest broadcast of a `tlbie` is over.
    broadcast: u64,
    /// The last store that drained: when it began, and when it had.
    drain_began: u64,
    drained: u64,
    forwarding: Forwarding,
    /// Physical line of the latest fetch.
    line: u64,
    /// The thread's share of the core, and the epoch that it was computed for.
    share: Share,
    share_epoch: u64,
}

/// No line and no epoch.
const NONE: u64 = u64::MAX;

/// The time from issue to result: the steps of a load, and the unit's own latency.
#[derive(Clone, Copy, Debug)]
struct Latency {
    issued: u64,
    /// When the address is translated, when there is a place for a miss, and when the data is there.
    steps: [Ready; 3],
    /// What the unit takes beyond it.
    own: u64,
    cause: Cause,
}

impl Latency {
    fn finished(&self) -> u64 {
        self.steps[2].at() + self.own
    }

    /// Its parts, what is beyond the ordinary first.
    fn parts(&self) -> [(Reason, u64); 4] {
        let [translated, queued, data] = self.steps;
        [
            (translated.reason(), translated.at() - self.issued),
            (queued.reason(), queued.at() - translated.at()),
            (data.reason(), data.at() - queued.at()),
            (self.cause.into(), self.own),
        ]
    }

    /// What decided it: the longest part.
    fn reason(&self) -> Reason {
        if self.steps[2].at() == self.issued {
            return self.cause.into();
        }
        let longest = self.parts().into_iter().rev().max_by_key(|(_, cycles)| *cycles);
        longest.expect("there are parts").0
    }
}

impl Pipeline {
    /// An empty pipeline at cycle `now`.
    #[must_use]
    pub fn new(parameters: &Parameters, now: u64) -> Self {
        let nothing = Ready::new(now, Cause::DispatchWidth);
        Self {
            front: FrontEnd::new(&parameters.core, now),
            dispatch: Dispatch::new(&parameters.core, now),
            history: History::default(),
            registers: vec![nothing; COUNT].into(),
            completed: now,
            hold: nothing,
            order: nothing,
            scoreboard: now,
            special_unit: now,
            is_context_altered: false,
            broadcast: now,
            drain_began: now,
            drained: now,
            forwarding: Forwarding::default(),
            line: NONE,
            share: Share::whole(&parameters.core, 1),
            share_epoch: NONE,
        }
    }

    /// The cycle up to which the thread is charged.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Passes an instruction through the pipeline and charges what it took to `account`. Gives the cycle
    /// at which it completes.
    pub fn complete(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        account: Account,
    ) -> u64 {
        let Executed { operation, .. } = *executed;
        let free = context.free;
        self.share(context);
        let fetched = self.front.at_hand(executed.address).unwrap_or_default();
        let mut ready = self.hold.later(fetched);
        if operation.waits_to_be_next && !free.contains(operation.cause) {
            ready = ready.later(Ready::new(self.completed, operation.cause));
        }
        let before = self.dispatch.last();
        let parameters = &context.parameters.core;
        let dispatched = self.dispatch.dispatch(operation, ready, &self.share, parameters, free);
        if let [_, _, ..] = context.core.members[..] {
            let own = &mut context.core.members[context.member];
            own.dispatched(dispatched.at(), operation.operations);
        }

        let operands = self.operands(context, operation);
        let bound = dispatched.later(operands);
        let mut issued = context.core.ports.take(operation.port, bound.at());
        if is_divide(operation.class) {
            let busy = free.cost(Cause::IssuePort, parameters.divider_busy);
            issued = context.core.ports.take_divider(issued, busy);
        }
        let issued = if free.contains(Cause::IssuePort) { bound.at() } else { issued };
        let latency = self.latency(context, executed, issued);
        let finished = latency.finished();
        let completed = finished.max(self.completed);

        let gap = completed - self.completed;
        if gap > 0 {
            let mut charge = |reason: Reason, cycles: u64| {
                context.charges.charge(
                    context.thread.index,
                    account,
                    reason.cause(),
                    reason.is_refill(),
                    cycles,
                );
            };
            let mut left = gap;
            let mut part = |reason: Reason, cycles: u64| {
                let cycles = cycles.min(left);
                left -= cycles;
                charge(reason, cycles);
            };
            part(Cause::IssuePort.into(), issued - bound.at());
            if operands.at() <= dispatched.at() {
                part(dispatched.reason(), dispatched.at().saturating_sub(before));
            }
            for (reason, cycles) in latency.parts() {
                part(reason, cycles);
            }
            part(bound.reason(), u64::MAX);
        }
        self.completed = completed;
        self.dispatch.complete(operation, completed);
        self.finish(context, executed, issued, finished, latency.reason());
        self.go_on(context, executed, issued);
        completed
    }

    /// Brings the thread's share of the core up to date.
    fn share(&mut self, context: &Context<'_>) {
        let epoch = self.dispatch.last() / super::sharing::EPOCH;
        if epoch != self.share_epoch {
            self.share_epoch = epoch;
            let parameters = &context.parameters.core;
            let cycle = self.dispatch.last();
            self.share = context.core.share(context.member, cycle, parameters, context.free);
        }
    }

    /// The core's SMT mode changes, which takes `cycles`.
    pub fn change_mode(&mut self, cycles: u64) {
        self.hold = self.hold.later(Ready::new(self.completed + cycles, Cause::WaitMode));
        self.forget_share();
    }

    /// The share is no longer what it was: the mode or a priority changed.
    fn forget_share(&mut self) {
        self.share_epoch = NONE;
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
        if line != self.line {
            self.line = line;
            let translated = context.translate(address, Access::Fetch, there.at(), owner);
            there = there.later(translated);
            let answer = context.access(Kind::Fetch, line, address, there.at(), owner);
            there = there.later(answer);
        }
        self.front.arrive(address, there);
    }

    /// When everything is there that the instruction needs, beside its place in the window.
    fn operands(&self, context: &Context<'_>, operation: &Operation) -> Ready {
        let mut ready = Ready::default();
        for register in operation.effects.sources {
            ready = ready.later(self.registers[register]);
        }
        if operation.class == Class::Branch {
            let extra = context.parameters.latency.condition_to_branch;
            let extra = context.free.cost(Cause::LatencyCondition, extra);
            for register in operation.effects.sources.and(Registers::CONDITION) {
                ready = ready.later(self.registers[register].after(extra));
            }
        }
        if operation.is_plain {
            return ready;
        }
        self.special_constraints(context, operation, ready)
    }

    /// How long the instruction takes from its issue on.
    fn latency(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: u64,
    ) -> Latency {
        let Operation { class, cause, latency: own, .. } = *executed.operation;
        let steps = [Ready::new(issued, cause); 3];
        let mut latency = Latency { issued, steps, own, cause };
        if executed.operation.is_plain {
            return latency;
        }
        if class == Class::Isync && self.is_context_altered {
            latency.own = context.free.cost(cause, context.parameters.special.isync);
        }
        if class.is_load() {
            for access in executed.accesses.list().iter().filter(|access| !access.is_store) {
                let steps = self.load(context, executed.owner, access, issued);
                if steps[2].at() > latency.steps[2].at() {
                    latency.steps = steps;
                }
            }
        }
        latency
    }

    /// What an instruction leaves for those behind it.
    fn finish(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: u64,
        finished: u64,
        reason: Reason,
    ) {
        let Executed { operation, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        for register in operation.effects.targets {
            self.registers[register] = Ready::new(finished, reason);
        }
        if !operation.effects.base.is_empty() {
            let at = issued + free.cost(Cause::LatencyFixed, parameters.latency.fixed);
            for register in operation.effects.base {
                self.registers[register] = Ready::new(at, Cause::LatencyFixed);
            }
        }
        if operation.carries {
            let cycles = free.cost(Cause::LatencyFixed, parameters.latency.carry);
            for register in Registers::CARRY {
                self.registers[register] = Ready::new(issued + cycles, Cause::LatencyFixed);
            }
        }
        if !operation.is_plain {
            self.special_effects(context, executed, finished);
        }
    }

    /// Where fetch goes on.
    fn go_on(&mut self, context: &mut Context<'_>, executed: &Executed<'_>, issued: u64) {
        let Executed { operation, address, taken_to, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        let Some(kind) = operation.branch else {
            if taken_to.is_some() {
                self.flush(operation.cause);
            }
            return;
        };
        let entries = (parameters.core.link_stack / self.share.divisor) as usize;
        let tables = &mut context.core.tables;
        let history = &mut self.history;
        let is_right = tables.predict(history, kind, address, taken_to, operation.is_call, entries);
        if !is_right && !free.contains(Cause::FetchMispredict) {
            let at = issued + parameters.core.mispredict;
            self.front.redirect(Ready::new(at, Cause::FetchMispredict));
        } else if let Some(target) = taken_to {
            let is_indirect = matches!(kind, predictor::Kind::Indirect { .. });
            let has_target_cache = self.share.divisor == 1 && !is_indirect;
            self.front.taken(address, target, has_target_cache, &parameters.core, free);
        }
    }

    /// Everything behind the last completed instruction is fetched anew.
    fn flush(&mut self, cause: Cause) {
        let now = Ready::new(self.completed, cause);
        self.dispatch.drain(self.completed);
        self.front.redirect(now);
        self.hold = self.hold.later(now);
        self.is_context_altered = false;
    }

    /// The thread goes on at cycle `now`, with an empty pipeline: it took an interrupt or waited. Gives the
    /// cycles that passed.
    pub fn wait(&mut self, now: u64, cause: Cause) -> u64 {
        let cycles = now.saturating_sub(self.completed);
        self.completed += cycles;
        self.flush(cause);
        cycles
    }
}

fn is_divide(class: Class) -> bool {
    matches!(class, Class::DivideWord | Class::DivideDoubleword | Class::DivideExtended)
}
