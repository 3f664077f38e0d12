//! Progress of long work, for whoever asked for it.

use std::fmt::Debug;

use simulator::Machine;

/// Where long work is shown.
pub trait Progress: Sync + Debug {
    /// `what` is being done from now on, until the task is dropped.
    fn begin(&self, what: &str) -> Box<dyn Task>;
}

/// Work that is being done.
pub trait Task {
    /// The machine that does it is there now.
    fn reached(&self, machine: &Machine);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unseen;

impl Progress for Unseen {
    fn begin(&self, _: &str) -> Box<dyn Task> {
        Box::new(Self)
    }
}

impl Task for Unseen {
    fn reached(&self, _: &Machine) {}
}
