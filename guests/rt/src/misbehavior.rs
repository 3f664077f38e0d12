//! What a kernel must not do, for payloads that try what happens then. Each function is safe to call only
//! in that such a payload has nothing to lose: the harm must end at its partition.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::ptr;

use crate::interrupt::Frame;

/// Loads a doubleword from anywhere.
pub fn load(address: u64) -> u64 {
    // SAFETY: none, see above.
    unsafe { ptr::with_exposed_provenance::<u64>(address as usize).read_volatile() }
}

/// Stores a doubleword anywhere.
pub fn store(address: u64, value: u64) {
    // SAFETY: none, see above.
    unsafe { ptr::with_exposed_provenance_mut::<u64>(address as usize).write_volatile(value) };
}

/// Executes an instruction with `value` in r3. A handler of its interrupt is to call [`skip`].
pub fn execute<const WORD: u32>(value: u64) {
    // SAFETY: none, see above.
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
pub fn execute_word(word: u32, value: u64) -> u64 {
    let result;
    // SAFETY: none, see above.
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
pub fn set_msr(value: u64) {
    // SAFETY: none, see above.
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
pub fn return_with_msr(value: u64) {
    // SAFETY: none, see above.
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
pub fn jump(address: u64) -> ! {
    // SAFETY: none, see above.
    unsafe { asm!("mtctr {}", "bctr", in(reg) address, options(noreturn)) };
}
