//! What a vCPU does, and what it does next.

/// What a vCPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Nothing: it was not started, or stopped itself, or its partition is concluded or over.
    Stopped,
    /// It waits for a processor.
    Ready,
    /// It runs.
    Running {
        /// On this hardware thread.
        thread: usize,
    },
    /// It sleeps until an interrupt or H_PROD comes.
    Ceded {
        /// When its decrementer expires, by the machine's time base.
        until: u64,
    },
    /// It sleeps until H_PROD comes.
    AwaitsProd,
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
