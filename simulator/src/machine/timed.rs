//! Timing mode: starting and stopping it, whose turn it is, and execution one instruction at a time.
//!
//! A thread has a turn: it goes on until it is [`Settings::quantum`] cycles ahead of the one that is
//! furthest behind, or until what it does next must come behind what others do. The turn is part of the
//! state, so where somebody stops the machine to look makes no difference.

use arch::instruction::Word;
use arch::marker::Mark;

use super::execution::{Stretch, StretchEnd, completes, find_block, has_returned, next_at};
use super::{Machine, step};
use crate::blocks::Block;
use crate::exec::{Flow, Mode};
use crate::interrupt;
use crate::ledger::Charges;
use crate::machine::state::State;
use crate::pipeline::block::{TimedBlock, TimedBlocks};
use crate::pipeline::stages::Executed;
use crate::pipeline::{Plan, Settings, Timing, Turn};
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::state::thread::{Activity, Thread};
use crate::trace::Observer;

impl Machine {
    /// Goes on in timing mode, with empty caches and pipelines and an empty ledger.
    ///
    /// # Panics
    /// If there is no timing model of the processor: ask [`Description::timing`](crate::Description::timing).
    pub fn start_timing(&mut self, settings: Settings) {
        let State { description, threads, shared, timing, .. } = &mut self.state;
        if let Some(before) = timing {
            forget_occurrences(threads, before);
        }
        shared.is_timed = true;
        *timing = Some(Box::new(Timing::new(description, shared.firmware, threads, settings)));
        self.operations = TimedBlocks::default();
    }

