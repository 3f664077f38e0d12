//! When each thread has something to do, in functional mode, and how many steps all have made: the run loop asks before
//! each slice, and to look at every thread each time took a tenth of a start of Linux on 32.
//!
//! It is no part of the machine's state: [`Agenda::forget`] makes it look at all threads again.

use super::QUANTUM_CYCLES;
use super::execution::next_at;
use crate::state::thread::Thread;

/// What the run loop remembers of the threads.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// By thread index: the cycle at which it has something to do, `u64::MAX` if never.
    next: Vec<u64>,
    /// By thread index: its steps.
    steps: Vec<u64>,
    /// The sum of them.
    all_steps: u64,
    is_known: bool,
}

impl Agenda {
    /// Other threads may have changed than the one that [`Agenda::note`] hears of.
    pub(super) fn forget(&mut self) {
        self.is_known = false;
    }

    /// Learns of `threads` what it does not know.
    #[inline]
    pub(super) fn look(&mut self, threads: &[Thread]) {
        if !self.is_known {
            self.next = threads.iter().map(next).collect();
            self.steps = threads.iter().map(Thread::steps).collect();
            self.all_steps = self.steps.iter().sum();
            self.is_known = true;
        }
        debug_assert!(threads.iter().map(next).eq(self.next.iter().copied()));
        debug_assert_eq!(self.all_steps, threads.iter().map(Thread::steps).sum::<u64>());
    }

    /// `thread` has gone on, and did nothing to another.
    #[inline]
    pub(super) fn note(&mut self, thread: &Thread) {
        if self.is_known {
            self.next[thread.index] = next(thread);
            let before = std::mem::replace(&mut self.steps[thread.index], thread.steps());
            self.all_steps += thread.steps() - before;
        }
    }

    /// Steps of all threads.
    pub(super) fn all_steps(&self) -> u64 {
        self.all_steps
    }

    /// The thread that is furthest behind, in whole quanta; the first of several. One that waits in
    /// `stop` or `wait` is where it will wake.
    pub(super) fn first(&self) -> Option<usize> {
        let earliest = self.next.iter().copied().min().filter(|&next| next != u64::MAX)?;
        let end = quantum_end(earliest);
        self.next.iter().position(|&next| next < end)
    }

    /// The cycle up to which thread `index`, which is at cycle `now`, may go on alone: the start of the quantum in
    /// which another thread has something to do, or the end of this one.
    pub(super) fn slice_end(&self, index: usize, now: u64) -> u64 {
        let earliest = |threads: &[u64]| threads.iter().copied().min().unwrap_or(u64::MAX);
        match earliest(&self.next[..index]).min(earliest(&self.next[index + 1..])) {
            u64::MAX => u64::MAX,
            next => quantum_end(now).max(next / QUANTUM_CYCLES * QUANTUM_CYCLES),
        }
    }
}

/// The cycle at which `thread` has something to do.
fn next(thread: &Thread) -> u64 {
    next_at(thread).unwrap_or(u64::MAX)
}

/// Where the quantum of `cycle` ends.
fn quantum_end(cycle: u64) -> u64 {
    (cycle / QUANTUM_CYCLES + 1) * QUANTUM_CYCLES
}
