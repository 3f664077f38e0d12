//! What a kernel must not do, for payloads that try what happens then. Each function is safe to call only
//! in that such a payload has nothing to lose: the harm must end at its partition.

use core::arch::asm;
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
