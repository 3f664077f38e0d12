//! Who runs next: pure bookkeeping.
//!
//! Each vCPU has a virtual time: the ticks that it was charged over its weight. So has the machine, the
//! *clock*: the ticks that passed on all hardware threads over the weight of all. One whose virtual time is not
//! ahead of the clock is *due*. Each asks for one slice at a time, which is as long for all, and has until its
//! *deadline* for it: its virtual time and a slice over its weight, its *period*. Of those that are due the one
//! with the earliest deadline runs, for a slice at most. If nobody is due, the clock jumps to the first of
//! those that wait.
//!
//! So on one hardware thread no vCPU that can run is ever more than a slice ahead of its share, nor a slice behind:
//!
//! - *Ahead*: it begins when it is due, and runs for a slice at most.
//! - *Behind*: take one that begins its slice after its deadline *d*, and before that the last moment at which
//!   somebody with a later deadline was chosen, or the clock jumped. Of those that were ready and due then,
//!   none had a deadline until *d*, or it would have been chosen. The others were ahead of the clock, which was
//!   at *c*. So by slices with deadlines until *d* nobody was given more than its weight times *d - c* from
//!   then on, and all together no more than passes until the clock is at *d*. Besides there is only what was
//!   chosen at that moment, a slice at most. So the slice is over when all were charged a slice since the clock
//!   was at *d*, and it began when the clock was at *d*: a period past the vCPU's virtual time.
//!
//! A slice of one, at the begin of an interval, and one of the other, at its end, are the two of
//! `docs/containment.md`, which also says what becomes of this on several threads.
//!
//! Five rules keep it so. What somebody gives away counts as run until it is returned: otherwise one could give
//! a slice away on each thread at once. One that wakes has no claim to the time that it slept, and is due but
//! for what it owes. One that nobody waited for is ahead by no more than a period: what it used, nobody lacked.
//! A jump of the clock takes along those that run, as it is no time that they could have had. And one that runs
//! all the time and is behind nevertheless, as it has the weight for more than a thread, is never behind by
//! more periods than there are threads and one: it could give away at once what it has saved up.
//!
//! On several threads nobody's weight is for more than two of them, as a vCPU can run on one only. The others
//! run for what they were not charged yet. A choice counts that too, the *lead* of the clock. Otherwise the
//! first thread whose slice ends would find its own vCPUs ahead, and take one that waits for another thread.
//!
//! A hardware thread prefers vCPUs that it ran last, then those that its core ran last, to the earliest deadline, as
//! long as theirs are less than a period of the heaviest later, the *span*. So a vCPU moves only where
//! threads would not have equal work otherwise.

mod order;
mod timers;
mod virtual_time;

use alloc::vec;
use alloc::vec::Vec;

pub use timers::{Due, Timers};

use crate::vcpu_id::VcpuId;

use order::{NOBODY, Order, Place};
use virtual_time::Rate;

/// The weight of a vCPU whose partition does not say.
pub const WEIGHT_DEFAULT: u32 = 100;

/// Bytes that a ready vCPU takes in a queue.
pub const PLACE_BYTES: usize = size_of::<Place>();

/// The slice with which nobody falls behind by more than two of `promised`: a sixteenth shorter. On several
/// threads the queue keeps no exact bound: of 120,000 random contests one was 2.03 of its slices behind, and
/// 2.09 in finer steps.
#[must_use]
pub const fn slice_within(promised: u64) -> u64 {
    promised - promised / 16
}

/// Where a ready vCPU waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seat {
    /// It is not ahead of the clock, by all that may have passed.
    Due,
    /// It was ahead of the clock, or alone: who looks for the next finds out whether it is due by now.
    Early,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    rate: Rate,
    /// It has the weight for a hardware thread, or more.
    is_due_a_thread: bool,
    virtual_time: u64,
    /// A slice in its virtual time.
    period: u64,
    /// What it has given away of its slices and others may still run at its expense, in ticks.
    lent: u64,
    /// That in its virtual time, which it is a part of.
    lent_time: u64,
    /// What it was charged in all, in ticks.
    charged: u64,
    /// How much of that passed outside of the hypervisor, or in a hypercall that it answered at once.
    inside: u64,
    /// Where it waits, if it is ready.
    seat: Option<Seat>,
    /// By how much the clock had jumped in all when it came to run.
    jumped: u64,
    /// The queue that it is in when it is ready and due.
    home: usize,
    /// How often it was stopped.
    stops: u64,
}

