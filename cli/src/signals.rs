//! Ctrl-C, and being asked to end: noted here, acted on where a run can be left cleanly.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::interruption::Interruption;
use nix::sys::signal::{SigSet, Signal};

use crate::failure::Failure;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What such a signal sets, once [`watch`] was called.
pub const INTERRUPTION: Interruption = Interruption::by(&REQUESTED);

/// From now on a signal is only noted, and to write more than the limit on the size of files is an error like a
/// full disk, and no signal. Fails if the host does not let us. To be called while there is one thread.
pub fn watch() -> Result<(), Failure> {
    let wrong = |error: &dyn Display| {
        Failure::input("signals", format_args!("cannot be caught: {error}; they must be available"))
    };
    SigSet::from(Signal::SIGXFSZ).thread_block().map_err(|error| wrong(&error))?;
    ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Relaxed)).map_err(|error| wrong(&error))
}
