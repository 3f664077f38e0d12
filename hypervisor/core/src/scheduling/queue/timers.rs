//! When sleeping vCPUs have to be woken.

use alloc::collections::BTreeSet;

use crate::vcpu_id::VcpuId;

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
