//! Calling firmware: console, clock, threads and power.
//!
//! OPAL runs with translation off, so what it reads and writes must lie in the image, where the real
//! address is the address without its top bits. Everything behind a pointer is big-endian.

use core::ptr;

use arch::address::RealAddress;
use arch::opal::{status, token};
use hypervisor_core::sync::Lock;

use crate::host_space::memory::real_of;
use crate::single::Single;

unsafe extern "C" {
    fn hal_opal_call(
        a1: u64,
        a2: u64,
        a3: u64,
        a4: u64,
        a5: u64,
        a6: u64,
        a7: u64,
        token: u64,
    ) -> i64;
}

const BUFFER_BYTES: usize = 1024;

/// What is handed to OPAL by pointer.
#[repr(C, align(128))]
struct Shared {
    length: u64,
    date: u32,
    time: u64,
    buffer: [u8; BUFFER_BYTES],
}

impl Shared {
    const fn new() -> Self {
        Self { length: 0, date: 0, time: 0, buffer: [0; BUFFER_BYTES] }
    }
}

/// Used by whoever holds [`CALLS`].
static SHARED: Single<Shared> = Single::new(Shared::new());
/// The same for a thread that has failed, maybe with the lock.
static FAILING: Single<Shared> = Single::new(Shared::new());
static CALLS: Lock<()> = Lock::new(());

fn call(token: u64, a1: u64, a2: u64, a3: u64) -> i64 {
    // SAFETY: OPAL's base and entry came from firmware; the arguments of the calls in this module are
    // numbers or real addresses within SHARED, whose lengths are passed with them.
    unsafe { hal_opal_call(a1, a2, a3, 0, 0, 0, 0, token) }
}

fn length_address(shared: *mut Shared) -> u64 {
    // SAFETY: the address of a field, nothing is read.
    real_of(unsafe { &raw const (*shared).length } as u64).0
}

fn buffer_address(shared: *mut Shared) -> u64 {
    // SAFETY: the address of a field, nothing is read.
    real_of(unsafe { &raw const (*shared).buffer } as u64).0
}

fn set_length(shared: *mut Shared, bytes: usize) {
    // SAFETY: OPAL does not use it between its calls, and one thread has it.
    unsafe { ptr::write_volatile(&raw mut (*shared).length, (bytes as u64).to_be()) };
}

fn length(shared: *mut Shared) -> usize {
    // SAFETY: as in `set_length`.
    u64::from_be(unsafe { ptr::read_volatile(&raw const (*shared).length) }) as usize
}

/// Lets firmware do its background work.
pub(super) fn poll() {
    call(token::POLL_EVENTS, 0, 0, 0);
}

/// Writes everything; a console that fails loses the rest, as there is no one to tell.
pub(super) fn console_write(bytes: &[u8]) {
    let _lock = CALLS.lock();
    write_through(SHARED.get(), bytes);
}

/// The same for the one thread that reports that it has failed: it waits for nobody.
pub(super) fn console_write_failing(bytes: &[u8]) {
    write_through(FAILING.get(), bytes);
}

fn write_through(shared: *mut Shared, bytes: &[u8]) {
    for chunk in bytes.chunks(BUFFER_BYTES) {
        let mut rest = chunk;
        while !rest.is_empty() {
            // SAFETY: `rest` fits the buffer, which is this thread's now.
            unsafe {
                let buffer = (&raw mut (*shared).buffer).cast::<u8>();
                ptr::copy_nonoverlapping(rest.as_ptr(), buffer, rest.len());
            }
            set_length(shared, rest.len());
            match call(token::CONSOLE_WRITE, 0, length_address(shared), buffer_address(shared)) {
                status::SUCCESS | status::PARTIAL => {
                    rest = &rest[length(shared).min(rest.len())..];
                }
                status::BUSY | status::BUSY_EVENT => {}
                _ => return,
            }
            poll();
        }
    }
}

/// Reads what waits.
pub(super) fn console_read(into: &mut [u8]) -> usize {
    let _lock = CALLS.lock();
    let shared = SHARED.get();
    let wanted = into.len().min(BUFFER_BYTES);
    set_length(shared, wanted);
    let answer = call(token::CONSOLE_READ, 0, length_address(shared), buffer_address(shared));
    if answer != status::SUCCESS {
        return 0;
    }
    let bytes = length(shared).min(wanted);
    // SAFETY: `bytes` fits both, and the buffer is this thread's now.
    unsafe {
        let buffer = (&raw const (*shared).buffer).cast::<u8>();
        ptr::copy_nonoverlapping(buffer, into.as_mut_ptr(), bytes);
    }
    bytes
}

/// The clock's digits, if there is a clock: see [`token::RTC_READ`].
pub(super) fn clock() -> Option<(u32, u64)> {
    let _lock = CALLS.lock();
    // SAFETY: the addresses of fields; nothing is read.
    let (date, time) = unsafe { (&raw mut (*SHARED.get()).date, &raw mut (*SHARED.get()).time) };
    loop {
        match call(token::RTC_READ, real_of(date as u64).0, real_of(time as u64).0, 0) {
            status::SUCCESS => break,
            status::BUSY | status::BUSY_EVENT => poll(),
            _ => return None,
        }
    }
    // SAFETY: OPAL has written both, and they are this thread's now.
    unsafe { Some((u32::from_be(date.read_volatile()), u64::from_be(time.read_volatile()))) }
}

/// Lets hardware thread `server` begin at a real address.
pub(super) fn start_cpu(server: u32, address: RealAddress) -> i64 {
    call(token::START_CPU, u64::from(server), address.0, 0)
}

/// Sets up the processors: see [`arch::opal::reinit`].
pub(super) fn reinit_cpus(flags: u64) -> i64 {
    call(token::REINIT_CPUS, flags, 0, 0)
}

/// Switches off: asynchronous, so firmware has to be polled until it happens.
pub(super) fn power_off() -> ! {
    loop {
        let answer = call(token::CEC_POWER_DOWN, 0, 0, 0);
        if answer == status::BUSY || answer == status::BUSY_EVENT {
            poll();
            continue;
        }
        loop {
            poll();
        }
    }
}
