//! RTAS calls, and the other vCPUs that are started by one.

use core::sync::atomic::{AtomicUsize, Ordering};

use arch::papr::{Hypercall, rtas};

use crate::hypercall::hypercall;
use crate::start::VCPUS_MAX;

/// Calls RTAS: the results, of which the first is the status. At most 8 arguments and results together.
pub fn rtas_call<const RESULTS: usize>(token: u32, arguments: &[u32]) -> [i32; RESULTS] {
    let mut words = [0; 11];
    words[..3].copy_from_slice(&[token, arguments.len() as u32, RESULTS as u32].map(u32::to_be));
    for (word, argument) in words[3..].iter_mut().zip(arguments) {
        *word = argument.to_be();
    }
    let first = 3 + arguments.len();
    assert!(first + RESULTS <= words.len(), "an RTAS call that does not fit its buffer");
    // Effective and guest real addresses are equal, but for the quadrant.
    let buffer = words.as_mut_ptr().expose_provenance() as u64 & !(0xF << 60);
    let status = hypercall(Hypercall::Rtas as u64, [buffer, 0, 0, 0]);
    assert_eq!(status, 0, "H_RTAS");
    core::array::from_fn(|index| u32::from_be(words[first + index]) as i32)
}

unsafe extern "C" {
    safe fn rt_secondary_entry();
}

/// What each started vCPU runs.
static MAIN: [AtomicUsize; VCPUS_MAX as usize] =
    [const { AtomicUsize::new(0) }; VCPUS_MAX as usize];

/// Starts the vCPU `number`, 1 and up, with translation off: the RTAS status.
pub fn start_vcpu(number: u32, main: fn(u32)) -> i32 {
    MAIN[number as usize].store(main as usize, Ordering::Release);
    let entry = rt_secondary_entry as *const () as usize as u32;
    let [status] = rtas_call(rtas::START_CPU, &[number, entry, number]);
    status
}

/// Whether RTAS says that a vCPU is stopped.
#[must_use]
pub fn is_stopped(number: u32) -> bool {
    let [status, state] = rtas_call(rtas::QUERY_CPU_STOPPED_STATE, &[number]);
    assert_eq!(status, rtas::SUCCESS, "query-cpu-stopped-state");
    state as u32 == rtas::CPU_STATUS_STOPPED
}

#[unsafe(no_mangle)]
extern "C" fn rt_secondary_start(number: u64) -> ! {
    // SAFETY: only `start_vcpu` stores here, and it stores a function of this type.
    let main = unsafe {
        core::mem::transmute::<usize, fn(u32)>(MAIN[number as usize].load(Ordering::Acquire))
    };
    main(number as u32);
    stop_self()
}

/// Stops this vCPU.
pub fn stop_self() -> ! {
    let [status] = rtas_call(rtas::STOP_SELF, &[]);
    panic!("stop-self returned {status}");
}