/// The vCPUs that are ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunQueue {
    members: Vec<Member>,
    /// Those that are due, by deadline, for each hardware thread that ran them last; at the end those that none
    /// ran so far.
    due: Vec<Order>,
    /// The others, by virtual time.
    early: Order,
    /// Number of ready vCPUs.
    ready: usize,
    /// By hardware thread: all of its core.
    siblings: Vec<Vec<usize>>,
    /// A slice, in ticks.
    slice: u64,
    /// A slice in the virtual time of the heaviest.
    span: u64,
    /// The virtual time of all together, but for the ticks that follow.
    clock: u64,
    rate: Rate,
    /// How much farther it is by what runs and was not charged yet.
    lead: u64,
    /// What has passed since the clock was looked at.
    passed: u64,
    /// By how much the clock has jumped in all.
    jumped: u64,
}

impl Default for RunQueue {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            due: vec![Order::new()],
            early: Order::new(),
            ready: 0,
            siblings: Vec::new(),
            slice: 0,
            span: 0,
            clock: 0,
            rate: Rate::new(0),
            lead: 0,
            passed: 0,
            jumped: 0,
        }
    }
}

impl RunQueue {
    /// The hardware threads are on these cores, and each vCPU runs for so many ticks when others wait. Once, when
    /// all vCPUs were added and before one has run.
    pub fn set_threads(&mut self, cores: &[u32], slice: u64) {
        self.set_places(cores, slice, cores.len());
    }

    /// The same where so many partitions at most run at a time, and each vCPU pays for that as
    /// [`RunQueue::charge_core`] says.
    #[inline(always)]
    pub fn set_places(&mut self, cores: &[u32], slice: u64, places: usize) {
        let ids = (0..self.members.len() as u32).map(VcpuId);
        let ready: Vec<VcpuId> = ids.filter(|id| self.take_this(*id)).collect();
        let threads = |core| (0..cores.len()).filter(move |thread| cores[*thread] == core);
        self.siblings = cores.iter().map(|core| threads(*core).collect()).collect();
        self.limit_weights(places);
        self.due.splice(0..0, cores.iter().map(|_| Order::new()));
        self.slice = slice;
        for member in &mut self.members {
            member.home = cores.len();
            member.period = member.rate.length(slice).max(1);
        }
        self.span = self.members.iter().map(|member| member.period).min().unwrap_or(0);
        ready.into_iter().for_each(|id| self.insert(id));
    }

    /// Threads keep to their own by a quarter of a period less. Where those of a core come out together, one that came
    /// last has had less than a slice, and would be near enough to stay for another one.
    pub fn narrow_span(&mut self) {
        self.span -= self.span / 4;
    }

    /// Nobody has the weight for more than two threads of so many: who has more counts as if it had the weight
    /// for two, where those that have the weight for one run on one each, and the others share the rest.
    ///
    /// If it counted as just one, it would be a little ahead of the clock after a slice now and then, and not due.
    #[inline(always)]
    fn limit_weights(&mut self, threads: usize) {
        let mut weights: Vec<u64> = self.members.iter().map(|member| member.rate.weight).collect();
        weights.sort_unstable();
        let (mut rest, mut left) = (self.rate.weight, threads as u64);
        while let Some(heaviest) = weights.pop()
            && heaviest < rest
            && heaviest * left > rest
        {
            (rest, left) = (rest - heaviest, left - 1);
        }
        // Where each can have a thread to itself, they are told from the lightest.
        let one = if weights.is_empty() { rest } else { rest.div_ceil(left) };
        for member in &mut self.members {
            member.is_due_a_thread = member.rate.weight >= one;
            member.rate = Rate::new(member.rate.weight.min(2 * one));
        }
        self.rate = Rate::new(self.members.iter().map(|member| member.rate.weight).sum());
    }

