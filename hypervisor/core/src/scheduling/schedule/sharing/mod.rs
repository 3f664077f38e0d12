//! How hardware threads decide and call each other where those of a core run vCPUs of one partition at a time
//! ([`Tenancy`]). It is for processors whose threads share what names the partition; for others nothing here is called.
//!
//! What makes a lost wake-up impossible is as in [`super`], but for this: a thread is idle also while those wait that
//! it may not take. Then somebody is inside its core, and it looks again within a slice, when the core may be free.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::tenancy::{Arrival, Tenancy};
use super::{FAR, Next, Schedule};
use crate::vcpu_id::VcpuId;

/// Whose each core is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Sharing {
    cores: Vec<Tenancy>,
    /// By hardware thread, its core's place among them.
    of_thread: Vec<usize>,
    /// By partition, its vCPUs.
    vcpus: Vec<Range<u32>>,
}

impl Sharing {
    fn core(&self, thread: usize) -> &Tenancy {
        &self.cores[self.of_thread[thread]]
    }

    fn core_mut(&mut self, thread: usize) -> &mut Tenancy {
        &mut self.cores[self.of_thread[thread]]
    }

    fn vcpus(&self, partition: usize) -> impl Iterator<Item = VcpuId> + Clone + use<> {
        self.vcpus[partition].clone().map(VcpuId)
    }

    fn partition(&self, vcpu: VcpuId) -> usize {
        self.vcpus.partition_point(|vcpus| vcpus.end <= vcpu.0)
    }
}

impl Schedule {
    /// The hardware threads are on these cores, vCPUs run for so many ticks when others wait, and the partitions have
    /// so many vCPUs, in their order. Once, before any has run.
    pub fn share_cores(&mut self, cores: &[u32], slice: u64, vcpus: impl Iterator<Item = usize>) {
        let mut names: Vec<u32> = cores.to_vec();
        names.sort_unstable();
        names.dedup();
        self.queue.set_places(cores, slice, names.len());
        self.queue.narrow_span();
        let place = |core| names.binary_search(core).expect("it is one of them");
        let of_thread = cores.iter().map(place).collect();
        let mut first = 0;
        let range = |count| {
            let range = first..first + count as u32;
            first = range.end;
            range
        };
        let vcpus = vcpus.map(range).collect();
        self.sharing = Sharing { cores: vec![Tenancy::default(); names.len()], of_thread, vcpus };
    }

    /// As [`Schedule::next`]; the thread is on its way then, until [`Schedule::leaves_core`]. Rings for those that have
    /// to come out of its core.
    pub fn next_in_core(
        &mut self,
        thread: usize,
        now: u64,
        patience: u64,
        ring: impl Fn(usize),
    ) -> Next {
        let next = self.choose_in_core(thread, now, patience, ring);
        self.decides(thread, now, next);
        next
    }

    fn choose_in_core(
        &mut self,
        thread: usize,
        now: u64,
        patience: u64,
        ring: impl Fn(usize),
    ) -> Next {
        if self.partitions == 0 {
            return Next::Over;
        }
        if self.queue.is_empty() {
            let next = self.choose(thread, now, patience);
            return match next {
                Next::Wait(until) => Next::Wait(until.min(self.looks_again(thread, now))),
                other => other,
            };
        }
        self.see_uncharged(now);
        let keeper = self.sharing.core(thread).keeper(now).or_else(|| self.stays(thread, now));
        let chosen = match keeper {
            Some(partition) => self.queue.take_of(self.sharing.vcpus(partition), thread),
            None => self.queue.take(thread),
        };
        let Some(id) = chosen else {
            let until = self.timers.next().unwrap_or(FAR);
            return Next::Wait(until.min(self.looks_again(thread, now)));
        };
        let (partition, until) =
            (self.sharing.partition(id), now.saturating_add(self.queue.slice()));
        if self.sharing.core_mut(thread).reserve(partition, now, until) {
            let is_entered = |other: &&usize| self.threads[**other].vcpu.is_some();
            let siblings = self.queue.siblings(thread).iter().filter(is_entered);
            siblings.filter(|other| **other != thread).for_each(|other| ring(*other));
        }
        Next::Run(id)
    }

    /// The partition inside the core of `thread`, for a slice more, if a vCPU of it that runs there would be taken
    /// again before all that wait.
    fn stays(&mut self, thread: usize, now: u64) -> Option<usize> {
        let partition = self.sharing.core(thread).inside()?;
        let goes_on = (0..self.queue.siblings(thread).len()).any(|place| {
            let other = self.queue.siblings(thread)[place];
            let Some(id) = self.threads[other].vcpu else { return false };
            let ticks = self.threads[other].meter.uncharged(now);
            let ticks = ticks.saturating_add(self.share_of_core(thread, ticks));
            self.queue.first_deadline(id, ticks).is_some()
        });
        if !goes_on {
            return None;
        }
        let until = now.saturating_add(self.queue.slice());
        self.sharing.core_mut(thread).stays(until);
        Some(partition)
    }

