//! A static that one hardware thread at a time uses.

use core::cell::UnsafeCell;

/// A static that one thread at a time uses.
#[repr(transparent)]
pub(crate) struct Single<T>(UnsafeCell<T>);

// SAFETY: a `Single` is written by the boot thread before it fetches others, or is split among the threads,
// or its users say which lock they hold. MSR[EE] is never set in the hypervisor, so a thread is one flow of
// control.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub(crate) const fn get(&self) -> *mut T {
        self.0.get()
    }
}
