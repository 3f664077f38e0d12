//! A tiny run time for PowerVisor's own payloads: entry, console, hypercalls, interrupts, time,
//! other vCPUs, marks, translation.
//!
//! A payload names its main function with `rt::main!` and gets an `rt::Partition`. Built for
//! the host, only what needs no machine exists, so that the workspace builds everywhere.
//!
//! With the feature `bare` the payload is a kernel of its own under OPAL, with a hashed page table that it keeps
//! itself; there are no hypercalls then.

#![cfg_attr(target_os = "none", no_std)]

pub mod floating_point;
pub mod governor;
pub mod pace;
pub mod random;
pub mod terminal;

#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
mod bare;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod console;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub mod detour;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub mod hash;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
mod hypercall;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub mod idle;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod interrupt;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub mod misbehavior;
#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
mod opal;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod partition;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub mod registers;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
mod rtas;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
mod start;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub mod stream;
#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
pub mod table;
#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
mod threads;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod time;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
mod translation;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub mod vectors;

#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
pub use self::{
    bare::{enable_translation, sleep, take_naps},
    opal::power_off,
    threads::{THREADS_MAX, on_threads, start_others},
};
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub use self::{
    console::read,
    hypercall::{
        hypercall, hypercall_of_eight, hypercall_of_eight_outputs, hypercall_of_nine_outputs,
        hypercall_outputs, power_off,
    },
    idle::{sleep, take_naps},
    rtas::{is_stopped, rtas_call, start_vcpu, stop_self},
    start::VCPUS_MAX,
    translation::{enable_translation, join_translation, share_with_users},
};
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub use self::{
    console::{Console, print},
    interrupt::{Frame, Handler, allow_interrupts, data_fault, on_interrupt},
    partition::{Partition, ScsiAdapter, StopState, share},
    time::{NEVER, TICKS_PER_MICROSECOND, decrementer, own_time, set_decrementer, timebase},
};

/// Names the payload's main function: `fn(rt::Partition)`. Its return switches the partition off.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[macro_export]
macro_rules! main {
    ($main:path) => {
        #[unsafe(no_mangle)]
        extern "Rust" fn rt_main(partition: $crate::Partition) {
            $main(partition)
        }
    };
}

/// Lets every interrupt's handler begin with the priority of a vCPU that works, as Linux's do: one that polls
/// at very low priority keeps that otherwise, until it is through.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[macro_export]
macro_rules! interrupts_at_medium_priority {
    () => {
        core::arch::global_asm!(
            ".globl rt_interrupt_first",
            "rt_interrupt_first:",
            "or 2, 2, 2",
            "b rt_interrupt"
        );
    };
}

/// Leaves a mark, `arch::marker::Mark`, in the instruction stream.
///
/// The mark must be a constant, as it is an instruction.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[macro_export]
macro_rules! mark {
    ($mark:expr) => {
        $crate::mark::<{ ($mark).word().0 }>()
    };
}

/// The instruction behind `mark!`.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[inline(always)]
pub fn mark<const WORD: u32>() {
    const { assert!(WORD >> 16 == 2 << 10, "a mark is a trap that never traps") };
    // SAFETY: `tdi 0,r0,n` has no effect. It is not marked as free of memory accesses, so that the
    // compiler moves none across it.
    unsafe { core::arch::asm!(".long {}", const WORD, options(nostack, preserves_flags)) };
}

/// Prints a line on the partition's terminal.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[macro_export]
macro_rules! println {
    ($($arguments:tt)*) => {
        $crate::print(format_args!("{}\n", format_args!($($arguments)*)))
    };
}