    /// What of so many ticks of a core, one for each thread, nobody used, by each thread that was inside.
    fn share_of_core(&self, thread: usize, ticks: u64) -> u64 {
        let (all, inside) = (self.queue.siblings(thread).len() as u64, self.inside(thread));
        ticks.saturating_mul(all.saturating_sub(inside)) / inside.max(1)
    }

    fn inside(&self, thread: usize) -> u64 {
        let is_inside = |other: &&usize| self.threads[**other].vcpu.is_some();
        self.queue.siblings(thread).iter().filter(is_inside).count() as u64
    }

    /// The payer of a stay of so many ticks on `thread`, which is not charged for them yet, for whose thread others
    /// waited: it pays for the threads of the core that nobody else was on, with the others that are inside.
    pub fn pays_for_core(&mut self, thread: usize, payer: VcpuId, ticks: u64) {
        let share = self.share_of_core(thread, ticks);
        self.queue.charge_core(payer, share);
    }

    /// When a thread that waits looks again though nobody rings for it: within a slice, while its core is used.
    fn looks_again(&self, thread: usize, now: u64) -> u64 {
        let ticks = if self.sharing.core(thread).is_used() { self.queue.slice() } else { FAR };
        now.saturating_add(ticks)
    }

    /// Whether `thread`, which is on its way with a vCPU of `partition`, is inside `now`: then its core runs that one.
    /// If that begins now, `take` makes it so. Else it has to ask again.
    pub fn arrives_in_core(
        &mut self,
        thread: usize,
        partition: usize,
        now: u64,
        take: impl FnOnce(),
    ) -> bool {
        match self.sharing.core_mut(thread).arrive(partition) {
            Arrival::Inside => true,
            Arrival::First => {
                let until = now.saturating_add(self.queue.slice());
                self.sharing.core_mut(thread).stays(until);
                take();
                true
            }
            Arrival::Waits => false,
        }
    }

    /// When the slice is over of a vCPU that enters `thread` `now`, and that would have it until `ends`: no later
    /// than others leave the core to its partition. So all vCPUs of a core come out together, and none goes back for
    /// the rest of a slice that began a moment after a sibling's.
    pub fn slice_in_core(&self, thread: usize, ends: u64, now: u64) -> u64 {
        self.sharing.core(thread).kept_until(now).map_or(ends, |until| until.min(ends))
    }

    /// Whether the vCPU on `thread` has to leave, as another partition is to have the core.
    #[must_use]
    pub fn is_core_wanted(&self, thread: usize) -> bool {
        self.sharing.core(thread).is_wanted()
    }

    /// Whether others wait, and leave the core of `thread` to its partition no longer.
    #[must_use]
    pub fn is_core_due(&self, thread: usize, now: u64) -> bool {
        !self.queue.is_empty() && self.sharing.core(thread).kept_until(now).is_none()
    }

    /// `thread` has come out of its partition.
    pub fn leaves_core(&mut self, thread: usize) {
        self.sharing.core_mut(thread).leave();
    }

    /// Takes another vCPU of the partition of `id` for `thread`, which has run that one, if the core is not wanted.
    pub fn take_another_in_core(&mut self, thread: usize, id: VcpuId) -> Option<VcpuId> {
        if self.is_core_wanted(thread) {
            return None;
        }
        let partition = self.sharing.partition(id);
        self.queue.take_of(self.sharing.vcpus(partition), thread)
    }

    /// As [`Schedule::call`]: an idle thread is rung only if it may take one of those that wait.
    pub fn call_in_cores(
        &mut self,
        vcpu: Option<VcpuId>,
        preferred: Option<usize>,
        now: u64,
        ring: impl Fn(usize),
    ) -> bool {
        if self.at_hand == 0 {
            return false;
        }
        let may_take = |thread: &usize| {
            self.threads[*thread].whereabouts.is_idle()
                && match self.sharing.core(*thread).keeper(now) {
                    Some(partition) => self.queue.has_one_of(self.sharing.vcpus(partition)),
                    None => !self.queue.is_empty(),
                }
        };
        let found = preferred.into_iter().chain(0..self.threads.len()).find(may_take);
        match found {
            Some(thread) => {
                self.stands(thread, super::Whereabouts::Deciding);
                ring(thread);
            }
            None => self.call_back(vcpu, now, ring),
        }
        found.is_some()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
