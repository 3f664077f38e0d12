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
