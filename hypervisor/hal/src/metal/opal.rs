//! Calling firmware: console and power.
//!
//! OPAL runs with translation off, so what it reads and writes must lie in the image, where the real
//! address is the address without its top bits. Everything behind a pointer is big-endian.

use core::ptr;

use arch::opal::{status, token};

use super::Single;
use super::memory::real_of;

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

static SHARED: Single<Shared> =
    Single::new(Shared { length: 0, date: 0, time: 0, buffer: [0; BUFFER_BYTES] });

fn call(token: u64, a1: u64, a2: u64, a3: u64) -> i64 {
    // SAFETY: OPAL's base and entry came from firmware; the arguments of the calls in this module are
    // numbers or real addresses within SHARED, whose lengths are passed with them.
    unsafe { hal_opal_call(a1, a2, a3, 0, 0, 0, 0, token) }
}

fn length_address() -> u64 {
    // SAFETY: the address of a field, nothing is read.
    real_of(unsafe { &raw const (*SHARED.get()).length } as u64).0
}

fn buffer_address() -> u64 {
    // SAFETY: the address of a field, nothing is read.
    real_of(unsafe { &raw const (*SHARED.get()).buffer } as u64).0
}

fn set_length(bytes: usize) {
    // SAFETY: OPAL does not run between its calls, so nothing else accesses the field.
    unsafe { ptr::write_volatile(&raw mut (*SHARED.get()).length, (bytes as u64).to_be()) };
}

fn length() -> usize {
    // SAFETY: as in `set_length`.
    u64::from_be(unsafe { ptr::read_volatile(&raw const (*SHARED.get()).length) }) as usize
}

/// Lets firmware do its background work.
pub(super) fn poll() {
    call(token::POLL_EVENTS, 0, 0, 0);
}

/// Writes everything; a console that fails loses the rest, as there is no one to tell.
pub(super) fn console_write(bytes: &[u8]) {
    for chunk in bytes.chunks(BUFFER_BYTES) {
        let mut rest = chunk;
        while !rest.is_empty() {
            // SAFETY: `rest` fits the buffer, and OPAL does not run now.
            unsafe {
                let buffer = (&raw mut (*SHARED.get()).buffer).cast::<u8>();
                ptr::copy_nonoverlapping(rest.as_ptr(), buffer, rest.len());
            }
            set_length(rest.len());
            match call(token::CONSOLE_WRITE, 0, length_address(), buffer_address()) {
                status::SUCCESS | status::PARTIAL => rest = &rest[length().min(rest.len())..],
                status::BUSY | status::BUSY_EVENT => {}
                _ => return,
            }
            poll();
        }
    }
}

/// Reads what waits.
pub(super) fn console_read(into: &mut [u8]) -> usize {
    let wanted = into.len().min(BUFFER_BYTES);
    set_length(wanted);
    if call(token::CONSOLE_READ, 0, length_address(), buffer_address()) != status::SUCCESS {
        return 0;
    }
    let bytes = length().min(wanted);
    // SAFETY: `bytes` fits both, and OPAL does not run now.
    unsafe {
        let buffer = (&raw const (*SHARED.get()).buffer).cast::<u8>();
        ptr::copy_nonoverlapping(buffer, into.as_mut_ptr(), bytes);
    }
    bytes
}

/// The clock's digits, if there is a clock: see [`token::RTC_READ`].
pub(super) fn clock() -> Option<(u32, u64)> {
    // SAFETY: the addresses of fields; nothing is read.
    let (date, time) = unsafe { (&raw mut (*SHARED.get()).date, &raw mut (*SHARED.get()).time) };
    loop {
        match call(token::RTC_READ, real_of(date as u64).0, real_of(time as u64).0, 0) {
            status::SUCCESS => break,
            status::BUSY | status::BUSY_EVENT => poll(),
            _ => return None,
        }
    }
    // SAFETY: OPAL has written both and does not run now.
    unsafe { Some((u32::from_be(date.read_volatile()), u64::from_be(time.read_volatile()))) }
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
