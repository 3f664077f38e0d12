//! What the hardware threads have to do: which vCPUs are ready, who sleeps until when, which thread is
//! idle, and whose doorbell has to be rung.
//!
//! There is one queue for all threads, behind one lock. What makes a lost wake-up impossible:
//!
//! - A thread clears its doorbell, then looks here, then waits or enters a guest; whoever changes something
//!   changes it here or in the partition first and rings then. So a doorbell that was cleared was rung for
//!   something that is seen, and any other ends the wait or the guest's stay; between two vCPUs one that is not
//!   seen to be rung is not cleared.
//! - A thread is idle only while the queue is empty; who makes a vCPU ready takes one idle thread off
//!   the list and rings it.
//! - A thread runs a vCPU without an end only while the queue is empty when it enters; who makes a vCPU ready
//!   and finds no idle thread rings all of these. Of these only one that runs a vCPU which is due a whole thread is
//!   not rung: others wait for the other threads then.
//! - Each thread that waits or runs is back in time for the first timer that it knows, unless another one is,
//!   or is in the hypervisor and decides after it; who sets a timer decides what to do next after that. So
//!   somebody comes for every timer, and interrupts no more than one vCPU for it.

mod sharing;
mod tenancy;

use alloc::vec;
use alloc::vec::Vec;

use sharing::Sharing;

use crate::hal::{Hal, Memory, Windows};
use crate::life::activity::{self, Sleep};
use crate::life::{Ended, MayRun};
use crate::partition::Partition;
use crate::scheduling::meter::{Debtor, Meter, Stay};
use crate::scheduling::queue::{Due, RunQueue, Timers};
use crate::sync::Lock;
use crate::vcpu::Vcpu;
use crate::vcpu_id::VcpuId;

/// Farther than any time that a slice ends, and near enough for the decrementers.
pub const FAR: u64 = 1 << 54;

/// What entering a guest and leaving it at once takes: a quarter of a microsecond of a 512 MHz time base. Less
/// than that of its limit is no time for a partition to run.
const TRIP_TICKS: u64 = 128;

/// What a hardware thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It runs this vCPU.
    Run(VcpuId),
    /// It waits, until this time at most, for its doorbell.
    Wait(u64),
    /// All vCPUs sleep and nothing will wake one soon.
    Stuck,
    /// All partitions are over.
    Over,
}

/// Where a hardware thread is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Whereabouts {
    /// It has not come yet.
    #[default]
    Away,
    /// In the hypervisor: it decides what it does next, or was rung for that.
    Deciding,
    /// It waits for work, until this time at most.
    Idle(u64),
    /// In a guest, until this time at most.
    Runs(u64),
}

impl Whereabouts {
    const fn is_idle(self) -> bool {
        matches!(self, Self::Idle(_))
    }

    /// Whether it looks at the timers at this time, or before.
    const fn is_back(self, time: u64) -> bool {
        match self {
            Self::Away => false,
            Self::Deciding => true,
            Self::Idle(until) | Self::Runs(until) => until <= time,
        }
    }
}

