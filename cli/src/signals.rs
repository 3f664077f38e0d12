//! Ctrl-C, and being asked to end: noted here, acted on where a run can be left cleanly.

use std::sync::atomic::{AtomicBool, Ordering};

use lab::interruption::Interruption;

use crate::failure::Failure;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What such a signal sets, once [`watch`] was called.
pub const INTERRUPTION: Interruption = Interruption::by(&REQUESTED);

/// From now on a signal is only noted. Fails if the host does not let us.
pub fn watch() -> Result<(), Failure> {
    ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Relaxed)).map_err(|error| {
        Failure::input("signals", format_args!("cannot be caught: {error}; they must be available"))
    })
}
