//! The doorbell of a hardware thread, and waiting for what other threads do.
//!
//! Whoever changes something that concerns another thread changes it first and rings then; a thread clears its
//! doorbell first, then looks, then waits. So a ring that the clearing took away was for something that the
//! look sees, and any other ends the wait. That takes a barrier between the steps of each side: without them a
//! look may miss what was changed before a ring that was cleared.
//!
//! The processor has doorbells too, which end `stop` and a guest's stay; hal rings and clears both, with the same
//! barriers. This one is for threads that poll instead, and says of a POWER8's interrupt that it is a call.

use crate::sync::atomic::{AtomicBool, Ordering, fence};
use crate::sync::const_without_loom;

/// Whether something has changed since its thread cleared it.
#[derive(Debug)]
pub struct Doorbell {
    is_rung: AtomicBool,
}

impl Doorbell {
    const_without_loom! {
        /// It was not rung.
        #[must_use]
        pub fn silent() -> Self {
            Self { is_rung: AtomicBool::new(false) }
        }
    }

    /// Rings it, after all that this thread stored before.
    #[inline]
    pub fn ring(&self) {
        // Release would not do: it orders nothing with a clearing that comes later.
        fence(Ordering::SeqCst);
        self.is_rung.store(true, Ordering::Relaxed);
    }

    /// Forgets that it was rung, before all that this thread, whose doorbell it is, loads after. What was stored
    /// before it was rung is seen then.
    #[inline]
    pub fn clear(&self) {
        self.is_rung.store(false, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Whether it was rung. Nothing is ordered by that; the clearing that follows does it.
    #[must_use]
    #[inline]
    pub fn is_rung(&self) -> bool {
        self.is_rung.load(Ordering::Relaxed)
    }
}

/// Waits until `is_so`, which somebody makes true who rings this thread's doorbell after that. `wait` returns when
/// it was rung since `clear`, or for nothing.
pub fn wait_until(clear: impl Fn(), is_so: impl Fn() -> bool, wait: impl Fn()) {
    loop {
        clear();
        if is_so() {
            return;
        }
        wait();
    }
}
