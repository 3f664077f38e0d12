//! Who runs next, and who has to be woken when: pure bookkeeping.
//!
//! Each vCPU has a virtual time, which runs slower the greater its weight is; the ready one that is
//! furthest behind runs next. One that slept does not come back with the time that it did not use,
//! but for [`CREDIT_TICKS`], so that a vCPU that waits for events runs soon after them and
//! one that computes is not kept waiting for long.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The weight of a vCPU whose partition does not say.
pub const WEIGHT_DEFAULT: u32 = 100;
/// The greatest weight.
pub const WEIGHT_MAX: u32 = 10_000;
/// How far a vCPU may be behind the others when it wakes: half a millisecond of a 512 MHz time base.
pub const CREDIT_TICKS: u64 = 256_000;

/// A vCPU's number in the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VcpuId(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    weight: u32,
    virtual_time: u64,
    is_ready: bool,
}

/// The vCPUs that are ready, by virtual time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RunQueue {
    members: Vec<Member>,
    ready: BTreeSet<(u64, VcpuId)>,
    /// The greatest virtual time with which a vCPU was chosen.
    floor: u64,
}

impl RunQueue {
    /// A new vCPU, not ready yet. `weight` is at least 1.
    pub fn add(&mut self, weight: u32) -> VcpuId {
        let id = VcpuId(u32::try_from(self.members.len()).expect("fewer than 2^32 vCPUs"));
        self.members.push(Member { weight: weight.max(1), virtual_time: 0, is_ready: false });
        id
    }

    /// `id` can run. Nothing happens if it could already.
    pub fn make_ready(&mut self, id: VcpuId) {
        let member = &mut self.members[id.0 as usize];
        if !member.is_ready {
            member.is_ready = true;
            member.virtual_time = member.virtual_time.max(self.floor.saturating_sub(CREDIT_TICKS));
            self.ready.insert((member.virtual_time, id));
        }
    }

    /// `id` cannot run any more. Nothing happens if it could not, or is running.
    pub fn remove(&mut self, id: VcpuId) {
        let member = &mut self.members[id.0 as usize];
        member.is_ready = false;
        self.ready.remove(&(member.virtual_time, id));
    }

    /// Takes the one that runs next. It has to be given back with [`RunQueue::make_ready`].
    pub fn take(&mut self) -> Option<VcpuId> {
        let (virtual_time, id) = self.ready.pop_first()?;
        self.members[id.0 as usize].is_ready = false;
        self.floor = self.floor.max(virtual_time);
        Some(id)
    }

    /// Whether `id`, which was taken, would be taken again now if it were given back.
    pub fn goes_on(&mut self, id: VcpuId) -> bool {
        let oldest = self.floor.saturating_sub(CREDIT_TICKS);
        let member = &mut self.members[id.0 as usize];
        member.virtual_time = member.virtual_time.max(oldest);
        let mine = (member.virtual_time, id);
        let goes_on = self.ready.first().is_none_or(|first| mine < *first);
        if goes_on {
            self.floor = self.floor.max(mine.0);
        }
        goes_on
    }

    /// Takes `id`, if it is ready; whether it was.
    pub fn take_this(&mut self, id: VcpuId) -> bool {
        let is_ready = self.is_ready(id);
        self.remove(id);
        is_ready
    }

    /// Of these, the one that would run next, if one is ready.
    pub fn first_of(&self, ids: impl Iterator<Item = VcpuId>) -> Option<VcpuId> {
        let ready = ids.filter(|id| self.is_ready(*id));
        ready.min_by_key(|id| (self.members[id.0 as usize].virtual_time, *id))
    }

    /// Somebody ran for so many ticks at the expense of `id`.
    pub fn charge(&mut self, id: VcpuId, ticks: u64) {
        let is_ready = self.take_this(id);
        let member = &mut self.members[id.0 as usize];
        let scaled = u128::from(ticks) * u128::from(WEIGHT_DEFAULT) / u128::from(member.weight);
        member.virtual_time = member.virtual_time.saturating_add(scaled as u64);
        if is_ready {
            self.make_ready(id);
        }
    }

    /// `from`, which was taken, lets the next one run before it: their places are exchanged, so that
    /// neither gains. Nothing happens if that one runs first anyway.
    pub fn yield_first(&mut self, from: VcpuId) {
        let Some(&(other, to)) = self.ready.first() else { return };
        let (first, second) = (from.0 as usize, to.0 as usize);
        let mine = self.members[first].virtual_time;
        if mine < other {
            self.ready.remove(&(other, to));
            self.members[first].virtual_time = other;
            self.members[second].virtual_time = mine;
            self.ready.insert((mine, to));
        }
    }

    /// Whether `id` waits for a processor.
    #[must_use]
    pub fn is_ready(&self, id: VcpuId) -> bool {
        self.members[id.0 as usize].is_ready
    }

    /// Whether nobody is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

/// When sleeping vCPUs have to be woken, in ticks of the time base.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Timers {
    by_time: BTreeSet<(u64, VcpuId)>,
}

impl Timers {
    /// Wakes `id` at `time`. One that has a timer must not get a second one.
    pub fn set(&mut self, id: VcpuId, time: u64) {
        self.by_time.insert((time, id));
    }

    /// Takes back what was [`Timers::set`].
    pub fn cancel(&mut self, id: VcpuId, time: u64) {
        self.by_time.remove(&(time, id));
    }

    /// The next time at which somebody has to be woken.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes one whose time has come.
    pub fn take_due(&mut self, now: u64) -> Option<VcpuId> {
        let (time, id) = *self.by_time.first()?;
        if time > now {
            return None;
        }
        self.by_time.pop_first();
        Some(id)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
