//! The ledger: the only place that adds cycles, and the account of where they went.
//!
//! | file | what it is |
//! |---|---|
//! | [`time`] | a thread's own time, and how cycles and time base relate |
//! | [`cause`] | why a cycle passed: the constraint that decided it |
//! | [`owner`] | who it is charged to: a partition, the hypervisor serving an exit, firmware |
//! | [`callers`] | who called, where that is asked for |
//! | [`charges`] | the account: cycles by thread, owner, instruction and cause |
//!
//! In functional mode every completed instruction and every interrupt takes one cycle of its thread,
//! and a thread that waits takes the cycles it waited. That is a clock for the time base and the
//! decrementer, not a statement about performance: no figure in cycles is published from functional
//! mode. In timing mode every cycle of every hardware thread is charged once, and the sum of the charges
//! is the elapsed time, always; there is no residual.

pub mod callers;
pub mod cause;
pub mod charges;
pub mod owner;
pub mod time;

pub use cause::{Cause, CauseSet};
pub use charges::{Account, Charges};
pub use owner::{Owner, Side};
pub use time::{Clock, LocalTime};
