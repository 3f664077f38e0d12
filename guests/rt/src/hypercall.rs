//! Hypercalls, and the RTAS call that ends the partition.

use core::arch::asm;

use arch::papr::{HYPERCALL_WORD, Hypercall, rtas};

/// Makes a hypercall with up to four arguments and answers its status.
#[inline(always)]
pub fn hypercall(number: u64, arguments: [u64; 4]) -> i64 {
    hypercall_outputs(number, arguments).0
}

/// Makes a hypercall with up to four arguments and answers its status and r4 to r6.
#[inline(always)]
pub fn hypercall_outputs(number: u64, [a1, a2, a3, a4]: [u64; 4]) -> (i64, [u64; 3]) {
    let status: i64;
    let outputs: [u64; 3];
    // SAFETY: the hypervisor keeps r1, r2, r13-r31, LR and CR2-CR4 and may change the rest, which is
    // what is listed. What a call writes to memory, the caller knows.
    unsafe {
        let (first, second, third): (u64, u64, u64);
        asm!(
            ".long {sc}",
            sc = const HYPERCALL_WORD,
            inlateout("r3") number => status,
            inlateout("r4") a1 => first,
            inlateout("r5") a2 => second,
            inlateout("r6") a3 => third,
            inlateout("r7") a4 => _,
            out("r0") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _,
            out("ctr") _, out("xer") _, out("cr0") _, out("cr1") _, out("cr5") _, out("cr6") _, out("cr7") _,
            options(nostack),
        );
        outputs = [first, second, third];
    }
    (status, outputs)
}

/// Makes a hypercall with eight arguments and answers its status.
#[inline(always)]
pub fn hypercall_of_eight(number: u64, arguments: [u64; 8]) -> i64 {
    hypercall_of_eight_outputs(number, arguments).0
}

/// Makes a hypercall with eight arguments and answers its status and r4 to r11.
#[inline(always)]
pub fn hypercall_of_eight_outputs(number: u64, arguments: [u64; 8]) -> (i64, [u64; 8]) {
    let [a1, a2, a3, a4, a5, a6, a7, a8] = arguments;
    let status: i64;
    let (b1, b2, b3, b4, b5, b6, b7, b8): (u64, u64, u64, u64, u64, u64, u64, u64);
    // SAFETY: as for `hypercall_outputs`.
    unsafe {
        asm!(
            ".long {sc}",
            sc = const HYPERCALL_WORD,
            inlateout("r3") number => status,
            inlateout("r4") a1 => b1,
            inlateout("r5") a2 => b2,
            inlateout("r6") a3 => b3,
            inlateout("r7") a4 => b4,
            inlateout("r8") a5 => b5,
            inlateout("r9") a6 => b6,
            inlateout("r10") a7 => b7,
            inlateout("r11") a8 => b8,
            out("r0") _, out("r12") _,
            out("ctr") _, out("xer") _, out("cr0") _, out("cr1") _, out("cr5") _, out("cr6") _, out("cr7") _,
            options(nostack),
        );
    }
    (status, [b1, b2, b3, b4, b5, b6, b7, b8])
}

/// Makes a hypercall with nine arguments and answers its status and r4 to r11.
#[inline(always)]
pub fn hypercall_of_nine_outputs(number: u64, arguments: [u64; 9]) -> (i64, [u64; 8]) {
    let [a1, a2, a3, a4, a5, a6, a7, a8, a9] = arguments;
    let status: i64;
    let (b1, b2, b3, b4, b5, b6, b7, b8): (u64, u64, u64, u64, u64, u64, u64, u64);
    // SAFETY: as for `hypercall_outputs`.
    unsafe {
        asm!(
            ".long {sc}",
            sc = const HYPERCALL_WORD,
            inlateout("r3") number => status,
            inlateout("r4") a1 => b1,
            inlateout("r5") a2 => b2,
            inlateout("r6") a3 => b3,
            inlateout("r7") a4 => b4,
            inlateout("r8") a5 => b5,
            inlateout("r9") a6 => b6,
            inlateout("r10") a7 => b7,
            inlateout("r11") a8 => b8,
            inlateout("r12") a9 => _,
            out("r0") _,
            out("ctr") _, out("xer") _, out("cr0") _, out("cr1") _, out("cr5") _, out("cr6") _, out("cr7") _,
            options(nostack),
        );
    }
    (status, [b1, b2, b3, b4, b5, b6, b7, b8])
}

/// Switches the partition off.
pub fn power_off() -> ! {
    // Token, two arguments, one result: the arguments are the wake-up mask, which is empty.
    let words = [rtas::POWER_OFF, 2, 1, 0, 0, 0].map(u32::to_be_bytes);
    // Effective and guest real addresses are equal, but for the quadrant: vectors with translation
    // on run in quadrant 3.
    let buffer = words.as_ptr() as u64 & !(0xF << 60);
    hypercall(Hypercall::Rtas as u64, [buffer, 0, 0, 0]);
    // Only a hypervisor that does not know the call returns.
    #[expect(clippy::empty_loop, reason = "there is nothing left to do and no one to tell")]
    loop {}
}
