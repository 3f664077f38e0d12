//! What the threads of a core share: units, prediction tables, outstanding misses, dispatch slots and the issue
//! queue.
//!
//! Of the threads of a core the one goes on whose next operation can be dispatched first, so slots and entries of
//! the queue are handed out in order of time. Of those that could be at the same cycle it is the one that has had
//! least for its priority (start-time fair queueing), and of equal ones the one that has waited longest: what all
//! want is taken in turn.

use serde::{Deserialize, Serialize};

use super::dispatch::{PARTS, Share};
use super::parameters::{CoreParameters, Parameters};
use super::ports::Ports;
use super::predictor::Tables;
use super::queue::Queues;
use super::units::Units;
use crate::ledger::{Cause, CauseSet};

/// The priority of a thread that only polls.
const VERY_LOW: u64 = 1;
/// What an operation of a thread with weight 1 adds to what it has had.
const OPERATION: u64 = 1 << 32;

/// A thread as its siblings see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Member {
    /// Whether it takes part in the SMT mode: it runs, or its `stop` gives nothing up.
    pub is_awake: bool,
    /// Whether it executes instructions.
    pub is_running: bool,
    /// Program priority, 1 to 7.
    priority: u64,
    /// The cycle before which its next operation cannot be dispatched, whatever its siblings do.
    pub place: u64,
    /// What that operation takes of the units, and so which issue queue it waits for.
    pub units: Units,
    /// Operations that it has had, divided by its weight.
    had: u64,
    /// The number of its last operation among those of the core.
    last: u64,
}

/// A core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Core {
    /// Units by cycle.
    pub ports: Ports,
    /// Branch prediction.
    pub tables: Tables,
    /// Operations that wait to issue.
    pub queues: Queues,
    /// Line of each load miss that is outstanding, and until when.
    misses: Vec<(u64, u64)>,
    /// Its threads.
    pub members: Vec<Member>,
    /// The next dispatch slot of all threads, or of each pair of them in SMT4, in parts of a cycle.
    slots: Vec<u64>,
    /// What the thread had that was served last: nobody has a claim from before.
    had: u64,
    /// Operations dispatched while threads shared the core.
    operations: u64,
    /// How often what shares depend on has changed.
    version: u64,
    divisor: u64,
    /// Whether several threads run.
    is_shared: bool,
    halves: Halves,
    /// How many threads share a part of the issue queue in SMT4; 0 where each half has one.
    queue_threads: usize,
}

/// Which threads have which half of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Halves {
    /// With four threads each pair has half of the dispatch slots, and a superslice if that is `divided`.
    Pairs { divided: bool },
    /// POWER8: with several threads the even ones have one, the odd ones the other.
    Parity,
}

impl Halves {
    /// The half whose dispatch slots thread `member` shares where each has a part in `divisor`, `None` if all do.
    #[inline]
    fn lane(self, member: usize, divisor: u64) -> Option<usize> {
        match self {
            Self::Pairs { .. } => (divisor >= 4).then_some(member / 2),
            Self::Parity => (divisor >= 2).then_some(member % 2),
        }
    }

    /// The half whose units it has.
    #[inline]
    fn units(self, member: usize, divisor: u64) -> Option<usize> {
        match self {
            Self::Pairs { divided: false } => None,
            Self::Pairs { divided: true } => (divisor >= 4).then_some(member / 2 % 2),
            Self::Parity => self.lane(member, divisor),
        }
    }
}

impl Core {
    /// A core of `threads` threads, none of them awake.
    #[must_use]
    pub fn new(parameters: &Parameters, threads: usize) -> Self {
        Self {
            ports: Ports::new(parameters),
            tables: Tables::new(&parameters.core),
            queues: Queues::new(parameters),
            halves: if parameters.has_groups() {
                Halves::Parity
            } else {
                Halves::Pairs { divided: parameters.core.slices_pair < parameters.core.slices }
            },
            queue_threads: parameters.core.issue_queue_threads.min(4) as usize,
            misses: vec![(u64::MAX, 0); parameters.core.miss_queue.max(1) as usize],
            members: vec![Member::default(); threads],
            slots: vec![0; threads.div_ceil(2).max(2)],
            had: 0,
            operations: 0,
            version: 1,
            divisor: 1,
            is_shared: false,
        }
    }

    /// One in how many parts each thread has of what is divided statically: 1, 2, 4 or 8.
    #[inline]
    #[must_use]
    pub fn divisor(&self) -> u64 {
        self.divisor
    }

    /// Whether several threads run, which then take turns.
    #[inline]
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Changes with everything that a thread's share depends on.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Threads fell asleep or woke.
    pub fn look(&mut self) {
        let count = |is: fn(&Member) -> bool| {
            self.members.iter().filter(|member| is(member)).count() as u64
        };
        self.divisor = count(|member| member.is_awake).max(1).next_power_of_two();
        self.is_shared = count(|member| member.is_running) > 1;
        self.version += 1;
    }

