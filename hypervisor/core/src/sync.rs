//! What the hardware threads share data by: a lock, atomics, and who was first.
//!
//! All atomics of the hypervisor that threads hand something over by are made here or in
//! [`crate::scheduling::doorbell`] and [`crate::scheduling::secondaries`], of the types below. With `--cfg
//! loom` these are Loom's, which runs the same code in all interleavings and with every value that a load may return:
//! see `models/mod.rs`.
//!
//! Locks are taken in this order: a partition's, the schedule's, the console's, the hal's own.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic;
#[cfg(loom)]
pub(crate) use loom::sync::atomic;

use atomic::{AtomicU64, Ordering};

/// Tickets make it fair: whoever came first goes on first.
#[cfg(not(loom))]
pub type Lock<T> = spin::mutex::TicketMutex<T, Aside>;

/// How a thread waits for a lock: its siblings have the core meanwhile.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct Aside;

#[cfg(not(loom))]
impl spin::RelaxStrategy for Aside {
    #[inline(always)]
    fn relax() {
        pause::pause();
    }
}

/// Where in a lock its data begins, whose alignment is a word's: behind two counters. A test looks.
#[cfg(not(loom))]
pub const DATA: usize = size_of::<Lock<u64>>() - size_of::<u64>();

/// The lock, as loom knows it: whoever waits may go on first.
#[cfg(loom)]
#[derive(Debug)]
pub struct Lock<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Lock<T> {
    /// Data that nobody has.
    pub fn new(data: T) -> Self {
        Self(loom::sync::Mutex::new(data))
    }

    /// The data, once nobody else has it.
    pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("no thread has failed")
    }

    /// The data, for good.
    pub fn into_inner(self) -> T {
        self.0.into_inner().expect("no thread has failed")
    }
}

/// A moment's wait for another thread, to which it leaves the core.
#[inline(always)]
pub(crate) fn spin_loop() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    pause::pause();
}

