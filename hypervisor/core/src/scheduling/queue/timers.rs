//! When sleeping vCPUs have to be woken, and partitions suspended.

use alloc::collections::BTreeSet;

use crate::vcpu_id::VcpuId;

/// What there is to do when a time has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Due {
    /// This vCPU has to be woken.
    Wakes(VcpuId),
    /// The partition of this vCPU has to be suspended.
    Suspends(VcpuId),
}

impl Due {
    /// The vCPU.
    #[must_use]
    pub const fn vcpu(self) -> VcpuId {
        match self {
            Self::Wakes(id) | Self::Suspends(id) => id,
        }
    }
}

/// When sleeping vCPUs have to be woken and partitions suspended, in ticks of the time base.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Timers {
    by_time: BTreeSet<(u64, Due)>,
}

impl Timers {
    /// Wakes `id` at `time`. One that has a timer must not get a second one.
    pub fn set(&mut self, id: VcpuId, time: u64) {
        self.by_time.insert((time, Due::Wakes(id)));
    }

    /// Takes back what was [`Timers::set`].
    pub fn cancel(&mut self, id: VcpuId, time: u64) {
        self.by_time.remove(&(time, Due::Wakes(id)));
    }

    /// Suspends the partition of `id` at `time`.
    pub fn set_suspension(&mut self, id: VcpuId, time: u64) {
        self.by_time.insert((time, Due::Suspends(id)));
    }

    /// The next time at which there is something to do.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Option<u64> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes one whose time has come.
    pub fn take_due(&mut self, now: u64) -> Option<Due> {
        let (time, due) = *self.by_time.first()?;
        if time > now {
            return None;
        }
        self.by_time.pop_first();
        Some(due)
    }
}
