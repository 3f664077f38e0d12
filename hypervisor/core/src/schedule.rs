//! Who runs next, and who has to be woken when: pure bookkeeping.
//!
//! Each vCPU has a virtual time, which runs slower the greater its weight is; the ready one that is
//! furthest behind runs next. One that slept does not come back with the time that it did not use,
//! but for [`CREDIT_TICKS`], so that a vCPU that waits for events runs soon after them and
//! one that computes is not kept waiting for long.
//!
//! A hardware thread prefers vCPUs that it ran last, then those that its core ran last, before the one that is
//! furthest behind, as long as they are less than a slice ahead of that one: then nobody is kept waiting for
//! long, and a vCPU moves only where threads would not have equal work otherwise.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec;
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
    /// The queue that it is in, if it is ready.
    queue: Option<usize>,
    /// The queue that it was in last.
    home: usize,
}

/// A ready vCPU, behind its virtual time.
type Place = (u64, VcpuId);

/// Of a queue without a vCPU.
const NOBODY: Place = (u64::MAX, VcpuId(u32::MAX));

/// vCPUs that are ready, by virtual time. Who comes goes near the end, and who goes is the first.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Queue {
    places: VecDeque<Place>,
    first: Place,
}

impl Queue {
    const fn new() -> Self {
        Self { places: VecDeque::new(), first: NOBODY }
    }

    fn insert(&mut self, place: Place) {
        let index = self.places.partition_point(|other| *other < place);
        self.places.insert(index, place);
        self.first = self.first.min(place);
    }

    fn remove(&mut self, place: Place) {
        if self.first == place {
            self.places.pop_front();
        } else if let Ok(index) = self.places.binary_search(&place) {
            self.places.remove(index);
        }
        self.first = self.places.front().copied().unwrap_or(NOBODY);
    }
}

/// The vCPUs that are ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunQueue {
    members: Vec<Member>,
    /// By hardware thread, those that it ran last; at the end those that none ran so far.
    queues: Vec<Queue>,
    /// Number of ready vCPUs.
    ready: usize,
    /// By hardware thread: all of its core.
    siblings: Vec<Vec<usize>>,
    /// How much virtual time one may be ahead of another that would have to move.
    slack: u64,
    /// The greatest virtual time with which a vCPU was chosen.
    floor: u64,
}

impl Default for RunQueue {
    fn default() -> Self {
        let queues = vec![Queue::new()];
        let members = Vec::new();
        Self { members, queues, ready: 0, siblings: Vec::new(), slack: 0, floor: 0 }
    }
}

impl RunQueue {
    /// The hardware threads are on these cores, and a slice has so many ticks. Once, before a vCPU has run.
    pub fn set_threads(&mut self, cores: &[u32], slice: u64) {
        let threads = |core| (0..cores.len()).filter(move |thread| cores[*thread] == core);
        self.siblings = cores.iter().map(|core| threads(*core).collect()).collect();
        self.queues.splice(0..0, cores.iter().map(|_| Queue::new()));
        for member in &mut self.members {
            member.home = cores.len();
            member.queue = member.queue.map(|_| cores.len());
        }
        self.slack = slice;
    }

    /// The hardware threads of a thread's core.
    #[must_use]
    pub fn siblings(&self, thread: usize) -> &[usize] {
        self.siblings.get(thread).map_or(&[], Vec::as_slice)
    }

    /// The queue of those that no thread ran.
    fn homeless(&self) -> usize {
        self.queues.len() - 1
    }

    /// A new vCPU, not ready yet. `weight` is at least 1.
    pub fn add(&mut self, weight: u32) -> VcpuId {
        let id = VcpuId(u32::try_from(self.members.len()).expect("fewer than 2^32 vCPUs"));
        let home = self.homeless();
        self.members.push(Member { weight: weight.max(1), virtual_time: 0, queue: None, home });
        id
    }

