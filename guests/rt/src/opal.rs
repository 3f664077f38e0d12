//! Calls of OPAL: the console, threads, and the end.
//!
//! OPAL runs with translation off; what it reads and writes lies in the program, whose real addresses are its addresses
//! without their top bits. Everything behind a pointer is big-endian.

use core::arch::global_asm;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use arch::opal::{status, token};
use arch::registers::msr;

use crate::console::Console;

global_asm!(
    include_str!("opal.S"),
    HSRR0 = const 314,
    HSRR1 = const 315,
    IR_DR_LE = const msr::IR | msr::DR | msr::LE,
);

unsafe extern "C" {
    fn rt_opal_call(a1: u64, a2: u64, a3: u64, token: u64, base: u64, entry: u64) -> i64;
}

/// Where OPAL is, and where it is entered.
static OPAL: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// What firmware has said in registers.
pub(crate) fn use_opal(base: u64, entry: u64) {
    OPAL[0].store(base, Ordering::Relaxed);
    OPAL[1].store(entry, Ordering::Relaxed);
}

/// A call with up to three arguments: its status.
pub(crate) fn call(token: u64, [a1, a2, a3]: [u64; 3]) -> i64 {
    let [base, entry] = [0, 1].map(|index: usize| OPAL[index].load(Ordering::Relaxed));
    // SAFETY: base and entry came from firmware; the arguments of the calls of this crate are numbers, or real
    // addresses of statics that OPAL may change.
    unsafe { rt_opal_call(a1, a2, a3, token, base, entry) }
}

const BUFFER_BYTES: usize = 256;
static BUFFER: [AtomicU8; BUFFER_BYTES] = [const { AtomicU8::new(0) }; BUFFER_BYTES];
static LENGTH: AtomicU64 = AtomicU64::new(0);

/// The real address of a static.
fn real<T>(thing: &T) -> u64 {
    core::ptr::from_ref(thing).expose_provenance() as u64 & !(0xF << 60)
}

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            for (place, byte) in BUFFER.iter().zip(rest) {
                place.store(*byte, Ordering::Relaxed);
            }
            let length = rest.len().min(BUFFER_BYTES);
            LENGTH.store((length as u64).to_be(), Ordering::Relaxed);
            match call(token::CONSOLE_WRITE, [0, real(&LENGTH), real(&BUFFER)]) {
                status::SUCCESS | status::PARTIAL => {
                    let written = u64::from_be(LENGTH.load(Ordering::Relaxed)) as usize;
                    rest = &rest[written.min(length)..];
                }
                status::BUSY | status::BUSY_EVENT => {}
                _ => return Err(fmt::Error),
            }
            call(token::POLL_EVENTS, [0; 3]);
        }
        Ok(())
    }
}

/// Gives this hardware thread back to firmware.
pub(crate) fn return_thread() -> ! {
    let answer = call(token::RETURN_CPU, [0; 3]);
    panic!("OPAL_RETURN_CPU: {answer}");
}

/// Switches the machine off: asynchronous, so firmware has to be polled until it happens.
pub fn power_off() -> ! {
    while let status::BUSY | status::BUSY_EVENT = call(token::CEC_POWER_DOWN, [0; 3]) {
        call(token::POLL_EVENTS, [0; 3]);
    }
    loop {
        call(token::POLL_EVENTS, [0; 3]);
    }
}