    /// The hardware threads of a thread's core.
    #[must_use]
    pub fn siblings(&self, thread: usize) -> &[usize] {
        self.siblings.get(thread).map_or(&[], Vec::as_slice)
    }

    /// How long a vCPU may run while others wait, in ticks.
    #[must_use]
    pub const fn slice(&self) -> u64 {
        self.slice
    }

    /// The queue of those that no thread ran.
    fn homeless(&self) -> usize {
        self.due.len() - 1
    }

    /// A new vCPU, not ready yet. `weight` is at least 1.
    pub fn add(&mut self, weight: u32) -> VcpuId {
        let id = VcpuId(u32::try_from(self.members.len()).expect("fewer than 2^32 vCPUs"));
        let rate = Rate::new(weight.max(1).into());
        self.rate = Rate::new(self.rate.weight + rate.weight);
        self.members.push(Member {
            rate,
            is_due_a_thread: false,
            virtual_time: 0,
            period: 0,
            lent: 0,
            lent_time: 0,
            charged: 0,
            inside: 0,
            seat: None,
            jumped: 0,
            home: self.homeless(),
            stops: 0,
        });
        id
    }

    #[inline]
    fn member(&mut self, id: VcpuId) -> &mut Member {
        &mut self.members[id.0 as usize]
    }

    /// `id`, which the hardware thread `home` has run, can go on. Nothing happens if it is ready already.
    #[inline]
    pub fn make_ready(&mut self, id: VcpuId, home: Option<usize>) {
        if !self.is_ready(id) {
            self.take_along(id);
            let (clock, threads) = (self.look_at_clock(), self.due.len() as u64);
            let member = self.member(id);
            let oldest = clock.saturating_sub(threads * member.period);
            member.virtual_time = member.virtual_time.max(oldest + member.lent_time);
            self.enter(id, home);
        }
    }

    /// `id`, which the hardware thread `home` ran last, can run again. Nothing happens if it is ready already.
    pub fn wake(&mut self, id: VcpuId, home: Option<usize>) {
        if !self.is_ready(id) {
            self.look_at_clock();
            let clock = self.latest();
            let member = self.member(id);
            member.virtual_time = member.virtual_time.max(clock + member.lent_time);
            self.enter(id, home);
        }
    }

    /// `id`, which runs, goes with the clock where that has jumped since it came to run.
    #[inline]
    fn take_along(&mut self, id: VcpuId) {
        let jumped = self.jumped;
        let member = self.member(id);
        member.virtual_time += jumped - core::mem::replace(&mut member.jumped, jumped);
    }

    #[inline]
    fn enter(&mut self, id: VcpuId, home: Option<usize>) {
        let homeless = self.homeless();
        self.member(id).home = home.filter(|home| *home < homeless).unwrap_or(homeless);
        self.insert(id);
    }

    /// Where nobody else waits, nothing asks whether it is due before somebody looks who is.
    #[inline]
    fn insert(&mut self, id: VcpuId) {
        let seat = if self.is_empty() { Seat::Early } else { self.seat_of(id) };
        self.sit(id, seat);
        self.ready += 1;
    }

    #[inline]
    fn sit(&mut self, id: VcpuId, seat: Seat) {
        self.member(id).seat = Some(seat);
        let (order, place) = self.place(id, seat);
        order.insert(place);
    }

    /// `id` cannot run any more. Nothing happens if it could not, or is running.
    #[inline]
    pub fn remove(&mut self, id: VcpuId) {
        if let Some(seat) = self.member(id).seat.take() {
            let (order, place) = self.place(id, seat);
            order.remove(place);
            self.ready -= 1;
            self.members[id.0 as usize].jumped = self.jumped;
        }
    }

    /// Where `id` is when it has this seat.
    #[inline]
    fn place(&mut self, id: VcpuId, seat: Seat) -> (&mut Order, Place) {
        let Member { virtual_time, home, .. } = self.members[id.0 as usize];
        let deadline = self.deadline(id);
        match seat {
            Seat::Due => (&mut self.due[home], (deadline, id)),
            Seat::Early => (&mut self.early, (virtual_time, id)),
        }
    }

