//! What the threads of a core share: units, prediction tables, outstanding misses and dispatch slots.
//!
//! Threads are simulated one after the other, each a little ahead of the others. A thread's slots go
//! by what was known before: its share by priority, and what its siblings left of theirs two epochs ago.
//! So which of them is simulated first makes no difference to that.

use serde::{Deserialize, Serialize};

use super::dispatch::{PARTS, Share};
use super::parameters::{CoreParameters, Parameters};
use super::ports::Ports;
use super::predictor::Tables;
use crate::ledger::{Cause, CauseSet};

/// Cycles for which a share holds.
pub const EPOCH: u64 = 100;
/// Epochs that are remembered.
const REMEMBERED: usize = 4;
/// The priority of a thread that only polls.
const VERY_LOW: u64 = 1;

/// A thread as its siblings see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Member {
    /// Whether it takes part in the SMT mode: it runs, or its `stop` gives nothing up.
    pub is_awake: bool,
    /// Program priority, 1 to 7.
    pub priority: u64,
    /// Slots used, with the epoch.
    used: [(u64, u64); REMEMBERED],
}

impl Member {
    /// Notes `operations` dispatched at `cycle`.
    #[inline]
    pub fn dispatched(&mut self, cycle: u64, operations: u64) {
        let epoch = cycle / EPOCH;
        let used = &mut self.used[epoch as usize % REMEMBERED];
        if used.0 == epoch {
            used.1 += operations;
        } else {
            *used = (epoch, operations);
        }
    }

    fn used_in(&self, epoch: u64) -> u64 {
        let used = self.used[epoch as usize % REMEMBERED];
        if used.0 == epoch { used.1 } else { 0 }
    }
}

/// A core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Core {
    /// Units by cycle.
    pub ports: Ports,
    /// Branch prediction.
    pub tables: Tables,
    /// Line of each load miss that is outstanding, and until when.
    misses: Vec<(u64, u64)>,
    /// Its threads.
    pub members: Vec<Member>,
}

impl Core {
    /// A core of `threads` threads, none of them awake.
    #[must_use]
    pub fn new(parameters: &Parameters, threads: usize) -> Self {
        Self {
            ports: Ports::new(&parameters.core),
            tables: Tables::new(&parameters.core),
            misses: vec![(u64::MAX, 0); parameters.core.miss_queue.max(1) as usize],
            members: vec![Member::default(); threads],
        }
    }

    /// One in how many parts each thread has of what is divided statically: 1, 2 or 4.
    #[must_use]
    pub fn divisor(&self) -> u64 {
        let awake = self.members.iter().filter(|member| member.is_awake).count();
        (awake as u64).max(1).next_power_of_two()
    }

    /// Lets a miss of `line` at cycle `at` that would be `ready` wait for its turn, and says how long it
    /// has to.
    pub fn miss(&mut self, line: u64, at: u64, ready: u64) -> u64 {
        if self.misses.contains(&(line, ready)) {
            return 0;
        }
        let first = self.misses.iter_mut().min_by_key(|miss| miss.1).expect("there is an entry");
        let wait = first.1.saturating_sub(at);
        *first = (line, ready + wait);
        wait
    }

    /// The share of thread `own` of this core in the epoch of `cycle`.
    #[must_use]
    pub fn share(
        &self,
        own: usize,
        cycle: u64,
        parameters: &CoreParameters,
        free: CauseSet,
    ) -> Share {
        let divisor = self.divisor();
        let whole = Share::whole(parameters, divisor);
        let is_paired = divisor >= 4;
        let width =
            if is_paired { parameters.dispatch_width_pair } else { parameters.dispatch_width };
        let capacity = width * EPOCH;
        let me = &self.members[own];
        let is_sibling = |&(index, member): &(usize, &Member)| {
            index != own && member.is_awake && (!is_paired || index / 2 == own / 2)
        };
        let siblings: Vec<_> = self.members.iter().enumerate().filter(is_sibling).collect();
        let weight = |member: &Member| parameters.priority_weight.pow(member.priority as u32);
        let total = weight(me) + siblings.iter().map(|(_, other)| weight(other)).sum::<u64>();
        let fair = |member: &Member| {
            let share = capacity * weight(member) / total;
            if member.priority == VERY_LOW && !siblings.is_empty() {
                share.min(EPOCH.div_ceil(parameters.very_low_priority))
            } else {
                share
            }
        };
        let before = (cycle / EPOCH).wrapping_sub(2);
        let taken: u64 =
            siblings.iter().map(|(_, other)| fair(other).min(other.used_in(before))).sum();
        let is_least = siblings.iter().any(|(_, other)| other.priority > me.priority);
        let cause = if is_least { Cause::DispatchPriority } else { Cause::DispatchShare };
        let mine = if is_least && me.priority == VERY_LOW {
            fair(me)
        } else {
            fair(me).max(capacity - taken)
        };
        let slot = (PARTS * EPOCH / mine.max(1)).max(whole.slot);
        if slot == whole.slot || free.contains(cause) {
            whole
        } else {
            Share { slot, cause, ..whole }
        }
    }
}
