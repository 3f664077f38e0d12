//! Whose registers are in the processor of a hardware thread, between two vCPUs.
//!
//! A vCPU that leaves the processor is in the run queue at once, but its registers need not be in its record:
//! if the thread runs it again next, nothing of them has to move. So the thread keeps them, and puts them into
//! the record before it does anything else: before it runs another vCPU, and before it waits. A thread that
//! takes a vCPU whose registers another one keeps waits for that, without a lock; the other one is between two
//! vCPUs then, so it comes to it soon, and it has to do so before it waits for anybody itself.
//!
//! A vCPU that goes on elsewhere may have begun invalidations here that other threads have not done yet. Its
//! `tlbsync`, there, would not wait for them; so the thread that keeps it completes them before it lets go.
//! Where there is no other thread, there is nothing to complete, and nothing of a vCPU that goes on here at
//! once.
//!
//! On a processor whose threads share registers of their partition, nothing stays: another partition may have the core
//! next, by another of its threads.

use alloc::boxed::Box;

use arch::bundle::RegisterPolicy;

use crate::partition::Partition;
use crate::scheduling::schedule::start;
use crate::system::System;
use crate::vcpu::registers::Registers;

use super::Enter;

/// What a hardware thread has of the vCPU that it ran last.
#[derive(Debug, Default)]
pub(crate) struct Resident {
    /// Of which vCPU: its partition, and which of that one's it is. `None` if the processor has nobody's
    /// registers that are worth anything.
    place: Option<(usize, usize)>,
    /// Its registers, but for what is in the processor, if its record does not have them.
    pub(super) kept: Option<Box<Registers>>,
}

impl Resident {
    /// What is here is not, or no more, of use.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.place = None;
        drop(self.kept.take());
    }

    /// Whether a vCPU's record is not whole because of this thread.
    pub(crate) const fn is_owner(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether the processor has what stays in it of the vCPU at `place`.
    pub(super) fn is(&self, place: (usize, usize)) -> bool {
        self.place == Some(place)
    }

    /// Puts the registers of the vCPU that is here into its record, unless it is the one at `place`.
    #[inline]
    pub(crate) fn make_way<H: Enter>(
        &mut self,
        system: &System<'_, H>,
        thread: usize,
        place: Option<(usize, usize)>,
    ) {
        if self.place.is_some() && self.place != place {
            self.put_away(system, thread);
        }
    }

    /// The same, whichever it is.
    #[inline(never)]
    fn put_away<H: Enter>(&mut self, system: &System<'_, H>, thread: usize) {
        if let (Some((partition, vcpu)), Some(mut registers)) = (self.place, self.kept.take()) {
            let partition = &mut *system.partitions()[partition].lock();
            // One that was started anew has another record, and what is here is not its own.
            if partition.vcpus[vcpu].is_kept_by(thread) {
                save(system, partition, vcpu, &mut registers);
                partition.vcpus[vcpu].leave_whole(registers, None);
            } else if system.has_other_threads() {
                system.hal.complete_invalidations();
            }
            if partition.life.comes_to_rest() {
                system.finish(partition);
            }
        }
        self.forget();
    }

    /// The vCPU at `place` leaves `thread` and may run anywhere; if it `makes_way`, another one comes here
    /// next. The time base, if its registers were moved into its record.
    pub(super) fn stays<H: Enter>(
        &mut self,
        system: &System<'_, H>,
        thread: usize,
        partition: &mut Partition<H>,
        place: (usize, usize),
        mut registers: Box<Registers>,
        makes_way: bool,
    ) -> Option<u64> {
        let policy = system.policy.registers;
        // Where the threads of a core share registers, another partition may have them next.
        let makes_way = makes_way || H::SHARES_CORES;
        if policy == RegisterPolicy::Owned && !makes_way {
            self.place = Some(place);
            self.kept = Some(registers);
            partition.vcpus[place.1].leave_with(thread);
            return None;
        }
        let now = save(system, partition, place.1, &mut registers);
        let is_here = policy == RegisterPolicy::Released && !makes_way;
        self.place = is_here.then_some(place);
        partition.vcpus[place.1].leave_whole(registers, is_here.then_some(thread));
        Some(now)
    }
}

/// Copies what stays in the processor into the record of a vCPU, which can go on elsewhere then, and wakes one of which
/// an alert of its monitor ends the sleep; the time base meanwhile.
pub(super) fn save<H: Enter>(
    system: &System<'_, H>,
    partition: &mut Partition<H>,
    vcpu: usize,
    registers: &mut Registers,
) -> u64 {
    let common = partition.common();
    let demanded = partition.vcpus[vcpu].demanded.as_deref_mut();
    let now = system.hal.save_registers(registers, demanded, common);
    // Its counters have counted since it left, and one that has fallen asleep meanwhile may have an alert now.
    let vcpu = &mut partition.vcpus[vcpu];
    if vcpu.is_alerted()
        && vcpu.activity().sleeps_until().is_some()
        && let Some(permission) = partition.life.may_run()
    {
        start(system.hal, &system.schedule, vcpu, permission);
    }
    if system.has_other_threads() {
        system.hal.complete_invalidations();
    }
    now
}