    /// Until when `id` is to have had its next slice.
    #[inline]
    fn deadline(&self, id: VcpuId) -> u64 {
        let Member { virtual_time, period, .. } = self.members[id.0 as usize];
        virtual_time.saturating_add(period)
    }

    /// Lets the clock go on to now.
    #[inline]
    fn look_at_clock(&mut self) -> u64 {
        if self.passed > 0 {
            let passed = core::mem::take(&mut self.passed);
            self.clock = self.clock.saturating_add(self.rate.pass(passed));
        }
        self.clock
    }

    /// So many ticks have passed on all hardware threads that nobody was charged for yet.
    #[inline]
    pub fn see_uncharged(&mut self, ticks: u64) {
        self.lead = self.rate.length(ticks);
    }

    /// So many ticks have passed on a hardware thread that no vCPU is charged for: it was idle, for instance.
    /// The clock goes on, as who ran meanwhile on another thread did not take them from anybody.
    #[inline]
    pub fn pass(&mut self, ticks: u64) {
        self.passed = self.passed.saturating_add(ticks);
    }

    /// Where the clock is, with what is not charged yet.
    const fn latest(&self) -> u64 {
        self.clock.saturating_add(self.lead)
    }

    /// Those that are not ahead of the clock any more are due.
    #[inline]
    fn seat_due(&mut self) {
        if self.early.first.0 <= self.latest() {
            self.seat_first();
        }
    }

    /// The same, of whom there is at least one.
    #[inline(never)]
    fn seat_first(&mut self) {
        let latest = self.latest();
        while self.early.first.0 <= latest {
            let (_, id) = self.early.first;
            self.early.remove(self.early.first);
            self.sit(id, Seat::Due);
        }
    }

    /// The earliest deadline of those that are due. If nobody is, the clock jumps to the first of those that
    /// wait, or to one with this virtual time.
    #[inline]
    fn first_due(&mut self, other: u64) -> Place {
        let first = self.first_in(0..self.due.len());
        let next = other.min(self.early.first.0);
        if first != NOBODY || next <= self.latest() {
            return first;
        }
        let ahead = next - self.latest();
        self.jumped += ahead;
        self.clock += ahead;
        self.seat_due();
        self.first_in(0..self.due.len())
    }

    /// Takes the one that runs next on `thread`. It has to be given back with [`RunQueue::make_ready`].
    #[inline]
    pub fn take(&mut self, thread: usize) -> Option<VcpuId> {
        let id = self.next(thread)?;
        self.remove(id);
        Some(id)
    }

    /// The one that runs next on `thread`.
    #[must_use]
    #[inline]
    pub fn next(&mut self, thread: usize) -> Option<VcpuId> {
        match self.ready {
            0 => return None,
            1 => return Some(self.only()),
            _ => {}
        }
        self.look_at_clock();
        self.seat_due();
        let first = self.first_due(u64::MAX);
        let own = self.own(thread);
        if self.is_near(own.0, first.0) {
            return Some(own.1);
        }
        let of_core = self.first_in(self.siblings(thread).iter().copied());
        Some(if self.is_near(of_core.0, first.0) { of_core } else { first }.1)
    }

    /// The one that waits, where it is the only one: it is next on any thread, and the clock jumps to it if it is
    /// ahead. Where two hand a hardware thread to and fro, it may be due by now or not, so nothing asks for that.
    #[inline]
    fn only(&mut self) -> VcpuId {
        let first = self.early.first;
        if first == NOBODY {
            return self.first_in(0..self.due.len()).1;
        }
        self.look_at_clock();
        let ahead = first.0.saturating_sub(self.latest());
        self.jumped += ahead;
        self.clock += ahead;
        first.1
    }

    /// Of the vCPUs in these queues, the one with the earliest deadline.
    #[inline]
    fn first_in(&self, queues: impl Iterator<Item = usize>) -> Place {
        queues.map(|queue| self.due[queue].first).min().unwrap_or(NOBODY)
    }

    /// Of those that are due and at home on `thread` or nowhere, the one with the earliest deadline.
    #[inline]
    fn own(&self, thread: usize) -> Place {
        let homeless = self.homeless();
        let at_home = if thread < homeless { self.due[thread].first } else { NOBODY };
        at_home.min(self.due[homeless].first)
    }

