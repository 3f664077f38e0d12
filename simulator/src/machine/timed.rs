//! Timing mode: starting and stopping it, whose turn it is, and execution one instruction at a time.
//!
//! A thread has a turn: it goes on until it is [`Settings::quantum`] cycles ahead of the one that is
//! furthest behind, or until what it does next must come behind what others do. The turn is part of the
//! state, so where somebody stops the machine to look makes no difference.

use arch::marker::Mark;

use super::Machine;
use super::run::{Leave, completes, find_block, has_returned, next_at};
use crate::blocks::Block;
use crate::core::block::{TimedBlock, TimedBlocks};
use crate::core::pipeline::Executed;
use crate::core::{Plan, Settings, Timing, Turn};
use crate::exec::{Flow, Mode};
use crate::ledger::Charges;
use crate::shared::Shared;
use crate::state::State;
use crate::thread::Thread;
use crate::trace::Observer;

impl Machine {
    /// Goes on in timing mode, with empty caches and pipelines and an empty ledger.
    pub fn start_timing(&mut self, settings: Settings) {
        let State { description, threads, shared, timing, .. } = &mut self.state;
        *timing = Some(Box::new(Timing::new(description, shared.firmware, threads, settings)));
        self.operations = TimedBlocks::default();
    }

    /// Goes on in functional mode. The ledger stays as it is.
    pub fn stop_timing(&mut self) {
        let State { threads, timing, timed, .. } = &mut self.state;
        if let Some(mut model) = timing.take() {
            model.look(threads);
            model.check(threads);
            *timed = Some(model);
        }
        self.operations = TimedBlocks::default();
    }

    /// Does `plan` whenever `mark` is passed.
    pub fn plan(&mut self, mark: Mark, plan: Plan) {
        self.state.plans.push((mark, plan));
    }

    /// The timing model, in timing mode; after it, as it was when that was last left.
    #[must_use]
    pub fn timing(&self) -> Option<&Timing> {
        self.state.timing.as_deref().or(self.state.timed.as_deref())
    }

    /// The ledger, if the machine is or was in timing mode.
    #[must_use]
    pub fn charges(&self) -> Option<Charges> {
        self.timing().map(Timing::charges)
    }

    /// Forgets all charges; the caches stay as they are.
    pub fn clear_charges(&mut self) {
        let State { threads, timing, .. } = &mut self.state;
        if let Some(timing) = timing {
            timing.look(threads);
            timing.clear(threads);
        }
    }

    /// A thread passed `mark`.
    pub(super) fn pass_mark(&mut self, mark: Mark) {
        for (_, plan) in self.state.plans.clone().into_iter().filter(|(at, _)| *at == mark) {
            match plan {
                Plan::Start(settings) => self.start_timing(settings),
                Plan::Clear => self.clear_charges(),
                Plan::Stop => self.stop_timing(),
            }
        }
    }

    /// Whose turn it is.
    pub(super) fn next_turn(&mut self) -> Option<usize> {
        let State { threads, timing, .. } = &mut self.state;
        let timing = timing.as_mut()?;
        if let Some(Turn { thread, until, .. }) = timing.turn
            && next_at(&threads[thread]).is_some_and(|at| at < until)
        {
            return Some(thread);
        }
        let waiting = |thread: &Thread| Some((next_at(thread)?, thread.index));
        let (_, thread) = threads.iter().filter_map(waiting).min()?;
        let others = threads.iter().filter(|other| other.index != thread).filter_map(next_at).min();
        let others = others.unwrap_or(u64::MAX);
        let until = others.saturating_add(timing.settings().quantum);
        timing.turn = Some(Turn { thread, until, others });
        Some(thread)
    }

