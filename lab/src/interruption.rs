//! A flag that asks long work to end, such as Ctrl-C sets: looked at where the work can be left cleanly.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// The flag. Whoever has it sets it at any time.
#[derive(Clone, Copy, Debug)]
pub struct Interruption(&'static AtomicBool);

static NEVER: AtomicBool = AtomicBool::new(false);

impl Interruption {
    /// No flag: the work goes on to its end.
    pub const NEVER: Self = Self(&NEVER);

    /// An interruption when this flag is set.
    #[must_use]
    pub const fn by(flag: &'static AtomicBool) -> Self {
        Self(flag)
    }

    /// Fails if the flag is set.
    pub fn check(self) -> Result<(), Failure> {
        if self.0.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}
