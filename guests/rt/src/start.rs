//! From `entry.S` to the payload's main.

use core::arch::global_asm;

use arch::papr::{Hypercall, mode};
use dtoolkit::fdt::Fdt;

use crate::hash;
use crate::hypercall::{hypercall, power_off};
use crate::partition::Partition;

global_asm!(
    include_str!("macros.S"),
    include_str!("entry.S"),
    include_str!("interrupts.S"),
    BARE = const 0,
    SPRG0 = const 272,
    SRR0 = const 26,
    SRR1 = const 27,
    HSRR0 = const 314,
    HSRR1 = const 315,
    STACK_LOG2 = const STACK_LOG2,
    SECONDARIES = const VCPUS_MAX - 1,
);

/// The greatest number of vCPUs that a payload starts.
pub const VCPUS_MAX: u64 = 32;
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
    let partition = Partition::new(tree);
    if partition.is_hashed() {
        hash::use_table(partition.hash_table_log2());
    }
    rt_main(partition);
    power_off()
}