/// How a vCPU comes to a hardware thread.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Way {
    /// The schedule was told of it as it entered.
    #[default]
    Usual,
    /// It was let in as it was chosen, and may not have entered yet.
    LetIn,
    /// The same; at this time the end of the partition was decided that pays for its way.
    Forgiven(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Thread {
    whereabouts: Whereabouts,
    /// The vCPU that it has entered, until that leaves.
    vcpu: Option<VcpuId>,
    /// The vCPU that it has entered last.
    last: Option<VcpuId>,
    /// It runs a vCPU until something happens, as nobody waits, or as the vCPU comes before those that do.
    runs_on: bool,
    /// Nobody waited when it entered that.
    is_alone: bool,
    /// Until when somebody may have waited who did not call it back: it was looked at within a slice before.
    waited_for_until: u64,
    /// Its vCPU may wait in a `stop`, while it has the thread.
    may_pause: bool,
    /// The vCPU for which its doorbell was rung while it ran another.
    called_for: Option<VcpuId>,
    /// How the vCPU that it has entered, or is about to enter, came there.
    way: Way,
    /// Where its time went.
    meter: Meter,
}

/// Until when hardware threads' time is accounted for.
#[derive(Clone, Copy, Default, Debug)]
struct Accounted {
    /// Threads that have come.
    threads: u64,
    /// Until when, of all of them together.
    until: u64,
}

/// All vCPUs of the machine that can run or sleep until a time, and all hardware threads.
#[derive(Debug)]
pub struct Schedule {
    /// The vCPUs that can run.
    pub queue: RunQueue,
    /// Those that sleep until a time.
    pub timers: Timers,
    threads: Vec<Thread>,
    accounted: Accounted,
    /// Threads that are idle, or run on.
    at_hand: usize,
    /// Partitions that are not over.
    partitions: usize,
    /// Whose each core is; of none where threads do not share that.
    sharing: Sharing,
}

impl Schedule {
    /// Nothing to do for so many hardware threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            queue: RunQueue::default(),
            timers: Timers::default(),
            threads: vec![Thread::default(); threads],
            accounted: Accounted::default(),
            at_hand: 0,
            partitions: 0,
            sharing: Sharing::default(),
        }
    }

    /// A partition will run.
    pub fn add_partition(&mut self) {
        self.partitions += 1;
    }

    /// A partition is over; whether it was the last one.
    ///
    /// # Panics
    /// If more partitions end than were added.
    pub fn remove_partition(&mut self, _: &Ended) -> bool {
        self.partitions = self.partitions.checked_sub(1).expect("each partition ends once");
        self.partitions == 0
    }

    /// Number of hardware threads.
    #[must_use]
    #[inline]
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Where the time of `thread` went.
    #[must_use]
    pub fn meter(&self, thread: usize) -> &Meter {
        &self.threads[thread].meter
    }

    /// What a partition's vCPUs were charged in all, in ticks, and how much of it passed outside of the hypervisor.
    #[must_use]
    pub fn charged<H: Memory>(&self, partition: &Partition<H>) -> [u64; 2] {
        let charged = partition.vcpus.iter().map(|vcpu| self.queue.charged(vcpu.id));
        charged
            .fold([0; 2], |[all, inside], [more, more_inside]| [all + more, inside + more_inside])
    }

    /// Ticks that a partition may still run from `now` on, if it has a limit. Those count that will be charged to its
    /// vCPUs: what they run, and what they owe between two stays.
    #[must_use]
    pub fn time_left<H: Memory>(&self, partition: &Partition<H>, now: u64) -> Option<u64> {
        let limit = partition.time_limit?;
        let owed = self.spenders(partition).map(|meter| meter.uncharged(now));
        let [charged, _] = self.charged(partition);
        Some(limit.saturating_sub(owed.fold(charged, u64::saturating_add)))
    }

    /// When a partition uses up its time limit, or `since` if it did before. `None` if that is later than its
    /// vCPUs, which can `enter` their guests then, are back.
    #[must_use]
    pub fn out_of_time<H: Memory>(
        &self,
        partition: &Partition<H>,
        mut since: u64,
        enter: u64,
    ) -> Option<u64> {
        let mut until = enter.saturating_add(TRIP_TICKS);
        if self.time_left(partition, until)? > 0 {
            return None;
        }
        while since < until {
            let middle = since.midpoint(until);
            match self.time_left(partition, middle)? {
                0 => until = middle,
                _ => since = middle + 1,
            }
        }
        Some(until)
    }

    /// The accounts of the hardware threads whose time a partition pays for now.
    fn spenders<H: Memory>(&self, partition: &Partition<H>) -> impl Iterator<Item = &Meter> {
        let pays = |thread: &&Thread| {
            let payer = thread.vcpu.or(thread.meter.debtor().vcpu());
            payer.is_some_and(|payer| partition.has_vcpu(payer))
        };
        self.threads.iter().filter(pays).map(|thread| &thread.meter)
    }

    /// From `now` on `id`, which is entered, pays for what passes on `thread`, and not who owed its way.
    #[inline(never)]
    pub fn pay_entry(&mut self, thread: usize, id: VcpuId, now: u64) {
        let meter = &mut self.threads[thread].meter;
        let payer = meter.debtor().or(id);
        meter.owes(Debtor::Vcpu(id));
        self.charge(thread, now, payer);
    }

    /// A guest is entered on `thread` `now`: this vCPU, and whether it runs until something happens, as nobody waits.
    #[inline]
    pub fn enters(&mut self, thread: usize, id: VcpuId, runs_on: bool, now: u64) {
        if !self.threads[thread].meter.has_begun() {
            // What passes is seen before this first stay is over.
            self.pass(thread, now);
        }
        self.threads[thread].vcpu = Some(id);
        self.threads[thread].last = Some(id);
        // Of a call before it was let in anew.
        self.threads[thread].called_for = None;
        self.threads[thread].is_alone = runs_on;
        self.set_runs_on(thread, runs_on);
    }

    /// `id`, which [`Schedule::enters`] has let in on `thread` as it was chosen, will leave at the time `until`, or was
    /// stopped since or its partition concluded, and [`Schedule::does_not_enter`]. How often it was stopped so far.
    #[inline]
    pub fn lets_in(&mut self, thread: usize, id: VcpuId, until: u64) -> u64 {
        self.runs_until(thread, until);
        self.threads[thread].way = Way::LetIn;
        self.queue.stops(id)
    }

    /// The vCPU that was let in on `thread` does not enter.
    pub fn does_not_enter(&mut self, thread: usize) {
        self.set_runs_on(thread, false);
        let Thread { vcpu, whereabouts, called_for, way, meter, .. } = &mut self.threads[thread];
        (*vcpu, *whereabouts, *called_for) = (None, Whereabouts::Deciding, None);
        let debtor = meter.debtor();
        if let Way::Forgiven(end) = core::mem::take(way) {
            meter.owes(Debtor::End);
            self.charge(thread, end, debtor);
        }
    }

    /// Whether `id`, which `thread` enters `now` while others wait, needs no end: it would come before all of
    /// them two slices later still, and another thread looks here again within one, which calls it back when
    /// one slice later it would not.
    pub fn goes_before_others(&mut self, thread: usize, id: VcpuId, now: u64) -> bool {
        let soon = now.saturating_add(self.queue.slice());
        let looks =
            |(other, state): (usize, &Thread)| other != thread && state.whereabouts.is_back(soon);
        let goes_before = self.threads.iter().enumerate().any(looks)
            && self.queue.first_deadline(id, 2 * self.queue.slice()).is_some();
        if goes_before {
            self.set_runs_on(thread, true);
        }
        goes_before
    }

    /// Whether the vCPU that `thread` enters may wait in a `stop`, where nobody sees that it leaves the thread unused.
    #[inline]
    pub fn may_pause(&mut self, thread: usize, may_pause: bool) {
        self.threads[thread].may_pause = may_pause;
    }

    /// The vCPU `id` has left, and its stay on `thread` is charged. If it was called back for another one's
    /// sake, that one pays from now on, until `id` enters again.
    #[inline]
    pub fn leaves(&mut self, thread: usize, id: VcpuId) {
        let Thread { vcpu, meter, .. } = &mut self.threads[thread];
        vcpu.take_if(|_| meter.debtor().vcpu().is_some_and(|debtor| debtor != id));
    }

    /// The vCPU `id` gives `thread` back. If its partition's end was decided at the time `end`, that is the
    /// last that it pays for.
    #[inline]
    pub fn vacates(&mut self, thread: usize, id: VcpuId, end: Option<u64>) {
        self.threads[thread].vcpu = None;
        if let Some(end) = end {
            self.pays_last(thread, id, end);
        }
    }

    /// Not inlined, as it happens once to each vCPU.
    #[inline(never)]
    fn pays_last(&mut self, thread: usize, id: VcpuId, end: u64) {
        self.charge(thread, end, Debtor::Vcpu(id));
        self.threads[thread].meter.owes(Debtor::End);
    }

    /// The end of a partition was decided `now`: its vCPUs owe nothing from now on. Those that run pay when
    /// they leave, up to now. A thread that ran one of them last may wait for the partition's lock before it
    /// runs another one's, which does not pay for that.
    #[inline(never)]
    pub fn forgive<H: Memory>(&mut self, partition: &Partition<H>, now: u64) {
        for index in 0..self.threads.len() {
            let Thread { vcpu, last, called_for, way, meter, .. } = &mut self.threads[index];
            called_for.take_if(|id| partition.has_vcpu(*id));
            let debtor = meter.debtor();
            let is_its = |id: VcpuId| partition.has_vcpu(id);
            // Nobody knows here whether it has entered.
            if *way == Way::LetIn && debtor.vcpu().is_some_and(is_its) {
                *way = Way::Forgiven(now);
            }
            if vcpu.is_none()
                && !meter.is_waiting()
                && (debtor.vcpu().is_some_and(is_its) || last.is_some_and(is_its))
            {
                meter.owes(Debtor::End);
                self.charge(index, now, debtor);
            }
        }
    }

    /// Lets vCPU `index` of a partition, which does not run now, run, unless the partition is concluded or over.
    pub fn start_in<H: Memory>(&mut self, partition: &mut Partition<H>, index: usize, now: u64) {
        if let Some(permission) = partition.life.may_run() {
            self.start(&mut partition.vcpus[index], permission, now);
        }
    }

    /// Lets the vCPUs of a partition that came from another machine do what each does next.
    pub fn go_on<H: Memory>(
        &mut self,
        partition: &mut Partition<H>,
        next: &[activity::Next],
        now: u64,
    ) {
        let Partition { life, vcpus, .. } = partition;
        for (vcpu, next) in vcpus.iter_mut().zip(next) {
            match (life.may_run(), *next) {
                (Some(permission), activity::Next::Ready) => self.start(vcpu, permission, now),
                (Some(permission), activity::Next::Sleeps(sleep)) => {
                    self.sleep(vcpu, sleep, permission);
                }
                _ => {}
            }
        }
    }

    /// Charges what passed on `thread` up to `now`; to the hypervisor, if nobody comes next.
    #[inline]
    fn charge(&mut self, thread: usize, now: u64, payer: Debtor) {
        let ticks = self.pass(thread, now);
        let meter = &mut self.threads[thread].meter;
        match payer {
            Debtor::Vcpu(id) => return self.queue.charge(id, ticks),
            Debtor::End => meter.ends += ticks,
            Debtor::Next => meter.own += ticks,
        }
        self.queue.pass(ticks);
    }

    /// The account of `thread` goes on to `now`: how much has passed.
    #[inline]
    fn pass(&mut self, thread: usize, now: u64) -> u64 {
        let meter = &mut self.threads[thread].meter;
        if !meter.has_begun() {
            self.accounted.threads += 1;
            self.accounted.until += now;
        }
        let ticks = meter.pass(now);
        self.accounted.until += ticks;
        ticks
    }

    /// Charges a vCPU's stay on `thread`, and what came before it.
    pub fn stayed(&mut self, thread: usize, stay: Stay) {
        let mut debtor = self.threads[thread].meter.debtor().or(stay.vcpu);
        if let Way::Forgiven(end) = core::mem::take(&mut self.threads[thread].way) {
            self.charge(thread, end.min(stay.entered), debtor);
            debtor = Debtor::End;
        }
        self.charge(thread, stay.entered, debtor);
        let ticks = self.pass(thread, stay.ended());
        // What somebody waited for is not what nobody lacked.
        let waited_for = self.threads[thread].waited_for_until.saturating_sub(stay.entered);
        let waited_for = waited_for.min(ticks);
        if waited_for > 0 {
            self.queue.charge_stay(stay.payer, waited_for, false);
        }
        self.queue.charge_stay(stay.payer, ticks - waited_for, stay.runs_on);
        self.set_runs_on(thread, false);
        let Thread { whereabouts, meter, called_for, .. } = &mut self.threads[thread];
        *whereabouts = Whereabouts::Deciding;
        let caller = called_for.take();
        let debtor = if stay.is_interrupted { caller } else { Some(stay.payer) };
        meter.owes(debtor.map_or(Debtor::Next, Debtor::Vcpu));
        if !self.queue.is_empty() {
            self.see_uncharged(stay.ended());
        }
    }

    /// Tells the queue what has passed until `now` and was not charged yet.
    #[inline]
    fn see_uncharged(&mut self, now: u64) {
        let Accounted { threads, until } = self.accounted;
        self.queue.see_uncharged(threads.wrapping_mul(now).saturating_sub(until));
    }

    /// Accounts for the stay of a vCPU that nobody waited for and that gives up `thread`, and chooses who runs
    /// there next: whether that is the vCPU itself, as nobody else is ready and no timer is due. If not,
    /// nothing has happened.
    pub fn goes_on_alone(&mut self, thread: usize, stay: Stay) -> bool {
        let is_alone = self.threads[thread].runs_on
            && self.queue.is_empty()
            && self.timers.next().is_none_or(|time| time > stay.left);
        if is_alone {
            let whereabouts = self.threads[thread].whereabouts;
            self.stayed(thread, stay);
            self.set_runs_on(thread, true);
            self.threads[thread].whereabouts = whereabouts;
        }
        is_alone
    }

    /// `id` pays for what the hypervisor does on `thread` until the next vCPU enters.
    pub fn owes(&mut self, thread: usize, id: VcpuId) {
        self.threads[thread].meter.owes(Debtor::Vcpu(id));
    }

    /// `id` was taken for `thread`, and pays for its way if nobody else does.
    #[inline]
    pub fn expects(&mut self, thread: usize, id: VcpuId) {
        self.threads[thread].meter.expects(id);
    }

    /// Takes what `thread`, which is idle no more, has to see to, as its time has come.
    pub fn take_due(&mut self, thread: usize, now: u64) -> Option<Due> {
        self.stands(thread, Whereabouts::Deciding);
        let due = self.timers.take_due(now);
        let meter = &mut self.threads[thread].meter;
        let debtor = due.map_or(meter.debtor(), |due| meter.debtor().or(due.vcpu()));
        if meter.wakes() {
            let ticks = self.pass(thread, now);
            self.threads[thread].meter.idle += ticks;
            self.queue.pass(ticks);
        } else if debtor != Debtor::Next {
            self.charge(thread, now, debtor);
        }
        if let Some(due) = due {
            self.owes(thread, due.vcpu());
        }
        due
    }

    /// What `thread`, which runs nothing, does next. If nothing else can happen for `patience` ticks, what
    /// sleeps is not waited for.
    pub fn next(&mut self, thread: usize, now: u64, patience: u64) -> Next {
        let next = self.choose(thread, now, patience);
        self.decides(thread, now, next);
        next
    }

    /// Accounts for what `thread` does next.
    #[inline(always)]
    fn decides(&mut self, thread: usize, now: u64, next: Next) {
        if let Next::Run(id) = next {
            self.expects(thread, id);
        } else {
            let debtor = match self.threads[thread].meter.debtor() {
                // Nobody comes any more.
                Debtor::Next if next == Next::Over => Debtor::End,
                debtor => debtor,
            };
            self.charge(thread, now, debtor);
            // All partitions that are left are going to end, on this thread.
            let debtor = if next == Next::Stuck { Debtor::End } else { Debtor::Next };
            self.threads[thread].meter.owes(debtor);
        }
        if let Next::Wait(until) = next {
            self.stands(thread, Whereabouts::Idle(until));
            self.threads[thread].meter.waits();
        }
    }

    fn choose(&mut self, thread: usize, now: u64, patience: u64) -> Next {
        if self.partitions == 0 {
            return Next::Over;
        }
        if !self.queue.is_empty() {
            self.see_uncharged(now);
        }
        if let Some(id) = self.queue.take(thread) {
            return Next::Run(id);
        }
        let until = self.timers.next();
        let is_soon = until.is_some_and(|time| time.saturating_sub(now) <= patience);
        let is_idle =
            |(index, state): (usize, &Thread)| index == thread || state.whereabouts.is_idle();
        if !is_soon && self.threads.iter().enumerate().all(is_idle) {
            return Next::Stuck;
        }
        Next::Wait(until.unwrap_or_else(|| now.saturating_add(FAR)))
    }

    /// When `thread`, which is about to enter a guest, has to be back for a timer.
    #[must_use]
    #[inline]
    pub fn timer_to_watch(&self, thread: usize) -> Option<u64> {
        let time = self.timers.next()?;
        let watches =
            |(other, state): (usize, &Thread)| other != thread && state.whereabouts.is_back(time);
        (!self.threads.iter().enumerate().any(watches)).then_some(time)
    }

    /// The guest that `thread` enters has to leave at this time, at the latest.
    #[inline]
    pub fn runs_until(&mut self, thread: usize, until: u64) {
        self.threads[thread].whereabouts = Whereabouts::Runs(until);
    }

    /// Takes an idle thread off the list: `preferred`, or one of its core, or another; its doorbell has to be
    /// rung.
    pub fn take_idle(&mut self, preferred: Option<usize>) -> Option<usize> {
        let is_idle = |index: &usize| self.threads[*index].whereabouts.is_idle();
        let siblings = || preferred.map_or(&[][..], |thread| self.queue.siblings(thread));
        let found = preferred
            .filter(is_idle)
            .or_else(|| siblings().iter().copied().find(is_idle))
            .or_else(|| (0..self.threads.len()).find(is_idle))?;
        self.stands(found, Whereabouts::Deciding);
        Some(found)
    }

    /// Rings for a vCPU that was made ready `now`, which pays for it if it is named: an idle thread, as
    /// [`Schedule::take_idle`] finds it, or else those that [`Schedule::call_back`] finds. Whether one was idle.
    pub fn call(
        &mut self,
        vcpu: Option<VcpuId>,
        preferred: Option<usize>,
        now: u64,
        ring: impl Fn(usize),
    ) -> bool {
        if self.at_hand == 0 {
            return false;
        }
        if let Some(thread) = self.take_idle(preferred) {
            ring(thread);
            return true;
        }
        self.call_back(vcpu, now, ring);
        false
    }

    /// Calls back the threads that run on, as somebody waits `now`: `caller`, which pays for it if it is named.
    /// But for those whose vCPU comes before all that wait, as long as any thread looks here again within a
    /// slice, and for those that entered when nobody waited and whose vCPU is due a whole thread. One that may
    /// pause is called in any case.
    pub fn call_back(&mut self, caller: Option<VcpuId>, now: u64, ring: impl Fn(usize)) {
        if self.at_hand == 0 {
            return;
        }
        self.see_uncharged(now);
        let soon = now.saturating_add(self.queue.slice());
        let mut is_looked_after = self.threads.iter().any(|state| state.whereabouts.is_back(soon));
        let mut last = None;
        for thread in 0..self.threads.len() {
            let Thread { runs_on, is_alone, vcpu, may_pause, meter, .. } = self.threads[thread];
            let busy = vcpu.filter(|_| !may_pause);
            if !runs_on || is_alone && busy.is_some_and(|id| self.queue.is_due_a_thread(id)) {
                continue;
            }
            let ahead = if is_alone { 0 } else { self.queue.slice() };
            let ticks = meter.uncharged(now).saturating_add(ahead);
            match busy.and_then(|id| self.queue.first_deadline(id, ticks)) {
                Some(deadline) => {
                    self.threads[thread].waited_for_until = soon;
                    last = last.max(Some((deadline, thread)));
                }
                None => {
                    self.ends_slice(thread, caller, &ring);
                    is_looked_after = true;
                }
            }
        }
        if let Some((_, thread)) = last.filter(|_| !is_looked_after) {
            self.ends_slice(thread, caller, ring);
        }
    }

    /// `thread` does not run on any more, for the sake of this vCPU.
    fn ends_slice(&mut self, thread: usize, vcpu: Option<VcpuId>, ring: impl Fn(usize)) {
        self.set_runs_on(thread, false);
        self.threads[thread].called_for = vcpu;
        ring(thread);
    }

    /// `thread` runs a vCPU until something happens, or no more so.
    #[inline]
    pub fn set_runs_on(&mut self, thread: usize, runs_on: bool) {
        let before = core::mem::replace(&mut self.threads[thread].runs_on, runs_on);
        self.at_hand = self.at_hand + usize::from(runs_on) - usize::from(before);
    }

    fn stands(&mut self, thread: usize, now: Whereabouts) {
        let before = core::mem::replace(&mut self.threads[thread].whereabouts, now);
        self.at_hand = self.at_hand + usize::from(now.is_idle()) - usize::from(before.is_idle());
    }

    /// Lets a vCPU run that was stopped or sleeps, or has run until `now`.
    pub fn start<H: Windows>(&mut self, vcpu: &mut Vcpu<H>, permission: MayRun<'_>, now: u64) {
        self.leave_sleep(vcpu);
        if vcpu.is_running() {
            self.queue.make_ready(vcpu.id, vcpu.last_thread);
        } else {
            self.see_uncharged(now);
            self.queue.wake(vcpu.id, vcpu.last_thread);
        }
        vcpu.become_ready(permission);
    }

    /// Lets a vCPU, which does not run now, run no more, and forgets what it shares with the hypervisor.
    pub fn stop<H: Windows>(&mut self, vcpu: &mut Vcpu<H>) {
        self.leave_sleep(vcpu);
        vcpu.stop();
        vcpu.stops = self.queue.stop(vcpu.id);
    }

    /// Lets no thread take a vCPU, which does not run now, and no timer wake it: its partition is to be suspended.
    pub fn hold<H: Windows>(&mut self, vcpu: &Vcpu<H>) {
        self.leave_sleep(vcpu);
        self.queue.remove(vcpu.id);
    }

    /// Puts a vCPU to sleep that was taken from the queue.
    pub fn sleep<H: Windows>(&mut self, vcpu: &mut Vcpu<H>, sleep: Sleep, permission: MayRun<'_>) {
        if let Some(until) = sleep.activity().sleeps_until() {
            self.timers.set(vcpu.id, until);
        }
        vcpu.fall_asleep(sleep, permission);
    }

    fn leave_sleep<H: Windows>(&mut self, vcpu: &Vcpu<H>) {
        if let Some(until) = vcpu.activity().sleeps_until() {
            self.timers.cancel(vcpu.id, until);
        }
    }
}

