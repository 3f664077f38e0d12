//! The issue queues of a core: an operation holds an entry from its dispatch until it issues.
//!
//! Branches have a queue of their own, and on POWER8 operations on condition fields. Threads share the other, all of it
//! or in SMT4 a part, and nothing divides what they share, so one whose operations wait for each other can hold nearly
//! all of it. Whoever comes next takes an entry that became free; [`sharing`](super::sharing) says who that is.
//! Operations are dispatched in order of time, so entries are given back by a clock that only goes on.

use serde::{Deserialize, Serialize};

use super::parameters::Parameters;
use super::ready::Ready;
use super::units::Units;
use super::units::power8::Pipes;
use crate::ledger::Cause;

/// Cycles that the clock's face tells apart; a power of two. What issues later waits beside it.
const CYCLES: usize = 1024;

/// Entries that become free at one cycle.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Freed {
    entries: u64,
    /// The last of them: when and why it issues, for its own thread, and which that is.
    issued: Ready,
    member: usize,
}

/// The issue queues of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Queues {
    /// Of all slices, and the parts of it where it is divided.
    slices: [Queue; 5],
    branches: Queue,
    /// Of the pipe for condition fields, where there is one.
    conditions: Queue,
}

impl Queues {
    /// Empty queues.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { core, groups, .. } = parameters;
        let all = Queue::new(core.issue_queue);
        let entries = if parameters.has_groups() {
            core.issue_queue / 2
        } else {
            core.issue_queue * core.issue_queue_threads / 4
        };
        let part = || Queue::new(entries);
        Self {
            slices: [all, part(), part(), part(), part()],
            branches: Queue::new(core.branch_queue),
            conditions: Queue::new(groups.condition_queue),
        }
    }

    /// The queue of an operation that takes `units`, where its thread has `part` of that of the slices, or all of it.
    #[inline]
    pub fn of(&mut self, units: Units, part: Option<usize>) -> &mut Queue {
        if units.branch {
            &mut self.branches
        } else if units.pipes.has(Pipes::CONDITION) {
            &mut self.conditions
        } else {
            &mut self.slices[part.map_or(0, |part| 1 + part)]
        }
    }

    /// Finds out of every queue until when it is full.
    #[inline]
    pub fn look(&mut self) {
        self.slices.iter_mut().for_each(|queue| _ = queue.full_until());
        self.branches.full_until();
        self.conditions.full_until();
    }

    /// The cycle before which nobody has an entry of the queue of [`of`](Self::of), as it was found last.
    #[inline]
    #[must_use]
    pub fn was_full_until(&self, units: Units, part: Option<usize>) -> u64 {
        if units.is_none() {
            0
        } else if units.branch {
            self.branches.full_until
        } else if units.pipes.has(Pipes::CONDITION) {
            self.conditions.full_until
        } else {
            self.slices[part.map_or(0, |part| 1 + part)].full_until
        }
    }
}

/// An issue queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Queue {
    capacity: u64,
    held: u64,
    /// What became free up to this cycle was given back.
    now: u64,
    /// By cycle modulo [`CYCLES`], behind `now`.
    freed: Box<[Freed]>,
    /// What becomes free later than that, by cycle.
    late: Vec<(u64, Freed)>,
    /// What ended the last wait for an entry, and at which cycle.
    full: Freed,
    full_until: u64,
}

impl Queue {
    /// An empty queue of `entries` entries.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        Self {
            capacity: entries.max(1),
            held: 0,
            now: 0,
            freed: vec![Freed::default(); CYCLES].into(),
            late: Vec::new(),
            full: Freed::default(),
            full_until: 0,
        }
    }

    /// Gives back what becomes free at the next cycle.
    #[inline]
    fn tick(&mut self) -> Freed {
        self.now += 1;
        let freed = std::mem::take(&mut self.freed[self.now as usize % CYCLES]);
        self.held -= freed.entries;
        if !self.late.is_empty() && self.now.is_multiple_of(CYCLES as u64 / 2) {
            self.sort_late();
        }
        freed
    }

    /// Moves what is not late any more to its cycle.
    #[cold]
    fn sort_late(&mut self) {
        for (cycle, freed) in std::mem::take(&mut self.late) {
            self.give_back(cycle, freed);
        }
    }

    fn give_back(&mut self, cycle: u64, freed: Freed) {
        if cycle >= self.now + CYCLES as u64 {
            self.late.push((cycle, freed));
            return;
        }
        let entry = &mut self.freed[cycle as usize % CYCLES];
        *entry = Freed { entries: entry.entries + freed.entries, ..freed };
    }

    /// When an operation of thread `member` can have an entry, if it comes at cycle `at`.
    #[inline]
    pub fn room(&mut self, member: usize, at: u64) -> Ready {
        while self.now < at {
            if self.held == 0 {
                self.now = at;
                break;
            }
            self.tick();
        }
        let until = self.full_until();
        if until <= at {
            return Ready::default();
        }
        let Freed { member: holder, issued, .. } = self.full;
        let is_own = holder == member && issued.at() == until;
        if is_own { issued } else { Ready::new(until, Cause::DispatchQueue) }
    }

    /// The cycle before which nobody has an entry; one that has passed if there is one.
    #[inline]
    pub fn full_until(&mut self) -> u64 {
        while self.held >= self.capacity {
            self.full = self.tick();
            self.full_until = self.now;
        }
        self.full_until
    }

    /// An operation of thread `member` that was dispatched at cycle `at` takes `entries` entries and issues when
    /// `issued` says.
    #[inline]
    pub fn take(&mut self, member: usize, at: u64, entries: u64, issued: Ready) {
        let cycle = issued.at().max(at + 1);
        if cycle > self.now {
            self.held += entries;
            self.give_back(cycle, Freed { entries, issued, member });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CYCLES, Queue};
    use crate::ledger::Cause;
    use crate::pipeline::ready::Ready;

    fn issued(at: u64) -> Ready {
        Ready::new(at, Cause::LatencyFixed)
    }

    #[test]
    fn an_entry_is_held_until_its_operation_issues() {
        let mut queue = Queue::new(2);
        for at in [30, 20] {
            assert_eq!(queue.room(0, 10), Ready::default());
            queue.take(0, 10, 1, issued(at));
        }
        assert_eq!(queue.room(0, 11), issued(20), "the thread's own operation held it");
        queue.take(0, 20, 1, issued(25));
        assert_eq!(queue.room(1, 21).at(), 25);
        assert_eq!(queue.room(1, 26), Ready::default());
    }

    #[test]
    fn what_issues_very_late_holds_its_entry_as_long() {
        let mut queue = Queue::new(1);
        let late = 5 * CYCLES as u64 + 3;
        queue.take(0, 0, 1, issued(late));
        assert_eq!(queue.room(0, 1), issued(late));
        assert_eq!(queue.room(0, late + 1), Ready::default());
    }
}
