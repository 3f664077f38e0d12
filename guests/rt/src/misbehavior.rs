//! What a kernel must not do, for payloads that try what happens then. Nothing here is safe: a payload that has
//! nothing to lose says so once, with [`misbehavior!`](crate::misbehavior!), and gets functions that it may call. The
//! harm must end at its partition.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::ptr;

use crate::interrupt::Frame;

/// Makes a module `misbehavior` of a payload, of functions that do what those of [`misbehavior`](crate::misbehavior)
/// do.
///
/// Who names it declares that the whole program has nothing to lose: whatever becomes of its memory, its registers and
/// its translation, it may stop or go on in any way, and no one takes its word for anything but what it prints.
#[macro_export]
macro_rules! misbehavior {
    () => {
        mod misbehavior {
            use $crate::misbehavior as anything;

            pub(super) use anything::{msr, skip};

            pub(super) fn load(address: u64) -> u64 {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::load(address) }
            }

            pub(super) fn store(address: u64, value: u64) {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::store(address, value) }
            }

            pub(super) fn execute<const WORD: u32>(value: u64) {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::execute::<WORD>(value) }
            }

            pub(super) fn execute_word(word: u32, value: u64) -> u64 {
                // SAFETY: the program has nothing to lose; its boot vCPU calls this.
                unsafe { anything::execute_word(word, value) }
            }

            pub(super) fn set_msr(value: u64) {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::set_msr(value) }
            }

            pub(super) fn return_with_msr(value: u64) {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::return_with_msr(value) }
            }

            pub(super) fn jump(address: u64) -> ! {
                // SAFETY: the program has nothing to lose.
                unsafe { anything::jump(address) }
            }
        }
    };
}

/// Loads a doubleword from anywhere.
///
/// # Safety
/// The address is that of a doubleword that may be read, or the program has nothing to lose.
pub unsafe fn load(address: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { ptr::with_exposed_provenance::<u64>(address as usize).read_volatile() }
}

/// Stores a doubleword anywhere.
///
/// # Safety
/// The doubleword there is nobody's, or the program has nothing to lose.
pub unsafe fn store(address: u64, value: u64) {
    // SAFETY: the caller's promise.
    unsafe { ptr::with_exposed_provenance_mut::<u64>(address as usize).write_volatile(value) };
}

/// Executes an instruction with `value` in r3. A handler of its interrupt is to call [`skip`].
///
/// # Safety
/// The instruction changes nothing but r3, r4 and CR0, or the program has nothing to lose.
pub unsafe fn execute<const WORD: u32>(value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            ".long {}", const WORD, inlateout("r3") value => _, in("r4") 0u64,
            out("cr0") _, options(nostack),
        );
    }
}

/// One instruction that is made at run time, and the return from it.
struct Slot(UnsafeCell<[u32; 2]>);

// SAFETY: one vCPU uses it.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new([0, BLR]));
const BLR: u32 = 0x4E80_0020;

/// As [`execute`], with any word: what is in r3 then. It must leave LR alone, and one vCPU may use this.
///
/// # Safety
/// As for [`execute`], and one vCPU calls this.
pub unsafe fn execute_word(word: u32, value: u64) -> u64 {
    let result;
    // SAFETY: the caller's promise.
    unsafe {
        SLOT.0.get().cast::<u32>().write_volatile(word);
        asm!(
            "dcbst 0, {slot}", "sync", "icbi 0, {slot}", "isync",
            "mtctr {slot}", "bctrl",
            slot = in(reg_nonzero) SLOT.0.get(),
            inlateout("r3") value => result, in("r4") 0u64,
            out("lr") _, out("ctr") _, out("xer") _, out("cr0") _, out("cr1") _, out("cr5") _,
            out("cr6") _, out("cr7") _,
            options(nostack),
        );
    }
    result
}

/// Goes on behind the instruction that was interrupted.
pub fn skip(frame: &mut Frame) {
    frame.pc += 4;
}

/// Sets the MSR.
///
/// # Safety
/// The program can go on with it, or has nothing to lose.
pub unsafe fn set_msr(value: u64) {
    // SAFETY: the caller's promise.
    unsafe { asm!("mtmsrd {}", "isync", in(reg) value, options(nostack)) };
}

/// The MSR.
#[must_use]
pub fn msr() -> u64 {
    let value;
    // SAFETY: reads a register.
    unsafe { asm!("mfmsr {}", out(reg) value, options(nomem, nostack)) };
    value
}

/// Continues with this MSR, as a return from an interrupt.
///
/// # Safety
/// As for [`set_msr`].
pub unsafe fn return_with_msr(value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "bcl 20, 31, 2f",
            "2: mflr {next}",
            "addi {next}, {next}, 3f - 2b",
            "mtspr 26, {next}",
            "mtspr 27, {value}",
            "rfid",
            "3:",
            next = out(reg_nonzero) _,
            value = in(reg) value,
            out("lr") _,
            options(nostack),
        );
    }
}

/// Goes on anywhere.
///
/// # Safety
/// There is code that needs nothing from here, or the program has nothing to lose.
pub unsafe fn jump(address: u64) -> ! {
    // SAFETY: the caller's promise.
    unsafe { asm!("mtctr {}", "bctr", in(reg) address, options(noreturn)) };
}