    /// Whether one with this deadline may run before one with the first.
    #[inline]
    fn is_near(&self, deadline: u64, first: u64) -> bool {
        deadline <= first || deadline - first < self.span
    }

    /// Whether `id`, which was taken for `thread`, would be taken again now if it were given back.
    pub fn goes_on(&mut self, id: VcpuId, thread: usize) -> bool {
        self.take_along(id);
        self.look_at_clock();
        self.seat_due();
        let virtual_time = self.members[id.0 as usize].virtual_time;
        let mine = (self.deadline(id), id);
        let own = self.own(thread);
        if own < mine || (own != NOBODY && virtual_time > self.latest()) {
            return false;
        }
        let first = self.first_due(virtual_time);
        self.members[id.0 as usize].jumped = self.jumped;
        virtual_time <= self.latest() && mine < self.own(thread) && self.is_near(mine.0, first.0)
    }

    /// The deadline of `id`, which was taken and has run for `ticks` that it was not charged for, if it comes
    /// before all that wait.
    pub fn first_deadline(&mut self, id: VcpuId, ticks: u64) -> Option<u64> {
        self.look_at_clock();
        self.seat_due();
        let Member { virtual_time, period, jumped, rate, .. } = self.members[id.0 as usize];
        let virtual_time = virtual_time + (self.jumped - jumped) + rate.length(ticks);
        let deadline = virtual_time.saturating_add(period);
        let is_first = deadline <= self.first_in(0..self.due.len()).0;
        (is_first && virtual_time <= self.latest()).then_some(deadline)
    }

    /// Takes `id`, if it is ready; whether it was.
    pub fn take_this(&mut self, id: VcpuId) -> bool {
        let is_ready = self.is_ready(id);
        self.remove(id);
        is_ready
    }

    /// `id` is stopped, and cannot run any more: how often it was.
    pub fn stop(&mut self, id: VcpuId) -> u64 {
        self.remove(id);
        let member = self.member(id);
        member.stops += 1;
        member.stops
    }

    /// How often `id` was stopped.
    #[must_use]
    #[inline]
    pub fn stops(&self, id: VcpuId) -> u64 {
        self.members[id.0 as usize].stops
    }

    /// Takes the one of these that runs next on `thread`, if one is ready; one that it ran last as in
    /// [`RunQueue::next`].
    pub fn take_of(
        &mut self,
        ids: impl Iterator<Item = VcpuId> + Clone,
        thread: usize,
    ) -> Option<VcpuId> {
        self.look_at_clock();
        self.seat_due();
        let first = self.first_of(ids.clone())?;
        let is_at_home = |id: &VcpuId| self.members[id.0 as usize].home == thread;
        let own = self.first_of(ids.filter(is_at_home));
        let is_near = |own: &VcpuId| self.is_near(self.deadline(*own), self.deadline(first));
        let id = own.filter(is_near).unwrap_or(first);
        self.remove(id);
        Some(id)
    }

    /// Whether one of these is ready.
    pub fn has_one_of(&self, mut ids: impl Iterator<Item = VcpuId>) -> bool {
        ids.any(|id| self.is_ready(id))
    }

    /// Of these, the one that would run next, if one is ready.
    pub fn first_of(&self, ids: impl Iterator<Item = VcpuId>) -> Option<VcpuId> {
        let ready = ids.filter(|id| self.is_ready(*id));
        ready.min_by_key(|id| {
            (self.members[id.0 as usize].virtual_time > self.latest(), self.deadline(*id), *id)
        })
    }

    /// Of a slice of `id`'s, others may run so many ticks at its expense `now`, and so many `before`.
    ///
    /// Not inlined, as few slices are given away.
    #[inline(never)]
    pub fn lend(&mut self, id: VcpuId, before: u64, now: u64) {
        let is_ready = self.take_this(id);
        let member = self.member(id);
        member.lent = member.lent - before + now;
        let lent_time = member.rate.length(member.lent);
        let used = member.virtual_time - core::mem::replace(&mut member.lent_time, lent_time);
        member.virtual_time = used + lent_time;
        if is_ready {
            self.insert(id);
        }
    }