    /// Executes block after block until `deadline` in the thread's time, until it has made `limit` steps,
    /// or until something leaves the state that was entered.
    pub(super) fn timed_blocks<O: Observer>(
        &mut self,
        index: usize,
        deadline: u64,
        limit: u64,
        observer: &mut O,
    ) -> Leave {
        let mode = Mode::of(&self.state.threads[index]);
        loop {
            let State { threads, shared, .. } = &mut self.state;
            let thread = &mut threads[index];
            thread.cia = thread.nia;
            thread.run_start = thread.nia;
            let Ok(number) = find_block(thread, shared, &mut self.blocks, mode) else {
                return Leave::Trap;
            };
            let leave = self.timed_block(index, number, deadline, limit, mode, observer);
            let thread = &self.state.threads[index];
            let is_over = thread.time.cycles() >= deadline || thread.steps() >= limit;
            if leave != Leave::Straight || is_over {
                return leave;
            }
        }
    }

    /// Executes one block.
    pub(super) fn timed_block<O: Observer>(
        &mut self,
        index: usize,
        number: u32,
        deadline: u64,
        limit: u64,
        mode: Mode,
        observer: &mut O,
    ) -> Leave {
        let State { threads, shared, timing, .. } = &mut self.state;
        let timing = timing.as_mut().expect("timing mode has a model");
        let thread = &mut threads[index];
        let owner = timing.owner(thread);
        let (parameters, free) = (timing.parameters(), timing.settings().free);
        let (blocks, address) = (&self.blocks, thread.nia);
        let timed = self.operations.get(blocks, number, owner, address, parameters, free);
        let mut run = Run { thread, shared, timing, block: blocks.get(number), timed };
        let leave = run.execute(deadline, limit, mode, observer);
        if leave == Leave::Turn {
            timing.turn = None;
        }
        leave
    }
}

/// A block on a thread.
struct Run<'a> {
    thread: &'a mut Thread,
    shared: &'a mut Shared,
    timing: &'a mut Timing,
    block: &'a Block,
    timed: &'a mut TimedBlock,
}

impl Run<'_> {
    fn execute<O: Observer>(
        &mut self,
        deadline: u64,
        limit: u64,
        mode: Mode,
        observer: &mut O,
    ) -> Leave {
        for (index, op) in self.block.ops.iter().enumerate() {
            if self.timed.operations[index].orders_threads && self.timing.must_wait(self.thread) {
                return Leave::Turn;
            }
            let Self { thread, shared, timing, block, timed } = self;
            timing.fetch(thread, shared, block.offset(index), timed.owner());
            thread.accesses.clear();
            let outcome = (op.handler)(self.thread, self.shared, op.word);
            if !completes(self.thread, outcome) {
                self.thread.contain(op.word);
                return Leave::Trap;
            }
            if O::SEES_INSTRUCTIONS {
                observer.completed(self.thread, op, mode);
            }
            if has_returned(op, outcome, true) {
                observer.returned(self.thread, self.shared, mode);
            }
            self.complete(index, outcome.ok());
            let leave = match outcome {
                Ok(Flow::Next) => None,
                Ok(Flow::Branch) => Some(Leave::Straight),
                Ok(Flow::Synchronize | Flow::Return) => Some(Leave::Synchronize),
                Err(_) => Some(Leave::Trap),
            };
            if let Some(leave) = leave {
                return leave;
            }
            if self.timing.turn.is_none() {
                return Leave::Turn;
            }
            if self.thread.time.cycles() >= deadline || self.thread.steps() >= limit {
                break;
            }
        }
        Leave::Straight
    }

    /// Completes instruction `index` of the block, which handed over by `flow`, or to an interrupt.
    fn complete(&mut self, index: usize, flow: Option<Flow>) {
        let Self { thread, shared, timing, timed, .. } = self;
        let owner = timed.owner();
        let account =
            *timed.accounts[index].get_or_insert_with(|| timing.account(owner, thread.cia));
        let taken_to = matches!(flow, Some(Flow::Branch | Flow::Return)).then_some(thread.nia);
        let executed = Executed {
            operation: &timed.operations[index],
            address: thread.cia,
            taken_to,
            accesses: &thread.accesses,
            owner,
            account,
        };
        let cycle = timing.complete(thread, shared, &executed);
        thread.time.charge_completion(cycle);
        thread.completed += 1;
        if matches!(flow, Some(Flow::Next | Flow::Synchronize)) {
            thread.cia = thread.cia.wrapping_add(4);
            thread.nia = thread.effective(thread.cia).0;
        }
        thread.run_start = thread.cia;
    }
}
