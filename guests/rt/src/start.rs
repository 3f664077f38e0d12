//! From `entry.S` to the payload's main; the ends that nobody wants.

use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

use arch::interrupt::Vector;
use arch::papr::{Hypercall, mode};
use dtoolkit::fdt::Fdt;

use crate::hypercall::{hypercall, power_off};
use crate::interrupt::Frame;
use crate::partition::Partition;
use crate::println;

global_asm!(
    include_str!("entry.S"),
    SPRG0 = const 272,
    SRR0 = const 26,
    SRR1 = const 27,
    STACK_LOG2 = const STACK_LOG2,
    SECONDARIES = const VCPUS_MAX - 1,
);

/// The greatest number of vCPUs that a payload starts.
pub const VCPUS_MAX: u64 = 16;
const STACK_LOG2: u64 = 14;

unsafe extern "Rust" {
    safe fn rt_main(partition: Partition);
}

#[unsafe(no_mangle)]
extern "C" fn rt_start(tree: *const u8) -> ! {
    // The vectors are little-endian, as everything here.
    let status = hypercall(Hypercall::SetMode as u64, [1, mode::ENDIANNESS, 0, 0]);
    assert_eq!(status, 0, "H_SET_MODE, endianness");
    // SAFETY: PAPR: r3 is the address of a flattened device tree, which nothing changes. It is not
    // validated, since PAPR has property names longer than the Devicetree Specification allows.
    let tree = unsafe { Fdt::from_raw_unchecked(tree) };
    rt_main(Partition::new(tree));
    power_off()
}

macro_rules! read_register {
    ($number:literal) => {{
        let value: u64;
        // SAFETY: mfspr of a register that every kernel may read.
        unsafe { asm!("mfspr {}, {}", out(reg) value, const $number, options(nomem, nostack)) };
        value
    }};
}

/// Says what happened, and ends.
pub(crate) fn unexpected_interrupt(vector: u64, frame: &Frame) -> ! {
    let (dar, dsisr) = (read_register!(19), read_register!(18));
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