    /// Thread `member` has program priority `priority`.
    #[inline]
    pub fn set_priority(&mut self, member: usize, priority: u64) {
        if self.members[member].priority != priority {
            self.members[member].priority = priority;
            self.version += 1;
        }
    }

    fn lane(&self, member: usize) -> usize {
        self.halves.lane(member, self.divisor).unwrap_or(0)
    }

    /// The superslice that thread `member` has, `None` if it has all of them.
    #[inline]
    #[must_use]
    pub fn superslice(&self, member: usize) -> Option<usize> {
        self.halves.units(member, self.divisor)
    }

    /// The part of the issue queue that thread `member` has, `None` if it shares all of it.
    #[inline]
    #[must_use]
    pub fn part(&self, member: usize) -> Option<usize> {
        if self.queue_threads == 0 {
            return self.halves.units(member, self.divisor);
        }
        let is_divided = self.divisor >= 4 && self.queue_threads < 4;
        is_divided.then_some(member % 4 / self.queue_threads)
    }

    /// The slots that thread `member` shares with others.
    #[inline]
    pub fn slots(&mut self, member: usize) -> &mut u64 {
        let lane = self.lane(member);
        &mut self.slots[lane]
    }

    /// The cycle before which the next operation of thread `member` cannot be dispatched, whoever goes on. Other
    /// cores go by it too: if they went by another time, two threads could wait for each other.
    #[inline]
    #[must_use]
    pub fn place(&self, member: usize) -> u64 {
        let slot = self.slots[self.lane(member)] / PARTS;
        let of = &self.members[member];
        let queue = self.queues.was_full_until(of.units, self.part(member));
        of.place.max(slot).max(queue)
    }

    /// Of the threads that run, the one that goes on.
    #[inline]
    #[must_use]
    pub fn next_member(&mut self) -> usize {
        // Brings up to date what `place` asks for.
        self.queues.look();
        let of = |index: usize| {
            let member = &self.members[index];
            (self.place(index), member.had.max(self.had), member.last)
        };
        let running = (0..self.members.len()).filter(|&index| self.members[index].is_running);
        running.min_by_key(|&index| of(index)).unwrap_or(0)
    }

    /// Thread `member` dispatched so many operations at cycle `at` beside others. One that could have by then, but for
    /// what it shares, keeps its claim.
    #[inline]
    pub fn served(&mut self, member: usize, at: u64, operations: u64, parameters: &CoreParameters) {
        self.operations += 1;
        let waits = |&(index, other): &(usize, &Member)| {
            index != member && other.is_running && other.place <= at
        };
        let others = self.members.iter().enumerate().filter(waits);
        let claim = others.map(|(_, other)| other.had).min().unwrap_or(u64::MAX);
        let member = &mut self.members[member];
        let weight = weight(member, parameters);
        self.had = self.had.max(member.had.min(claim));
        member.had = self.had.max(member.had) + OPERATION / weight * operations;
        member.last = self.operations;
    }

    /// Lets a miss of `line` at cycle `at` that would be `ready` wait for its turn, and says how long it
    /// has to. Where the line `is_awaited` from another thread, both waits pass side by side.
    pub fn miss(&mut self, line: u64, at: u64, ready: u64, is_awaited: bool) -> u64 {
        if self.misses.contains(&(line, ready)) {
            return 0;
        }
        let first = self.misses.iter_mut().min_by_key(|miss| miss.1).expect("there is an entry");
        let wait = first.1.saturating_sub(if is_awaited { ready } else { at });
        *first = (line, ready + wait);
        wait
    }

    /// From when on there is a place among the misses.
    #[must_use]
    pub fn has_place(&self) -> u64 {
        self.misses.iter().map(|miss| miss.1).min().unwrap_or_default()
    }

    /// The share of thread `own` of this core.
    #[must_use]
    pub fn share(&self, own: usize, parameters: &Parameters, free: CauseSet) -> Share {
        let whole = Share::whole(parameters, self.divisor);
        let me = &self.members[own];
        let is_less = |other: &Member| other.priority > VERY_LOW;
        let is_polling = me.priority == VERY_LOW && self.others(own).any(is_less);
        if is_polling && !free.contains(Cause::DispatchPriority) {
            let slot = PARTS * parameters.core.very_low_priority;
            Share { slot, cause: Cause::DispatchPriority, ..whole }
        } else {
            whole
        }
    }

    /// Why thread `own` waits for a slot that another has.
    #[must_use]
    pub fn reason(&self, own: usize) -> Cause {
        let priority = self.members[own].priority;
        if self.others(own).any(|other| other.priority > priority) {
            Cause::DispatchPriority
        } else {
            Cause::DispatchShare
        }
    }

    fn others(&self, own: usize) -> impl Iterator<Item = &Member> {
        let others = self.members.iter().enumerate().filter(move |(index, _)| *index != own);
        others.map(|(_, member)| member).filter(|member| member.is_running)
    }
}

fn weight(member: &Member, parameters: &CoreParameters) -> u64 {
    parameters.priority_weight.pow(member.priority as u32)
}
