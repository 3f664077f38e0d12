//! The hardware threads on their way out of firmware, and the one work that they do together.
//!
//! The boot thread fetches the others one after the other: it expects one, lets firmware start it, and gives it
//! up if it does not come. One that comes late is not let in, as what it would use is used no more.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::const_without_loom;

/// Nobody else comes.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Who is here, and how far their work is.
#[derive(Debug)]
pub struct Secondaries {
    /// How many threads are here, the boot thread among them, and [`CLOSED`]. One that comes and the boot thread
    /// that gives it up both change it from the same value, so one of them fails.
    here: AtomicUsize,
    has_work: AtomicBool,
    done: AtomicUsize,
}

impl Secondaries {
    const_without_loom! {
        /// The boot thread alone.
        #[must_use]
        pub fn alone() -> Self {
            Self {
                here: AtomicUsize::new(1),
                has_work: AtomicBool::new(false),
                done: AtomicUsize::new(0),
            }
        }
    }

    /// The index of the next thread to come; `None` if one was given up.
    pub fn expected(&self) -> Option<usize> {
        let here = self.here.load(Ordering::Relaxed);
        (here & CLOSED == 0).then_some(here)
    }

    /// Thread `index` has come, and uses nothing any more that the next one will use; whether it is let in.
    pub fn come(&self, index: usize) -> bool {
        self.here.compare_exchange(index, index + 1, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// How many threads are here.
    pub fn threads(&self) -> usize {
        self.here.load(Ordering::Acquire) & !CLOSED
    }

    /// Waits no longer for thread `index`; whether it will not come. It may have come meanwhile.
    pub fn give_up(&self, index: usize) -> bool {
        let closed = index | CLOSED;
        self.here.compare_exchange(index, closed, Ordering::Relaxed, Ordering::Acquire).is_ok()
    }

    /// The boot thread has laid out the work. It rings everybody then.
    ///
    /// # Panics
    /// The second time: the threads work once.
    pub fn begin(&self) {
        assert!(!self.has_work.swap(true, Ordering::Release), "the threads work once");
    }

    /// Whether the work is laid out.
    pub fn has_work(&self) -> bool {
        self.has_work.load(Ordering::Acquire)
    }

    /// This thread, which is not the boot thread, is done, and uses the work no more. It rings the boot thread then.
    pub fn finish(&self) {
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Whether all threads but the boot thread are done.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.threads() - 1
    }
}