/// Makes a function const, but with loom, whose atomics are made anew for each order that it tries.
macro_rules! const_without_loom {
    ($(#[$attribute:meta])* pub fn $name:ident() -> Self $body:block) => {
        $(#[$attribute])*
        #[cfg(not(loom))]
        pub const fn $name() -> Self $body

        $(#[$attribute])*
        #[cfg(loom)]
        pub fn $name() -> Self $body
    };
}
pub(crate) use const_without_loom;

/// What is alone in its cache line of 128 bytes: whoever writes it takes nothing else away from the others.
#[derive(Debug)]
#[repr(align(128))]
pub struct Alone<T>(pub T);

/// A set of bits that only grows.
#[derive(Debug)]
pub struct GrowingWord(AtomicU64);

impl GrowingWord {
    const_without_loom! {
        /// No bit is in it.
        #[must_use]
        pub fn empty() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// What is in it. What was stored before a bit was added is seen by whoever sees the bit.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Adds bits.
    pub fn add(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::Release);
    }
}

/// A word that several threads read and write. Nothing is handed over by it.
#[derive(Debug)]
pub struct Word(AtomicU64);

impl Word {
    const_without_loom! {
        /// 0.
        #[must_use]
        pub fn zero() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// What is there.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Puts something else there.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// The one hardware thread that may have translations of a partition cached, if there is only one.
///
/// Who makes an entry of the partition's table invalid stores that, then a barrier, then asks; who lets another thread
/// run the partition says so, then a barrier, then the partition runs. So one of the two sees what the other did. The
/// barriers are the hal's, which has them there anyway.
#[derive(Debug)]
pub struct Home(Word);

impl Home {
    const_without_loom! {
        /// There is none.
        #[must_use]
        pub fn none() -> Self {
            Self(Word::zero())
        }
    }

    /// Whether it is this thread.
    #[inline]
    #[must_use]
    pub fn is(&self, thread: usize) -> bool {
        self.0.get() == thread as u64 + 1
    }

    /// It is this one from now on, or there is none.
    pub fn set(&self, thread: Option<usize>) {
        self.0.set(thread.map_or(0, |thread| thread as u64 + 1));
    }
}

/// What several threads change, each from what it is.
#[derive(Debug)]
pub struct SharedState(AtomicU64);

impl SharedState {
    /// It is this at first.
    #[must_use]
    pub fn new(bits: u64) -> Self {
        Self(AtomicU64::new(bits))
    }

    /// What it is. What was stored before a change is seen by whoever sees the change.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Changes it: what it was.
    #[inline]
    pub fn change(&self, change: impl Fn(u64) -> u64) -> u64 {
        let changed =
            self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| Some(change(bits)));
        changed.unwrap_or_else(|bits| bits)
    }
}

/// A set of bits that many add to, and one takes.
#[derive(Debug)]
pub struct SharedWord(AtomicU64);

impl SharedWord {
    const_without_loom! {
        /// No bit is in it.
        #[must_use]
        pub fn empty() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// Adds bits, behind what was stored before.
    pub fn add(&self, bits: u64) {
        self.0.fetch_or(bits, Ordering::Release);
    }

    /// Takes all that are in it.
    pub fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Acquire)
    }
}

/// An entry of a table that the processor searches: two doublewords, big-endian in memory, of which it sets bits of the
/// second at any time.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct TableEntry([AtomicU64; 2]);

impl TableEntry {
    const_without_loom! {
        /// All zero.
        #[must_use]
        pub fn zero() -> Self {
            Self([AtomicU64::new(0), AtomicU64::new(0)])
        }
    }

    /// The first doubleword now.
    #[inline]
    #[must_use]
    pub fn first(&self) -> u64 {
        u64::from_be(self.0[0].load(Ordering::Relaxed))
    }

    /// The second doubleword now.
    #[inline]
    #[must_use]
    pub fn second(&self) -> u64 {
        u64::from_be(self.0[1].load(Ordering::Relaxed))
    }

    /// Adds bits to the first doubleword: what it was. What others stored before they gave it that value is seen then.
    ///
    /// Unlike an exchange that may fail, it leaves no reservation to the guest that goes on.
    #[inline]
    pub fn add(&self, bits: u64) -> u64 {
        u64::from_be(self.0[0].fetch_or(bits.to_be(), Ordering::Acquire))
    }

    /// Stores the first doubleword, behind all that was stored before.
    #[inline]
    pub fn give(&self, first: u64) {
        self.set_first(first, Ordering::Release);
    }

    /// Stores the first doubleword of an entry that the caller has, and keeps: nobody gets anything by it.
    #[inline]
    pub fn keep(&self, first: u64) {
        self.set_first(first, Ordering::Relaxed);
    }

    #[inline(always)]
    fn set_first(&self, first: u64, ordering: Ordering) {
        #[cfg(not(loom))]
        self.0[0].store(first.to_be(), ordering);
        // Loom lets an `add` of another thread, which came before a store, win over the store for good.
        #[cfg(loom)]
        self.0[0].swap(first.to_be(), ordering);
    }

    /// Stores the second doubleword.
    #[inline]
    pub fn set_second(&self, second: u64) {
        self.0[1].store(second.to_be(), Ordering::Relaxed);
    }
}

/// Who was the first to come, for good.
#[derive(Debug)]
pub struct First(AtomicU64);

/// Whether somebody is the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nobody came before.
    First,
    /// The first one, again.
    Again,
    /// Somebody else is.
    Later,
}

impl First {
    const_without_loom! {
        /// Nobody has come.
        #[must_use]
        pub fn nobody() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// `who`, which is not 0, comes. Nothing is handed over: what the first one has, it never gives away.
    pub fn come(&self, who: u64) -> Place {
        match self.0.compare_exchange(0, who, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Place::First,
            Err(first) if first == who => Place::Again,
            Err(_) => Place::Later,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::ptr::from_ref;

    use super::{DATA, Lock};

    #[test]
    fn the_data_of_a_lock_begin_where_a_debugger_looks() {
        let lock: Lock<[u64; 5]> = Lock::new([7; 5]);
        let data = from_ref(&*lock.lock()).addr();
        assert_eq!(data - from_ref(&lock).addr(), DATA);
    }
}