    /// Goes on in functional mode. The ledger stays as it is.
    pub fn stop_timing(&mut self) {
        let State { threads, shared, timing, timed, .. } = &mut self.state;
        if let Some(mut model) = timing.take() {
            forget_occurrences(threads, &model);
            shared.is_timed = false;
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

    /// From here on what `thread` is charged with belongs to the region too. Where a thread is not in timing mode there
    /// is no account.
    pub fn open_region(&mut self, thread: usize) {
        self.set_region(thread, true);
    }

    /// From here on what `thread` is charged with does not belong to the region.
    pub fn close_region(&mut self, thread: usize) {
        self.set_region(thread, false);
    }

    fn set_region(&mut self, thread: usize, is_open: bool) {
        let State { threads, timing, .. } = &mut self.state;
        if let Some(timing) = timing {
            timing.look(threads);
            timing.set_region(thread, is_open);
        }
    }

    /// `by` has passed a mark of the partition `lpid`, or of another one, whose marks mean nothing.
    fn set_region_of(&mut self, lpid: u32, by: usize, is_open: bool) {
        if self.state.threads[by].lpid() == lpid {
            for thread in 0..self.state.threads.len() {
                self.set_region(thread, is_open);
            }
        }
    }

    /// Hardware thread `thread` passed `mark`.
    pub(super) fn pass_mark(&mut self, thread: usize, mark: Mark) {
        for (_, plan) in self.state.plans.clone().into_iter().filter(|(at, _)| *at == mark) {
            match plan {
                Plan::Start(settings) => self.start_timing(settings),
                Plan::Clear => self.clear_charges(),
                Plan::Open => self.open_region(thread),
                Plan::Close => self.close_region(thread),
                Plan::OpenOf(lpid) => self.set_region_of(lpid, thread, true),
                Plan::CloseOf(lpid) => self.set_region_of(lpid, thread, false),
                Plan::Stop => self.stop_timing(),
            }
        }
    }

    /// Whose turn it is.
    pub(super) fn next_turn(&mut self) -> Option<usize> {
        let State { threads, timing, .. } = &mut self.state;
        let timing = timing.as_mut()?;
        if let Some(Turn { thread, until, .. }) = timing.turn {
            // One that fell asleep goes on when its time comes, whatever its siblings do.
            let goes_on = timing.is_shared(thread) && threads[thread].activity == Activity::Running;
            if goes_on || next_at(&threads[thread]).is_some_and(|at| at < until) {
                return Some(thread);
            }
        }
        let place = |thread: &Thread| {
            let at = next_at(thread)?;
            Some(if thread.activity == Activity::Running { timing.place(thread) } else { at })
        };
        // Those at the same place take turns.
        let waiting =
            |thread: &Thread| Some((place(thread)?, timing.rotation(thread.index), thread.index));
        let (_, _, thread) = threads.iter().filter_map(waiting).min()?;
        let core = threads[thread].core;
        // Threads of one core take turns inside it.
        let is_other = |other: &&Thread| {
            other.index != thread && (other.core != core || other.activity != Activity::Running)
        };
        let others = threads.iter().filter(is_other).filter_map(waiting).min();
        let (others, _, other) = others.unwrap_or((u64::MAX, 0, thread));
        let until = others.saturating_add(timing.settings().quantum);
        timing.turn = Some(Turn { thread, until, others, other });
        Some(thread)
    }

    /// Runs the core of thread `index`, which goes on, to the end of its turn, for `budget` steps at most. Where
    /// several threads share the core, they alternate inside it.
    ///
    /// # Errors
    /// The thread that the machine cannot go on with, and why.
    pub(super) fn timed_slice<O: Observer>(
        &mut self,
        mut index: usize,
        budget: u64,
        observer: &mut O,
    ) -> Result<(), (usize, StopReason)> {
        let end = self.state.steps().saturating_add(budget);
        let first = self.first_of_core(index);
        let mut siblings: [Option<Entered>; MOST_THREADS] = Default::default();
        loop {
            if self.state.shared.needs_attention() || self.turn_is_over(index) {
                return Ok(());
            }
            let now = self.state.threads[index].time.cycles();
            if self.run_engines(now, observer).map_err(|reason| (index, reason))? {
                siblings = Default::default();
            }
            let place = index - first;
            if siblings[place].is_none() {
                self.show_occurrences(index);
                self.enter(index, observer).map_err(|reason| (index, reason))?;
                let State { threads, shared, .. } = &mut self.state;
                let thread = &mut threads[index];
                if step::is_traced(thread) {
                    if self.places.reach(thread) {
                        return Ok(());
                    }
                    match self.step(index, observer).map_err(|reason| (index, reason))? {
                        StretchEnd::Turn => index = self.next_of_core(index),
                        StretchEnd::Trap => {
                            let trap = self.timed_trap(index, observer);
                            if trap.map_err(|reason| (index, reason))? {
                                return Ok(());
                            }
                        }
                        _ => {}
                    }
                    if self.state.steps() >= end {
                        return Ok(());
                    }
                    siblings = Default::default();
                    continue;
                }
                let deadline = interrupt::decrementers::next_timer(thread, shared);
                let (cycles, instructions) = thread.next_alert();
                let deadline = deadline.min(thread.time.cycles().saturating_add(cycles));
                let deadline = deadline.min(shared.engines_due());
                let instructions = if thread.awaits_occurrence() { 1 } else { instructions };
                let limit = thread.steps().saturating_add(instructions);
                let mode = Mode::of(thread);
                siblings[place] = Some(Entered { deadline, limit, mode, block: None });
            }
            let steps = self.state.steps();
            if steps >= end {
                return Ok(());
            }
            let Some(entered) = &mut siblings[place] else { unreachable!("it was entered above") };
            let limit = self.state.threads[index].steps() + (end - steps);
            let limit = limit.min(entered.limit);
            match self.timed_blocks(index, entered, limit, observer) {
                StretchEnd::Turn => index = self.next_of_core(index),
                StretchEnd::Place => return Ok(()),
                StretchEnd::Straight => siblings[place] = None,
                StretchEnd::Synchronize => siblings = Default::default(),
                StretchEnd::Trap => {
                    siblings = Default::default();
                    if self.timed_trap(index, observer).map_err(|reason| (index, reason))? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// As the function of this name, for thread `index`.
    fn show_occurrences(&mut self, index: usize) {
        let State { threads, timing, .. } = &mut self.state;
        if let Some(timing) = timing {
            show_occurrences(&mut threads[index], timing);
        }
    }

    /// As [`trap`](Self::trap), which may change what the thread's counters count.
    fn timed_trap<O: Observer>(
        &mut self,
        index: usize,
        observer: &mut O,
    ) -> Result<bool, StopReason> {
        self.show_occurrences(index);
        self.trap(index, observer)
    }

    fn first_of_core(&self, index: usize) -> usize {
        let threads = &self.state.threads;
        let core = threads[index].core;
        threads[..index].iter().rposition(|thread| thread.core != core).map_or(0, |last| last + 1)
    }

    fn next_of_core(&mut self, index: usize) -> usize {
        self.state.timing.as_mut().map_or(index, |timing| timing.next_of_core(index))
    }

    /// Whether other cores come before that of thread `index`.
    fn turn_is_over(&self, index: usize) -> bool {
        let Some(timing) = &self.state.timing else { return true };
        let now = self.state.threads[index].time.cycles();
        timing.turn.is_none_or(|turn| !timing.is_shared(index) && now >= turn.until)
    }

    /// Executes block after block in the state that was `entered`, until the thread has made `limit` steps, or until
    /// something leaves that state.
    fn timed_blocks<O: Observer>(
        &mut self,
        index: usize,
        entered: &mut Entered,
        limit: u64,
        observer: &mut O,
    ) -> StretchEnd {
        let timing = &self.state.timing;
        let is_shared = timing.as_ref().is_some_and(|timing| timing.is_shared(index));
        let turn = timing.as_ref().and_then(|timing| timing.turn);
        let until = turn.filter(|_| !is_shared).map_or(u64::MAX, |turn| turn.until);
        let stretch = Stretch { deadline: entered.deadline.min(until), limit, mode: entered.mode };
        loop {
            let State { threads, shared, .. } = &mut self.state;
            let thread = &mut threads[index];
            thread.cia = thread.nia;
            thread.run_start = thread.nia;
            if self.places.reach(thread) {
                return StretchEnd::Place;
            }
            let steps = thread.steps();
            let limit = steps + self.places.room(thread, stretch.limit - steps);
            let (number, mut place) = match entered.block.take() {
                Some(block) => block,
                None => match find_block(thread, shared, &mut self.blocks, stretch.mode) {
                    Ok(number) => (number, 0),
                    Err(_) => return StretchEnd::Trap,
                },
            };
            let part = Stretch { limit, ..stretch };
            let end = self.timed_block(index, number, &mut place, part, observer);
            if end == StretchEnd::Turn {
                let is_inside = place < self.blocks.get(number).ops.len();
                entered.block = is_inside.then_some((number, place));
            }
            let thread = &self.state.threads[index];
            if end != StretchEnd::Straight || stretch.is_over(thread) {
                return end;
            }
        }
    }

    /// Executes one block from instruction `place` on, which is then the one that it would go on with.
    pub(super) fn timed_block<O: Observer>(
        &mut self,
        index: usize,
        number: u32,
        place: &mut usize,
        stretch: Stretch,
        observer: &mut O,
    ) -> StretchEnd {
        let State { threads, shared, timing, .. } = &mut self.state;
        let timing = timing.as_mut().expect("timing mode has a model");
        let thread = &mut threads[index];
        let owner = timing.owner(thread);
        let caller = timing.caller(thread, owner);
        let (parameters, free) = (timing.parameters(), timing.settings().free);
        let (blocks, address) = (&self.blocks, thread.nia.wrapping_sub(4 * *place as u64));
        let timed = self.operations.get(blocks, number, (owner, address, caller), parameters, free);
        let mut run = Run { thread, shared, timing, block: blocks.get(number), timed };
        run.execute(place, stretch, observer)
    }
}

/// Counts what has occurred by this model, which ends.
fn forget_occurrences(threads: &mut [Thread], timing: &Timing) {
    for thread in threads {
        show_occurrences(thread, timing);
        thread.forget_occurrences();
    }
}

/// Shows a thread what has occurred to it, if one of its counters counts that.
fn show_occurrences(thread: &mut Thread, timing: &Timing) {
    if thread.counts_occurrences() {
        thread.show(timing.occurrences(thread.index));
    }
}

/// Whether an instruction may read a counter or change what counts. All that do have these primary opcodes: `sc` and
/// `scv` 17, returns and power saving 19, and moves from and to SPRs and the MSR 31.
fn may_look_at_counters(word: Word) -> bool {
    matches!(word.0 >> 26, 17 | 19 | 31)
}

/// A thread that has entered its state, and goes on in it when its turn comes again.
struct Entered {
    /// The cycle at which it has to enter anew.
    deadline: u64,
    /// Its steps at which it has to.
    limit: u64,
    mode: Mode,
    /// The block that it is inside of, and its place there.
    block: Option<(u32, usize)>,
}

/// The most threads of a core.
const MOST_THREADS: usize = 8;

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
        place: &mut usize,
        stretch: Stretch,
        observer: &mut O,
    ) -> StretchEnd {
        let is_shared = self.timing.is_shared(self.thread.index);
        let has_others = self.timing.has_others(self.thread.index);
        let counts_occurrences = self.thread.counts_occurrences();
        for (index, op) in self.block.ops.iter().enumerate().skip(*place) {
            *place = index;
            let Self { thread, shared, timing, block, timed } = self;
            let operation = &timed.operations[index];
            // It may itself end what counts, in the middle of a block.
            if counts_occurrences && may_look_at_counters(op.word) {
                show_occurrences(thread, timing);
            }
            timing.fetch(thread, shared, block.offset(index), timed.owner());
            let asks =
                is_shared || operation.orders_threads || has_others && operation.operand.is_some();
            if asks && !timing.goes_on(thread, shared, operation) {
                return StretchEnd::Turn;
            }
            thread.accesses.clear();
            let outcome = (op.handler)(self.thread, self.shared, op.word);
            if !completes(self.thread, outcome) {
                self.thread.contain(op.word);
                return StretchEnd::Trap;
            }
            if O::SEES_INSTRUCTIONS {
                observer.completed(self.thread, op, stretch.mode);
            }
            if O::SEES_STORES {
                observer.stored(self.thread, self.shared);
            }
            if has_returned(op, outcome, true) {
                observer.returned(self.thread, self.shared, stretch.mode);
                observer.returned_in_time(self.thread, self.timing, stretch.mode);
            }
            self.complete(index, outcome.ok());
            let end = match outcome {
                Ok(Flow::Next) => None,
                Ok(Flow::Branch) => Some(StretchEnd::Straight),
                Ok(Flow::Synchronize | Flow::Return) => Some(StretchEnd::Synchronize),
                Err(_) => Some(StretchEnd::Trap),
            };
            if let Some(end) = end {
                return end;
            }
            *place = index + 1;
            if self.timing.turn.is_none() {
                return StretchEnd::Turn;
            }
            if stretch.is_over(self.thread) {
                break;
            }
        }
        StretchEnd::Straight
    }

    /// Completes instruction `index` of the block, which handed over by `flow`, or to an interrupt.
    fn complete(&mut self, index: usize, flow: Option<Flow>) {
        let Self { thread, shared, timing, timed, .. } = self;
        let (owner, caller) = (timed.owner(), timed.caller());
        let account =
            *timed.accounts[index].get_or_insert_with(|| timing.account(owner, thread.cia, caller));
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
