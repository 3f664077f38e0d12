//! Whose turn it is: threads go on one after the other, and nobody is so far ahead that it misses what others do.

use serde::{Deserialize, Serialize};

use super::Timing;
use super::class::Class;
use super::operation::Operation;
use crate::cache::{LINE_LOG2, Wish};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::accesses::Accesses;

/// A thread's turn to be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Whose it is.
    pub thread: usize,
    /// The cycle at which it ends.
    pub until: u64,
    /// The cycle of the other thread that is furthest behind; what orders threads waits for it.
    pub others: u64,
    /// That thread.
    pub other: usize,
}

/// Places at which a thread met others that are remembered; a power of two.
pub(super) const LINES_MET: usize = 64;

/// Where the effective line is in [`Timing::met`].
fn met(thread: &Thread, line: u64) -> usize {
    thread.index * LINES_MET + line as usize % LINES_MET
}

impl Timing {
    /// Whether `thread` goes on with `operation`, which it has fetched, or another thread comes first: in a core
    /// that several threads share the one whose operation can be dispatched first, and the one that is furthest
    /// behind before it executes what orders threads. To be asked before each instruction where several threads
    /// share the core, and elsewhere before those that order threads or access memory.
    #[inline]
    pub fn goes_on(&mut self, thread: &Thread, shared: &Shared, operation: &Operation) -> bool {
        let Some(turn) = self.turn else { return false };
        let index = thread.index;
        let mut now = thread.time.cycles();
        let line = self.line_met(thread, operation);
        if let Some(line) = line {
            let wish = match operation.class {
                Class::LoadReserve => Wish::Reserve,
                Class::Atomic => Wish::Write,
                class if class.is_load() => Wish::Read,
                _ => Wish::Write,
            };
            if wish == Wish::Reserve && self.gives_up(index) {
                return false;
            }
            now = self.memory.request(index, line, wish, now);
        }
        let is_ordered = operation.orders_threads || line.is_some();
        let (pipeline, context) = self.parts(thread, shared);
        let is_shared = context.core.is_shared();
        let own = if is_shared { pipeline.place(&context, operation) } else { now };
        let member = context.member;
        let next = &mut context.core.members[member];
        next.place = if is_ordered { own.max(now) } else { own };
        next.units = operation.units;
        let place = if is_shared {
            if context.core.next_member() != member {
                return false;
            }
            context.core.place(member)
        } else {
            now
        };
        let is_over = place >= turn.until
            || is_ordered
                && (place, self.rotation(index)) > (turn.others, self.rotation(turn.other));
        if is_over {
            self.turn = None;
        } else {
            self.memory.exchange().leave(index, true);
        }
        !is_over
    }

    /// The place of the core of thread `index` among those that are at the same cycle: they take turns. Which of its
    /// threads goes on is the core's own affair; were it looked at here, two cores could wait for each other.
    #[must_use]
    pub fn rotation(&self, index: usize) -> usize {
        let cores = self.cores.len();
        let core = |thread: usize| thread / self.threads_per_core;
        (core(index) + cores - core(self.memory.served()) - 1) % cores
    }

    /// Thread `index` keeps the line no more that it had reserved. Whether others come first now, who waited for it.
    pub(super) fn gives_up(&mut self, index: usize) -> bool {
        let exchange = self.memory.exchange();
        if !exchange.give_up(index) {
            return false;
        }
        let mut has_waiting = false;
        for (number, core) in self.cores.iter_mut().enumerate() {
            for (member, waiting) in core.members.iter_mut().enumerate() {
                if let Some(turn) = exchange.turn(number * self.threads_per_core + member) {
                    waiting.place = waiting.place.min(turn);
                    has_waiting = true;
                }
            }
        }
        if has_waiting {
            self.turn = None;
        }
        has_waiting
    }

    /// The line that `operation` accesses, if `thread` met others there.
    #[inline]
    fn line_met(&self, thread: &Thread, operation: &Operation) -> Option<u64> {
        let address = operation.operand?.address(thread) >> LINE_LOG2;
        let (known, line) = self.met[met(thread, address)];
        (known == address).then_some(line)
    }

    /// Remembers where `thread` accessed a line that goes from core to core.
    pub(super) fn meet_others(&mut self, thread: &Thread, accesses: &Accesses) {
        for access in accesses.list() {
            let line = (access.offset >> LINE_LOG2) as u64;
            if self.memory.wanders(line) {
                let address = access.address >> LINE_LOG2;
                self.met[met(thread, address)] = (address, line);
            }
        }
    }

    /// Whether several threads of the core of thread `index` run.
    #[inline]
    #[must_use]
    pub fn is_shared(&self, index: usize) -> bool {
        self.cores[index / self.threads_per_core].is_shared()
    }

    /// Of the threads that share a core with thread `index`, the one that goes on; the turn is its own.
    pub fn next_of_core(&mut self, index: usize) -> usize {
        let first = index / self.threads_per_core * self.threads_per_core;
        let next = first + self.cores[index / self.threads_per_core].next_member();
        if let Some(turn) = &mut self.turn {
            turn.thread = next;
        }
        next
    }

    /// How far `thread`, which runs, has come, as others see it.
    #[must_use]
    pub fn place(&self, thread: &Thread) -> u64 {
        let core = &self.cores[thread.index / self.threads_per_core];
        if core.is_shared() {
            core.place(thread.index % self.threads_per_core)
        } else {
            let place = core.members[thread.index % self.threads_per_core].place;
            thread.time.cycles().max(place)
        }
    }

    /// Whether other threads run, in its core or in another, beside thread `index`, whose turn it is.
    #[inline]
    #[must_use]
    pub fn has_others(&self, index: usize) -> bool {
        self.is_shared(index) || self.turn.is_some_and(|turn| turn.others != u64::MAX)
    }
}