/// Lets a vCPU run that was stopped or sleeps; whether a hardware thread was idle, and comes for it.
pub(crate) fn start<H: Hal>(
    hal: &H,
    schedule: &Lock<Schedule>,
    vcpu: &mut Vcpu<H>,
    permission: MayRun<'_>,
) -> bool {
    let mut schedule = schedule.lock();
    let now = hal.timebase();
    schedule.start(vcpu, permission, now);
    let ring = |thread| hal.ring(thread);
    if H::SHARES_CORES {
        schedule.call_in_cores(Some(vcpu.id), vcpu.last_thread, now, ring)
    } else {
        schedule.call(Some(vcpu.id), vcpu.last_thread, now, ring)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::cell::RefCell;
    use std::vec;
    use std::vec::Vec;

    use super::{FAR, Next, Schedule};
    use crate::life::outcome::Outcome;
    use crate::life::{CarriedOut, Life, Pending};
    use crate::scheduling::queue::WEIGHT_DEFAULT;
    use crate::vcpu_id::VcpuId;

    const PATIENCE: u64 = 1000;

    fn schedule(threads: usize) -> Schedule {
        let mut schedule = Schedule::new(threads);
        schedule.add_partition();
        schedule
    }

    #[test]
    fn only_the_last_thread_to_fall_idle_finds_that_nothing_can_happen() {
        let mut schedule = schedule(3);
        for thread in [0, 2] {
            assert!(matches!(schedule.next(thread, 0, PATIENCE), Next::Wait(_)));
        }
        // One that was rung looks first.
        assert_eq!(schedule.take_idle(Some(2)), Some(2));
        assert!(matches!(schedule.next(1, 0, PATIENCE), Next::Wait(_)));
        assert_eq!(schedule.next(2, 0, PATIENCE), Next::Stuck);
        schedule.timers.set(VcpuId(0), PATIENCE + 1);
        assert_eq!(schedule.next(2, 0, PATIENCE), Next::Stuck, "too far");
        assert_eq!(schedule.next(2, 1, PATIENCE), Next::Wait(PATIENCE + 1));
    }

    #[test]
    fn one_thread_watches_a_timer() {
        let mut schedule = schedule(3);
        assert_eq!(schedule.timer_to_watch(0), None);
        schedule.timers.set(VcpuId(0), 50);
        assert_eq!(schedule.timer_to_watch(0), Some(50), "the others have not come");
        assert_eq!(schedule.next(1, 0, PATIENCE), Next::Wait(50));
        assert_eq!(schedule.timer_to_watch(0), None, "an idle one comes");
        schedule.timers.set(VcpuId(1), 20);
        assert_eq!(schedule.timer_to_watch(0), Some(20), "the idle one does not know it");
        assert_eq!(schedule.take_due(1, 10), None);
        assert_eq!(schedule.meter(1).idle, 10);
        assert_eq!(schedule.timer_to_watch(0), None, "it decides later");
        schedule.runs_until(0, 1000);
        assert_eq!(schedule.timer_to_watch(1), Some(20), "nobody else is back in time");
        schedule.runs_until(1, 20);
        assert_eq!(schedule.timer_to_watch(0), None, "one that runs comes back for it");
        schedule.timers.set(VcpuId(2), 19);
        assert_eq!(schedule.timer_to_watch(0), Some(19), "it comes too late");
    }

    #[test]
    fn an_idle_thread_is_rung_once() {
        let mut schedule = schedule(3);
        assert_eq!(schedule.take_idle(None), None);
        schedule.next(1, 0, PATIENCE);
        schedule.next(2, 0, PATIENCE);
        assert_eq!(schedule.take_idle(Some(2)), Some(2));
        assert_eq!(schedule.take_idle(Some(2)), Some(1));
        assert_eq!(schedule.take_idle(Some(2)), None);
    }

    #[test]
    fn work_comes_before_waiting_and_the_end_before_both() {
        let mut schedule = schedule(1);
        let id = schedule.queue.add(WEIGHT_DEFAULT);
        schedule.queue.make_ready(id, None);
        assert_eq!(schedule.next(0, 0, PATIENCE), Next::Run(id));
        schedule.queue.make_ready(id, None);
        let mut life = Life::new();
        life.conclude(Pending::End { outcome: Outcome::PoweredOff, vcpu: 0 });
        let Some(CarriedOut::End(ended)) = life.carry_out(core::iter::empty()) else {
            panic!("no vCPU runs")
        };
        assert!(schedule.remove_partition(&ended));
        assert_eq!(schedule.next(0, 0, PATIENCE), Next::Over);
    }

    #[test]
    fn one_that_becomes_ready_gets_the_nearest_idle_thread_or_all_that_run_on() {
        let mut schedule = schedule(5);
        schedule.queue.set_threads(&[0, 0, 1, 1, 2], 1);
        let call = |schedule: &mut Schedule, preferred| {
            let rung = RefCell::new(Vec::new());
            let was_idle =
                schedule.call(None, preferred, 0, |thread| rung.borrow_mut().push(thread));
            (was_idle, rung.take())
        };
        assert_eq!(call(&mut schedule, None), (false, vec![]));
        for thread in [0, 1, 4] {
            schedule.set_runs_on(thread, true);
        }
        schedule.next(2, 0, PATIENCE);
        schedule.next(3, 0, PATIENCE);
        schedule.set_runs_on(4, false);
        assert_eq!(call(&mut schedule, Some(3)), (true, vec![3]));
        schedule.next(3, 0, PATIENCE);
        schedule.take_due(2, 0);
        schedule.next(4, 0, PATIENCE);
        schedule.set_runs_on(2, true);
        assert_eq!(call(&mut schedule, Some(2)), (true, vec![3]), "of the same core");
        assert_eq!(call(&mut schedule, Some(2)), (true, vec![4]));
        assert_eq!(call(&mut schedule, Some(2)), (false, vec![0, 1, 2]));
        assert_eq!(call(&mut schedule, Some(2)), (false, vec![]), "once");
        assert_eq!(schedule.at_hand, 0);
    }

    #[test]
    fn nobody_rings_for_one_that_is_due_a_whole_thread() {
        let mut schedule = schedule(2);
        let [heavy, light, other] = [100, 50, 49].map(|weight| schedule.queue.add(weight));
        schedule.queue.set_threads(&[0, 1], 1);
        assert!(schedule.queue.is_due_a_thread(heavy) && !schedule.queue.is_due_a_thread(light));
        schedule.enters(0, heavy, true, 0);
        schedule.enters(1, light, true, 0);
        let rung = RefCell::new(Vec::new());
        assert!(!schedule.call(Some(other), None, 0, |thread| rung.borrow_mut().push(thread)));
        assert_eq!(rung.take(), [1]);
    }

    #[test]
    fn nobody_calls_back_one_that_comes_first_while_another_thread_looks_here_soon() {
        const SLICE: u64 = 100;
        // Those on the three threads that run on were charged for `ran` ticks; one of this weight waits.
        let called_back = |waits: u32, ran: [u64; 3], looks_at: u64| {
            let mut schedule = schedule(4);
            let ids = [60, 55, 50, 50, waits].map(|weight| schedule.queue.add(weight));
            schedule.queue.set_threads(&[0, 1, 2, 3], SLICE);
            for (thread, id) in ids.into_iter().take(4).enumerate() {
                schedule.pay_entry(thread, id, 0);
                let runs_on = thread < 3;
                schedule.enters(thread, id, runs_on, 0);
                schedule.runs_until(thread, if runs_on { FAR } else { looks_at });
            }
            for (thread, ran) in ran.into_iter().enumerate() {
                schedule.queue.charge(ids[thread], ran);
            }
            schedule.queue.wake(ids[4], None);
            let rung = RefCell::new(Vec::new());
            schedule.call_back(None, 0, |thread| rung.borrow_mut().push(thread));
            rung.take()
        };
        let (soon, late) = (SLICE, SLICE + 1);
        assert_eq!(called_back(40, [0, 0, 0], soon), [0; 0], "all come first");
        assert_eq!(
            called_back(40, [0, 0, 0], late),
            [2],
            "it comes last, and somebody has to look"
        );
        assert_eq!(called_back(52, [0, 0, 0], soon), [2], "its deadline is later");
        assert_eq!(called_back(40, [2000, 0, 2000], late), [0, 2], "they are ahead of the clock");
    }

    /// The first stay on a hardware thread counts while it lasts, as any other.
    #[test]
    fn one_that_runs_alone_since_the_start_is_called_back_when_it_is_ahead() {
        const SLICE: u64 = 100;
        let mut schedule = schedule(3);
        let ids = [100; 4].map(|weight| schedule.queue.add(weight));
        schedule.queue.set_threads(&[0, 1, 2], SLICE);
        for (thread, id) in ids.into_iter().take(3).enumerate() {
            schedule.enters(thread, id, true, 0);
            schedule.runs_until(thread, FAR);
        }
        // They have had all of a thread, and are due three quarters.
        schedule.queue.wake(ids[3], None);
        let rung = RefCell::new(Vec::new());
        schedule.call_back(None, 10 * SLICE, |thread| rung.borrow_mut().push(thread));
        assert_eq!(rung.take(), [0, 1, 2]);
    }
}
