//! What a vCPU does, and what it does next.

use arch::vcpus::activity;

/// What a vCPU does. A debugger reads it where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Activity {
    /// Nothing: it was not started, or stopped itself, or its partition is concluded or over.
    Stopped = activity::STOPPED,
    /// It waits for a processor.
    Ready = activity::READY,
    /// It runs.
    Running {
        /// On this hardware thread.
        thread: usize,
    } = activity::RUNNING,
    /// It sleeps until an interrupt or H_PROD comes.
    Ceded {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    } = activity::CEDED,
    /// It sleeps until H_PROD comes.
    AwaitsProd = activity::AWAITS_PROD,
    /// The hypervisor waits for an interrupt in its place, in a `stop`. H_PROD is for a H_CEDE that is yet to come.
    Paused {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    } = activity::PAUSED,
}

impl Activity {
    /// When a timer ends the sleep of one that waits for an interrupt, by the machine's time base.
    #[must_use]
    pub const fn sleeps_until(self) -> Option<u64> {
        match self {
            Self::Ceded { until } | Self::Paused { until } => Some(until),
            _ => None,
        }
    }
}

/// How a vCPU sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleep {
    /// Until an interrupt or H_PROD comes.
    Ceded {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    },
    /// Until H_PROD comes.
    AwaitsProd,
    /// Until an interrupt comes.
    Paused {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    },
}

impl Sleep {
    /// What the vCPU does then.
    #[must_use]
    pub const fn activity(self) -> Activity {
        match self {
            Self::Ceded { until } => Activity::Ceded { until },
            Self::AwaitsProd => Activity::AwaitsProd,
            Self::Paused { until } => Activity::Paused { until },
        }
    }
}

/// What a vCPU that leaves the processor does then, if its partition goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It waits for a processor.
    Ready,
    /// It sleeps.
    Sleeps(Sleep),
    /// It has stopped itself.
    Stops,
}