    /// So many ticks passed at the expense of `id`.
    #[inline]
    pub fn charge(&mut self, id: VcpuId, ticks: u64) {
        self.member(id).charged += ticks;
        self.pass(ticks);
        self.advance(id, ticks);
    }

    /// `id` ran for so many ticks, or another one did at its expense; nobody may have waited for them.
    #[inline]
    pub fn charge_stay(&mut self, id: VcpuId, ticks: u64, runs_on: bool) {
        let member = self.member(id);
        member.charged += ticks;
        member.inside += ticks;
        self.pass(ticks);
        let is_bounded = runs_on && !self.stays_near(id, ticks);
        let ticks = if is_bounded { ticks.min(self.until_a_slice_ahead(id)) } else { ticks };
        self.advance(id, ticks);
    }

    /// `id` has kept others from so many ticks of other hardware threads too, which pass as theirs do.
    pub fn charge_core(&mut self, id: VcpuId, ticks: u64) {
        self.advance(id, ticks);
    }

    /// Whether so many ticks surely leave `id` less than a slice ahead of the clock: they do of where the clock
    /// was looked at last, and it only goes on. This is the way of every exit of a vCPU that runs alone.
    #[inline]
    fn stays_near(&self, id: VcpuId, ticks: u64) -> bool {
        let Member { virtual_time, period, jumped, rate, .. } = self.members[id.0 as usize];
        jumped == self.jumped
            && rate.is_usual()
            && virtual_time.saturating_add(ticks) <= self.clock.saturating_add(period)
    }

    /// How many ticks `id` can be charged until it is a slice ahead of the clock.
    fn until_a_slice_ahead(&mut self, id: VcpuId) -> u64 {
        if !self.is_ready(id) {
            self.take_along(id);
        }
        let clock = self.look_at_clock();
        let Member { virtual_time, period, rate, .. } = self.members[id.0 as usize];
        rate.ticks(clock.saturating_add(period).saturating_sub(virtual_time))
    }

    /// Lets the virtual time of `id` go on by these ticks.
    #[inline]
    fn advance(&mut self, id: VcpuId, ticks: u64) {
        let member = self.member(id);
        let before = member.virtual_time;
        member.virtual_time = before.saturating_add(member.rate.pass(ticks));
        if let Some(seat) = member.seat {
            self.move_on(id, seat, before);
        }
    }

    /// `id`, which is ready and has this seat, had another virtual time before. One that is early stays so until
    /// somebody looks who is due.
    #[inline(never)]
    fn move_on(&mut self, id: VcpuId, seat: Seat, before: u64) {
        let jumped = self.jumped;
        let member = self.member(id);
        member.jumped = jumped;
        let from = match seat {
            Seat::Due => before.saturating_add(member.period),
            Seat::Early => before,
        };
        let stays = seat == Seat::Early || self.seat_of(id) == seat;
        let (order, to) = self.place(id, seat);
        if stays {
            order.change((from, id), to);
        } else {
            order.remove((from, id));
            self.sit(id, Seat::Early);
        }
    }

    /// Where `id` belongs if it is ready.
    fn seat_of(&self, id: VcpuId) -> Seat {
        let is_due = self.members[id.0 as usize].virtual_time <= self.latest();
        if is_due { Seat::Due } else { Seat::Early }
    }

    /// What `id` was charged in all, in ticks, and how much of it passed outside of the hypervisor.
    #[must_use]
    pub fn charged(&self, id: VcpuId) -> [u64; 2] {
        let member = &self.members[id.0 as usize];
        [member.charged, member.inside]
    }

    /// Whether `id` waits for a processor.
    #[must_use]
    #[inline]
    pub fn is_ready(&self, id: VcpuId) -> bool {
        self.members[id.0 as usize].seat.is_some()
    }

    /// Whether `id` has the weight for a hardware thread, or more: where all others share the other threads,
    /// they get what they are due.
    #[must_use]
    pub fn is_due_a_thread(&self, id: VcpuId) -> bool {
        self.members[id.0 as usize].is_due_a_thread
    }

    /// Whether nobody is ready.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.ready == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
