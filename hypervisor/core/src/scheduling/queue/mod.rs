//! Who runs next, and who has to be woken when: pure bookkeeping.
//!
//! Each vCPU has a virtual time, which runs slower the greater its weight is; the ready one that is
//! furthest behind runs next, for a slice at most. A slice is as long for all in virtual time, the *span*: the
//! heaviest run for the whole slice of the policy, the others for less of it in proportion, but not for less than
//! one of [`SLICE_PARTS`]. So two vCPUs that are always ready are never further apart than a span, on one hardware thread,
//! and that is what the bound on what others can take from one follows from (`docs/containment.md`).
//!
//! Three rules keep it so. One that wakes begins where the others are: it has no claim to the time that it slept,
//! and as the others have run since, it soon runs. One that nobody waited for is charged for no more than a span:
//! what it used, nobody lacked. And one that runs all the time and is behind nevertheless, as it has the weight for
//! more than a thread, is never more than a span behind.
//!
//! A hardware thread prefers vCPUs that it ran last, then those that its core ran last, before the one that is
//! furthest behind, as long as they are less than a span ahead of that one. They run for as much less, but for a
//! quarter of their slice: then nobody is kept waiting for long, and a vCPU moves only where threads would not have
//! equal work otherwise.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

/// The weight of a vCPU whose partition does not say.
pub const WEIGHT_DEFAULT: u32 = 100;
/// The lightest vCPUs run for this part of a slice.
pub const SLICE_PARTS: u64 = 16;

/// A vCPU's number in the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VcpuId(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    weight: u32,
    /// Ticks that it runs when others wait, at most.
    slice: u64,
    virtual_time: u64,
    /// Of a tick of virtual time, how many parts of the weight it has used besides: short stays add up.
    parts: u64,
    /// What it was charged in all, in ticks.
    charged: u64,
    /// How much of that passed outside of the hypervisor, or in a hypercall that it answered at once.
    inside: u64,
    /// The queue that it is in, if it is ready.
    queue: Option<usize>,
    /// The queue that it was in last.
    home: usize,
}

impl Member {
    /// How far so many more ticks move its virtual time.
    fn virtual_ticks(&mut self, ticks: u64) -> u64 {
        if self.weight == WEIGHT_DEFAULT {
            return ticks;
        }
        let weight = u64::from(self.weight);
        let scaled = ticks.saturating_mul(u64::from(WEIGHT_DEFAULT)).saturating_add(self.parts);
        self.parts = scaled % weight;
        scaled / weight
    }
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
    /// A slice in virtual time.
    span: u64,
    /// The greatest virtual time with which a vCPU was chosen.
    floor: u64,
}

impl Default for RunQueue {
    fn default() -> Self {
        let queues = vec![Queue::new()];
        let members = Vec::new();
        let siblings = Vec::new();
        Self { members, queues, ready: 0, siblings, span: 0, floor: 0 }
    }
}

impl RunQueue {
    /// The hardware threads are on these cores, and the heaviest vCPUs run for so many ticks when others wait. Once,
    /// when all vCPUs were added and before one has run.
    pub fn set_threads(&mut self, cores: &[u32], slice: u64) {
        let threads = |core| (0..cores.len()).filter(move |thread| cores[*thread] == core);
        self.siblings = cores.iter().map(|core| threads(*core).collect()).collect();
        self.queues.splice(0..0, cores.iter().map(|_| Queue::new()));
        let heaviest = self.members.iter().map(|member| member.weight).max().unwrap_or(1);
        for member in &mut self.members {
            member.home = cores.len();
            member.queue = member.queue.map(|_| cores.len());
            let whole = u128::from(slice) * u128::from(member.weight) / u128::from(heaviest);
            member.slice = (whole as u64).max(slice / SLICE_PARTS).max(1);
        }
        self.span = virtual_ticks(slice, heaviest);
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
        let weight = weight.max(1);
        let member = Member {
            weight,
            slice: 0,
            virtual_time: 0,
            parts: 0,
            charged: 0,
            inside: 0,
            queue: None,
            home,
        };
        self.members.push(member);
        id
    }

    /// How long `id` may run now while others wait, in ticks: a slice, less what it is ahead of them.
    #[must_use]
    pub fn slice(&self, id: VcpuId) -> u64 {
        let Member { weight, slice, virtual_time, .. } = self.members[id.0 as usize];
        let ahead = match virtual_time.saturating_sub(self.least()) {
            ticks if weight == WEIGHT_DEFAULT => ticks,
            ticks => {
                let ticks = u128::from(ticks) * u128::from(weight) / u128::from(WEIGHT_DEFAULT);
                u64::try_from(ticks).unwrap_or(u64::MAX)
            }
        };
        slice - ahead.min(slice - slice / 4)
    }

    /// `id`, which the hardware thread `home` has run, can go on. Nothing happens if it is ready already.
    pub fn make_ready(&mut self, id: VcpuId, home: Option<usize>) {
        self.enter(id, home, self.floor.saturating_sub(self.span));
    }

    /// `id`, which the hardware thread `home` ran last, can run again. Nothing happens if it is ready already.
    pub fn wake(&mut self, id: VcpuId, home: Option<usize>) {
        self.enter(id, home, self.floor);
    }

    fn enter(&mut self, id: VcpuId, home: Option<usize>, least: u64) {
        let homeless = self.homeless();
        let home = home.filter(|home| *home < homeless).unwrap_or(homeless);
        let member = &mut self.members[id.0 as usize];
        if member.queue.is_none() {
            member.home = home;
            member.virtual_time = member.virtual_time.max(least);
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
        virtual_time <= least || virtual_time - least < self.span
    }

    /// Whether `id`, which was taken for `thread`, would be taken again now if it were given back.
    pub fn goes_on(&mut self, id: VcpuId, thread: usize) -> bool {
        let oldest = self.floor.saturating_sub(self.span);
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

    /// So many ticks passed at the expense of `id`.
    pub fn charge(&mut self, id: VcpuId, ticks: u64) {
        self.advance(id, ticks, u64::MAX);
    }

    /// `id` ran for so many ticks, or another one did at its expense; nobody may have waited for them.
    pub fn charge_stay(&mut self, id: VcpuId, ticks: u64, runs_on: bool) {
        let farthest = if runs_on { self.floor.saturating_add(self.span) } else { u64::MAX };
        self.members[id.0 as usize].inside += ticks;
        self.advance(id, ticks, farthest);
    }

    /// Lets the virtual time of `id` go on by these ticks, but not beyond `farthest`.
    fn advance(&mut self, id: VcpuId, ticks: u64, farthest: u64) {
        let is_ready = self.take_this(id);
        let member = &mut self.members[id.0 as usize];
        member.charged += ticks;
        let after = member.virtual_time.saturating_add(member.virtual_ticks(ticks));
        member.virtual_time = after.min(farthest.max(member.virtual_time));
        if is_ready {
            self.insert(id);
        }
    }

    /// What `id` was charged in all, in ticks, and how much of it passed outside of the hypervisor.
    #[must_use]
    pub fn charged(&self, id: VcpuId) -> [u64; 2] {
        let member = &self.members[id.0 as usize];
        [member.charged, member.inside]
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

/// How far so many ticks of a vCPU with this weight move its virtual time.
fn virtual_ticks(ticks: u64, weight: u32) -> u64 {
    if weight == WEIGHT_DEFAULT {
        return ticks;
    }
    let scaled = u128::from(ticks) * u128::from(WEIGHT_DEFAULT) / u128::from(weight);
    u64::try_from(scaled).unwrap_or(u64::MAX)
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
mod tests;

#[cfg(test)]
mod bound_tests;
