//! The machine's other hardware threads, where a payload is a kernel of its own: each executes a function once, and
//! goes back to firmware.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arch::opal::{status, token};

use crate::partition::Partition;
use crate::{hash, opal, table};

/// The greatest number of hardware threads that a payload uses.
pub const THREADS_MAX: u64 = 32;
pub(crate) const STACK_LOG2: u64 = 14;

unsafe extern "C" {
    fn rt_thread_entry() -> !;
}

/// The number of the thread that starts.
#[unsafe(no_mangle)]
static rt_next_thread: AtomicU64 = AtomicU64::new(0);
/// How many have.
static STARTED: AtomicU64 = AtomicU64::new(0);
/// What they execute, a `fn(u64)`.
static FUNCTION: AtomicUsize = AtomicUsize::new(0);

#[unsafe(no_mangle)]
extern "C" fn rt_thread(number: u64) -> ! {
    table::join();
    hash::join();
    let function = FUNCTION.load(Ordering::Relaxed);
    // SAFETY: `on_threads` has put a function of this type there before it started the thread.
    let function: fn(u64) = unsafe { core::mem::transmute(function) };
    STARTED.fetch_add(1, Ordering::Release);
    function(number);
    opal::return_thread()
}

/// Executes `function` on so many hardware threads of the machine, this one among them, which returns when it has: each
/// with a number, from 0, which is this one's, on.
///
/// # Panics
/// If the machine has fewer threads, if there was such a call before, or if firmware does not start one.
pub fn on_threads(partition: &Partition, count: u64, function: fn(u64)) {
    start_others(partition, count, function);
    function(0);
}

/// The same, but that this thread, one of so many, goes on.
///
/// # Panics
/// As [`on_threads`].
pub fn start_others(partition: &Partition, count: u64, function: fn(u64)) {
    assert!(count <= THREADS_MAX, "{count} hardware threads: at most {THREADS_MAX} were expected");
    assert!(
        FUNCTION.swap(function as usize, Ordering::Relaxed) == 0,
        "the machine's threads are started once"
    );
    let own = table::own_pir();
    let threads = (0..).map_while(|index| partition.thread(index));
    let mut others = threads.filter(|thread| u64::from(*thread) != own);
    for number in 1..count {
        let server = others.next();
        let server = server.unwrap_or_else(|| panic!("threads={count}: the machine has {number}"));
        rt_next_thread.store(number, Ordering::Release);
        let entry = rt_thread_entry as *const () as u64;
        let answer = opal::call(token::START_CPU, [server.into(), entry, 0]);
        assert_eq!(answer, status::SUCCESS, "OPAL_START_CPU of thread {server:#x}");
        while STARTED.load(Ordering::Acquire) != number {
            core::hint::spin_loop();
        }
    }
}
