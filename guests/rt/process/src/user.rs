//! Problem state in an address space of its own, until something interrupts it, and a program that runs there.
//!
//! A payload that uses this says [`interrupts_of_users!`](crate::interrupts_of_users). Its program lies in memory that
//! the address space shows: [`Program::install`].

use core::arch::{asm, global_asm};
use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering};

use arch::interrupt::Vector;
use arch::registers::msr;
use rt::hash::Segment;

global_asm!(
    include_str!("user.S"),
    SPRG0 = const 272,
    SPRG1 = const 273,
    SPRG2 = const 274,
    SPRG3 = const 275,
    SRR0 = const 26,
    SRR1 = const 27,
    SPECIAL = const offset_of!(Context, lr),
    STACK = const offset_of!(Context, stack),
);

unsafe extern "C" {
    fn rt_user_run(context: *mut Context) -> u64;
    static rt_user_program: [u32; 0];
    static rt_user_program_end: [u32; 0];
}

/// Leads interrupts out of problem state to [`Context::run`], which returns. It uses SPRG1 to SPRG3.
#[macro_export]
macro_rules! interrupts_of_users {
    () => {
        core::arch::global_asm!(
            ".globl rt_interrupt_first",
            "rt_interrupt_first:",
            "mtspr 274, %r4", // SPRG2
            "mfcr %r4",
            "mtspr 275, %r4", // SPRG3
            "mfspr %r4, 27",  // SRR1
            "andi. %r4, %r4, 0x4000",
            "beq 2f",
            "b rt_user_interrupted",
            "2:",
            "mfspr %r4, 275",
            "mtcrf 0xFF, %r4",
            "mfspr %r4, 274",
            "b rt_interrupt"
        );
    };
}

/// Lets the 1 TiB at the effective address `effective` show the virtual segment `segment`, and no other any more. The
/// segment gets place `index` of the segment lookaside buffer.
///
/// # Panics
/// As [`Segment::load`].
pub fn switch(segment: Segment, effective: u64, index: u64) {
    const SEGMENT_LOG2: u32 = 40;
    const LARGE: u64 = 1 << 25;
    let operand = effective >> SEGMENT_LOG2 << SEGMENT_LOG2 | LARGE;
    // SAFETY: it is loaded below, or `load` ends the payload because the addresses are the kernel's own: so nobody uses
    // them in between.
    unsafe { asm!("isync", "slbie {}", in(reg) operand, options(nostack)) };
    segment.load(effective, index);
}

/// What a program in problem state has in the processor.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Context {
    /// r0 to r31.
    pub gpr: [u64; 32],
    lr: u64,
    ctr: u64,
    xer: u64,
    cr: u64,
    /// Where it goes on.
    pub pc: u64,
    /// SRR1 of its last interrupt.
    pub msr: u64,
    stack: u64,
}

impl Context {
    /// No program.
    #[must_use]
    pub const fn new() -> Self {
        Self { gpr: [0; 32], lr: 0, ctr: 0, xer: 0, cr: 0, pc: 0, msr: 0, stack: 0 }
    }

    /// Goes on in problem state, little-endian, with translation and interrupts on: what interrupted it.
    ///
    /// # Panics
    /// At an interrupt that nobody knows.
    pub fn run(&mut self) -> Vector {
        /// A process of a kernel that runs bare is none of a partition's.
        const OWN: u64 = if cfg!(feature = "bare") { msr::HV | msr::ME } else { 0 };
        self.msr = OWN | msr::SF | msr::EE | msr::PR | msr::IR | msr::DR | msr::RI | msr::LE;
        // SAFETY: problem state cannot reach what its segments and pp do not allow, and every interrupt out of it
        // brings back r1, r2, r14-r31, LR and CR as they are here. The compiler's floating point is software.
        let vector = unsafe { rt_user_run(self) };
        const { assert!(msr::PR == 0x4000) };
        Vector::from_offset(vector).unwrap_or_else(|| panic!("interrupt {vector:#x}"))
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

/// The program's pieces of work. Each ends with `sc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Stores a number at `count` addresses, the first at `address`, `stride` bytes apart.
    Store,
    /// Adds up the doublewords there: [`Program::sum`].
    Load,
    /// Calls what is there.
    Call,
    /// Works in registers alone, `count` rounds.
    Spin,
}

/// The program, at an effective address.
#[derive(Clone, Copy, Debug)]
pub struct Program(pub u64);

impl Program {
    /// What returns at once from where it is called, in the first half of a doubleword.
    pub const RETURN: u64 = 0x4E80_0020;

    /// Writes it into memory that addresses of the program's shall show, and publishes all of that memory.
    ///
    /// # Panics
    /// If there is no room.
    pub fn install(memory: &[AtomicU64], index: usize) {
        let start = (&raw const rt_user_program).cast::<u64>();
        // SAFETY: both lie in one piece of constants.
        let words = unsafe { (&raw const rt_user_program_end).cast::<u64>().offset_from(start) };
        for word in 0..words as usize {
            // SAFETY: as many doublewords as the program has.
            let word_of_it = unsafe { start.add(word).read() };
            memory[index + word].store(word_of_it, Ordering::Relaxed);
        }
        Self::publish(memory);
    }

    /// Lets instruction fetches see what was stored into this memory.
    pub fn publish(memory: &[AtomicU64]) {
        const LINE_BYTES: usize = 128;
        for line in memory.chunks(LINE_BYTES / 8) {
            // SAFETY: the address is of memory.
            unsafe { asm!("dcbst 0, {}", in(reg) line.as_ptr(), options(nostack)) };
        }
        // SAFETY: a barrier.
        unsafe { asm!("sync", options(nostack)) };
        for line in memory.chunks(LINE_BYTES / 8) {
            // SAFETY: as above.
            unsafe { asm!("icbi 0, {}", in(reg) line.as_ptr(), options(nostack)) };
        }
        // SAFETY: barriers.
        unsafe { asm!("sync", "isync", options(nostack)) };
    }

    /// Lets `context` begin with a piece of work; at a `stride` of 0, one address is used again and again.
    pub const fn begin(
        self,
        context: &mut Context,
        work: Work,
        [address, count, stride, number]: [u64; 4],
    ) {
        const PIECE_BYTES: u64 = 64;
        context.pc = self.0 + work as u64 * PIECE_BYTES;
        context.gpr[3] = address;
        context.gpr[4] = count;
        context.gpr[5] = stride;
        context.gpr[6] = number;
    }

    /// What [`Work::Load`] has added up.
    #[must_use]
    pub const fn sum(context: &Context) -> u64 {
        context.gpr[6]
    }
}
