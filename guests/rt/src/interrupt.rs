//! Interrupts: which function handles which, and switching them on and off; the ends that nobody wants.

use core::arch::asm;
use core::mem;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};

use arch::interrupt::Vector;
use arch::registers::msr;

use crate::{power_off, println};

/// What was interrupted, as `interrupts.S` stores it. A handler may change it.
#[derive(Debug)]
#[repr(C)]
pub struct Frame {
    /// r0 to r13; the others are in the processor. A change of r1 takes effect as well.
    pub gpr: [u64; 14],
    /// Link register.
    pub lr: u64,
    /// Count register.
    pub ctr: u64,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Condition register.
    pub cr: u64,
    /// Where the interrupted code goes on.
    pub pc: u64,
    /// With which MSR.
    pub msr: u64,
}

/// A handler, with interrupts off and on the stack of what it interrupted.
pub type Handler = fn(&mut Frame);

/// Vectors are multiples of 0x80 below 0x1000.
static HANDLERS: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];

/// Lets `handler` handle an interrupt, on every vCPU. The others end the payload.
pub fn on_interrupt(vector: Vector, handler: Handler) {
    HANDLERS[vector.offset() as usize / 0x80].store(handler as usize, Ordering::Release);
}

#[unsafe(no_mangle)]
extern "C" fn rt_interrupted(vector: u64, frame: &mut Frame) {
    match HANDLERS[vector as usize / 0x80].load(Ordering::Acquire) {
        0 => unexpected_interrupt(vector, frame),
        address => {
            // SAFETY: only `on_interrupt` stores here, and it stores a `Handler`.
            let handler = unsafe { mem::transmute::<usize, Handler>(address) };
            handler(frame);
        }
    }
}

/// Allows or refuses external interrupts and those of the decrementer: MSR\[EE\].
pub fn allow_interrupts(allowed: bool) {
    let bits = if allowed { msr::EE } else { 0 } | msr::RI;
    // SAFETY: L=1 changes EE and RI alone; handlers restore what they use.
    unsafe { asm!("mtmsrd {}, 1", in(reg) bits, options(nostack)) };
}

macro_rules! read_register {
    ($number:literal) => {{
        let value: u64;
        // SAFETY: mfspr of a register that every kernel may read.
        unsafe { asm!("mfspr {}, {}", out(reg) value, const $number, options(nomem, nostack)) };
        value
    }};
}

/// The address that a data storage or data segment interrupt is about, and DSISR.
#[must_use]
pub fn data_fault() -> (u64, u64) {
    (read_register!(19), read_register!(18))
}

/// Says what happened, and ends.
fn unexpected_interrupt(vector: u64, frame: &Frame) -> ! {
    let (dar, dsisr) = data_fault();
    let (srr0, srr1) = (frame.pc, frame.msr);
    let name = Vector::from_offset(vector).map_or("unknown", Vector::name);
    println!("unexpected interrupt: {name} ({vector:#x})");
    println!("srr0 {srr0:016x} srr1 {srr1:016x} dar {dar:016x} dsisr {dsisr:08x}");
    power_off()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    println!("{info}");
    power_off()
}
