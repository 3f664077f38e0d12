//! Hardware threads that read memory of the kernel's while another one works: what that takes out of their core's TLB,
//! they miss.

use core::hint::black_box;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};

/// Words of a page of the kernel's, of 64 KiB, and how many such pages each thread reads, one word of each at a time.
const PAGE: usize = 1 << 13;
const PAGES: usize = 32;

static MEMORY: [AtomicU64; PAGE * PAGES] = [const { AtomicU64::new(0) }; PAGE * PAGES];
/// How many have read all of it.
static READING: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// How many have ended.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Starts as many as the argument `beside` says, and waits until each reads: how many.
pub(crate) fn start(partition: &rt::Partition) -> u64 {
    let count = partition.number("beside", 0u64);
    let most = rt::THREADS_MAX - 1;
    assert!(count <= most, "beside={count}: a number from 0 to {most} was expected");
    if count > 0 {
        assert!(partition.number("readers", 0u64) == 0, "beside={count}: not with readers");
        rt::start_others(partition, count + 1, read);
        while READING.load(Acquire) < count {
            core::hint::spin_loop();
        }
    }
    count
}

fn read(_: u64) {
    let read = || MEMORY.iter().step_by(PAGE).fold(0, |sum, word| sum + word.load(Relaxed));
    black_box(read());
    READING.fetch_add(1, Release);
    while !IS_OVER.load(Relaxed) {
        black_box(read());
    }
    ENDED.fetch_add(1, Release);
}

/// Ends them, and waits until all have.
pub(crate) fn end(count: u64) {
    IS_OVER.store(true, Relaxed);
    while ENDED.load(Acquire) < count {
        core::hint::spin_loop();
    }
}
