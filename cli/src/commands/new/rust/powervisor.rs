//! What a payload asks of the hypervisor; docs/payload.md and docs/hypercalls.md of PowerVisor say more.

use core::arch::{asm, global_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

const H_RTAS: u64 = 0xF000;
const H_PUT_TERM_CHAR: u64 = 0x58;

// A partition starts big-endian, with relocation off and the device tree's address in r3. The first words mean one thing in either
// order of bytes, and go on little-endian. Then there are a table of contents and a stack.
global_asm!(
    ".section .text.start, \"ax\"",
    ".globl start",
    "start:",
    "tdi 0, 0, 0x48",          // big-endian: a branch to the third word
    "b 1f",
    ".long 0xa600407d",        // mfmsr r10
    ".long 0x01004a69",        // xori r10, r10, 1
    ".long 0xa6035b7d",        // mtspr SRR1, r10
    ".long 0x05009f42",        // bcl 20, 31, +4
    ".long 0xa602687d",        // mflr r11
    ".long 0x10006b39",        // addi r11, r11, 16
    ".long 0xa6037a7d",        // mtspr SRR0, r11
    ".long 0x2400004c",        // rfid
    "1:",
    "bcl 20, 31, 2f",
    "2: mflr %r5",
    "addis %r2, %r5, (.TOC. - 2b)@ha",
    "addi %r2, %r2, (.TOC. - 2b)@l",
    "addis %r1, %r5, (stack_end - 2b)@ha",
    "addi %r1, %r1, (stack_end - 2b)@l",
    "li %r0, 0",
    "stdu %r0, -64(%r1)",      // the last frame
    "bl {begin}",
    "nop",
    "b .",                     // not reached
    begin = sym begin,
);

extern "C" fn begin() -> ! {
    crate::main();
    power_off()
}

/// A hypercall; the answer is what it leaves in r3.
pub fn hypercall(number: u64, arguments: [u64; 4]) -> i64 {
    let [one, two, three, four] = arguments;
    let status;
    // SAFETY: these are the registers that a hypercall changes. What it does to memory is the caller's wish.
    unsafe {
        asm!(
            "sc 1",
            inlateout("r3") number => status,
            inlateout("r4") one => _,
            inlateout("r5") two => _,
            inlateout("r6") three => _,
            inlateout("r7") four => _,
            out("r0") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
            out("ctr") _, out("xer") _,
            out("cr0") _, out("cr1") _, out("cr5") _, out("cr6") _, out("cr7") _,
        );
    }
    status
}

/// Begins region N, 0 to 2047, of which an experiment counts instructions and cycles. It does nothing else.
pub fn mark_begin<const N: u16>() {
    // SAFETY: a trap that never traps.
    unsafe { asm!("tdi 0, 0, {}", const 0x4000 + N) };
}

/// Ends region N.
pub fn mark_end<const N: u16>() {
    // SAFETY: as above.
    unsafe { asm!("tdi 0, 0, {}", const 0x4800 + N) };
}

/// Ends the partition.
pub fn power_off() -> ! {
    /// RTAS power-off, with two arguments and one result; big-endian.
    static WORDS: [u32; 6] = [0x2000_u32.to_be(), 2_u32.to_be(), 1_u32.to_be(), 0, 0, 0];
    hypercall(H_RTAS, [WORDS.as_ptr() as u64, 0, 0, 0]);
    loop {}
}

/// The partition's terminal.
pub struct Terminal;

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Up to 16 characters a call.
        for piece in text.as_bytes().chunks(16) {
            let mut words = [0; 16];
            words[..piece.len()].copy_from_slice(piece);
            let words = u128::from_be_bytes(words);
            let arguments = [0, piece.len() as u64, (words >> 64) as u64, words as u64];
            hypercall(H_PUT_TERM_CHAR, arguments);
        }
        Ok(())
    }
}

/// Prints a line.
#[macro_export]
macro_rules! println {
    ($($text:tt)*) => {{
        use core::fmt::Write as _;
        let _ = writeln!($crate::powervisor::Terminal, $($text)*);
    }};
}

#[panic_handler]
fn panicked(why: &PanicInfo) -> ! {
    println!("{why}");
    power_off()
}