    /// `id`, which the hardware thread `home` ran last, can run. Nothing happens if it could already.
    pub fn make_ready(&mut self, id: VcpuId, home: Option<usize>) {
        let homeless = self.homeless();
        let home = home.filter(|home| *home < homeless).unwrap_or(homeless);
        let oldest = self.floor.saturating_sub(CREDIT_TICKS);
        let member = &mut self.members[id.0 as usize];
        if member.queue.is_none() {
            member.home = home;
            member.virtual_time = member.virtual_time.max(oldest);
            self.insert(id);
        }
    }

    fn insert(&mut self, id: VcpuId) {
        let member = &mut self.members[id.0 as usize];
        member.queue = Some(member.home);
        self.queues[member.home].insert((member.virtual_time, id));
        self.ready += 1;
    }

    /// `id` cannot run any more. Nothing happens if it could not, or is running.
    pub fn remove(&mut self, id: VcpuId) {
        let member = &mut self.members[id.0 as usize];
        if let Some(queue) = member.queue.take() {
            self.queues[queue].remove((member.virtual_time, id));
            self.ready -= 1;
        }
    }

    /// Takes the one that runs next on `thread`. It has to be given back with [`RunQueue::make_ready`].
    pub fn take(&mut self, thread: usize) -> Option<VcpuId> {
        let id = self.next(thread)?;
        self.floor = self.floor.max(self.members[id.0 as usize].virtual_time);
        self.remove(id);
        Some(id)
    }

    /// The one that runs next on `thread`.
    #[must_use]
    pub fn next(&self, thread: usize) -> Option<VcpuId> {
        if self.is_empty() {
            return None;
        }
        let least = self.least();
        let own = self.own(thread);
        if self.is_near(own.0, least) {
            return Some(own.1);
        }
        let of_core = self.first_in(self.siblings(thread).iter().copied());
        if self.is_near(of_core.0, least) {
            return Some(of_core.1);
        }
        Some(self.first_in(0..self.queues.len()).1)
    }

    /// Of the vCPUs in these queues, the one that is furthest behind.
    fn first_in(&self, queues: impl Iterator<Item = usize>) -> Place {
        queues.map(|queue| self.queues[queue].first).min().unwrap_or(NOBODY)
    }

    /// Of those that are at home on `thread` or nowhere, the one that is furthest behind.
    fn own(&self, thread: usize) -> Place {
        let homeless = self.homeless();
        let at_home = if thread < homeless { self.queues[thread].first } else { NOBODY };
        at_home.min(self.queues[homeless].first)
    }

    /// The least virtual time of a ready vCPU.
    fn least(&self) -> u64 {
        self.queues.iter().map(|queue| queue.first.0).min().unwrap_or(u64::MAX)
    }

    /// Whether one with this virtual time may run before one with the least.
    fn is_near(&self, virtual_time: u64, least: u64) -> bool {
        virtual_time <= least || virtual_time - least < self.slack
    }

    /// Whether `id`, which was taken for `thread`, would be taken again now if it were given back.
    pub fn goes_on(&mut self, id: VcpuId, thread: usize) -> bool {
        let oldest = self.floor.saturating_sub(CREDIT_TICKS);
        let member = &mut self.members[id.0 as usize];
        member.virtual_time = member.virtual_time.max(oldest);
        let mine = (member.virtual_time, id);
        let goes_on = mine < self.own(thread) && self.is_near(mine.0, self.least());
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
        let scaled = if member.weight == WEIGHT_DEFAULT {
            ticks
        } else {
            (u128::from(ticks) * u128::from(WEIGHT_DEFAULT) / u128::from(member.weight)) as u64
        };
        member.virtual_time = member.virtual_time.saturating_add(scaled);
        if is_ready {
            self.insert(id);
        }
    }

    /// Whether `id` waits for a processor.
    #[must_use]
    pub fn is_ready(&self, id: VcpuId) -> bool {
        self.members[id.0 as usize].queue.is_some()
    }

    /// Whether nobody is ready.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ready == 0
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
