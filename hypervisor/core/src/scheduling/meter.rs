//! Where the time of a hardware thread goes: each tick of it, from its first look for work to its last, is charged
//! once.
//!
//! | what passes | who is charged |
//! |---|---|
//! | a guest runs, with what the hypervisor answers without its leaving | the payer of its slice: itself, or the vCPU that conferred it |
//! | a vCPU has left by what it did, until the next one enters or the thread is idle | it |
//! | it was interrupted, by the end of its slice, a timer or another thread, until the next one enters | the vCPU that was woken; the next one, if none was |
//! | it left when its partition's restart was decided | it |
//! | its partition's end was decided: the way out of what ran, and the lines about it | until the decision as above, then nobody, as an end |
//! | the thread waits for work | nobody: it is idle |
//! | the rest: the start, the end, a wait that ended for nothing | the hypervisor itself |
//!
//! So whoever makes others leave and come back pays for that as well, and who is always ready loses nothing by
//! it but the moment. A partition ends once, so what its end takes, which is charged to nobody, cannot be had
//! again; a time limit would otherwise depend on how many vCPUs wait for each other then.
//! [`crate::scheduling::schedule::Schedule`] charges; this is the account of one thread.

use crate::vcpu_id::VcpuId;

/// How long before an exit was seen the guest was interrupted: the way from the interrupt to the first look at the
/// time, an eighth of a microsecond of a 512 MHz time base. It belongs to who interrupted it.
pub const EXIT_TICKS: u64 = 64;

/// Who pays for what passes on a hardware thread between two stays.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Debtor {
    /// The vCPU that comes next.
    #[default]
    Next,
    /// This vCPU.
    Vcpu(VcpuId),
    /// Nobody: a partition ends.
    End,
}

impl Debtor {
    /// The same, if `next` comes next.
    pub(crate) const fn or(self, next: VcpuId) -> Self {
        match self {
            Self::Next => Self::Vcpu(next),
            Self::Vcpu(_) | Self::End => self,
        }
    }

    /// The vCPU, if it is one that is known.
    pub(crate) const fn vcpu(self) -> Option<VcpuId> {
        match self {
            Self::Vcpu(id) => Some(id),
            Self::Next | Self::End => None,
        }
    }
}

/// When a guest was entered, when it left, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// The vCPU.
    pub vcpu: VcpuId,
    /// Who pays for the slice.
    pub payer: VcpuId,
    /// The time base when it was entered.
    pub entered: u64,
    /// The time base when it had left.
    pub left: u64,
    /// Whether it would have gone on by itself.
    pub is_interrupted: bool,
    /// Whether nobody waited for the thread when it was entered.
    pub runs_on: bool,
}

impl Stay {
    /// What of it came before the time `end`.
    #[must_use]
    #[inline]
    pub fn until(self, end: u64) -> Self {
        Self { entered: self.entered.min(end), left: self.left.min(end), ..self }
    }

    /// When the time of the vCPU itself was over.
    #[must_use]
    #[inline]
    pub fn ended(&self) -> u64 {
        let exit = if self.is_interrupted { EXIT_TICKS } else { 0 };
        self.left.saturating_sub(exit).max(self.entered)
    }
}

/// The account of a hardware thread, in ticks of the time base.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Meter {
    /// All that has passed: what vCPUs were charged, and the three below.
    pub elapsed: u64,
    /// It waited for work.
    pub idle: u64,
    /// Partitions ended: from the decision on, what they ran on came back, and lines told of them.
    pub ends: u64,
    /// Nobody's but the hypervisor's.
    pub own: u64,
    /// Until when all is charged, once it has begun.
    charged_until: Option<u64>,
    /// Whether it has waited since then.
    is_idle: bool,
    /// Who pays for what passes from then on.
    debtor: Debtor,
}

impl Meter {
    /// What has passed until `now` and is not charged yet.
    #[inline]
    pub(crate) fn uncharged(&self, now: u64) -> u64 {
        self.charged_until.map_or(0, |since| now.saturating_sub(since))
    }

    /// Whether its thread has come.
    pub(crate) const fn has_begun(&self) -> bool {
        self.charged_until.is_some()
    }

    /// Goes on to `now`: how much has passed.
    #[inline]
    pub(crate) fn pass(&mut self, now: u64) -> u64 {
        let ticks = self.uncharged(now);
        self.charged_until = Some(self.charged_until.map_or(now, |since| since.max(now)));
        self.elapsed += ticks;
        ticks
    }

    /// From now on nothing passes for anybody, until [`Meter::wakes`].
    pub(crate) fn waits(&mut self) {
        self.is_idle = true;
        self.debtor = Debtor::Next;
    }

    /// Whether it waits for work.
    pub(crate) const fn is_waiting(&self) -> bool {
        self.is_idle
    }

    /// Whether it waited; it does no more. What has passed then is idle time.
    pub(crate) fn wakes(&mut self) -> bool {
        core::mem::take(&mut self.is_idle)
    }

    /// `debtor` pays for what comes.
    pub(crate) fn owes(&mut self, debtor: Debtor) {
        self.debtor = debtor;
    }

    /// `id` comes next, and pays if nobody else does.
    pub(crate) fn expects(&mut self, id: VcpuId) {
        self.debtor = self.debtor.or(id);
    }

    /// Who pays.
    pub(crate) const fn debtor(&self) -> Debtor {
        self.debtor
    }
}
