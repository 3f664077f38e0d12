//! Ctrl-C, and being asked to end: noted here, acted on where a run can be left cleanly.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is only noted. Fails if the host does not let us.
pub fn watch() -> Result<(), Failure> {
    ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Relaxed)).map_err(|error| {
        Failure::input("signals", format_args!("cannot be caught: {error}; they must be available"))
    })
}

/// Fails if an interrupt came.
pub fn check() -> Result<(), Failure> {
    if REQUESTED.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
