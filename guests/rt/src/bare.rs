//! From OPAL to the payload's main, and translation, where a payload is a kernel of its own.

use core::arch::global_asm;

use arch::hash::TABLE_MAXIMUM_LOG2;
use arch::opal::{reinit, status, token};
use arch::processor::Processor;
use arch::registers::msr;
use dtoolkit::fdt::Fdt;

use crate::partition::Partition;
use crate::threads::{STACK_LOG2, THREADS_MAX};
use crate::time::timebase;
use crate::{hash, opal, table};

global_asm!(
    include_str!("macros.S"),
    include_str!("bare.S"),
    include_str!("interrupts.S"),
    include_str!("threads.S"),
    BARE = const 1,
    ME = const msr::ME,
    RI = const msr::RI,
    SPRG0 = const 272,
    SRR0 = const 26,
    SRR1 = const 27,
    HSRR0 = const 314,
    HSRR1 = const 315,
    STACK_LOG2 = const STACK_LOG2,
    OTHERS = const THREADS_MAX - 1,
);

unsafe extern "Rust" {
    safe fn rt_main(partition: Partition);
}

#[unsafe(no_mangle)]
extern "C" fn rt_start(tree: *const u8, base: u64, entry: u64) -> ! {
    opal::use_opal(base, entry);
    // POWER8 has no choice of translation, and refuses to be asked.
    let translation = match table::processor() {
        Processor::Power8 => 0,
        Processor::Power9 => reinit::MMU_HASH,
    };
    let answer = opal::call(token::REINIT_CPUS, [reinit::HILE_LITTLE | translation, 0, 0]);
    assert_eq!(answer, status::SUCCESS, "OPAL_REINIT_CPUS");
    // SAFETY: r3 is the address of a flattened device tree, which nothing changes.
    let tree = unsafe { Fdt::from_raw_unchecked(tree) };
    let partition = Partition::new(tree);
    let memory_bytes = partition.memory_bytes();
    let [mib, kib] = ["page_table", "page_table_kib"].map(|name| partition.number(name, 0u64));
    let bytes_log2 = match (mib, kib) {
        (0, 0) => table_log2(memory_bytes),
        (mib, 0) => {
            let is_right = mib.is_power_of_two() && 20 + mib.ilog2() <= TABLE_MAXIMUM_LOG2;
            assert!(is_right, "page_table={mib}: a power of two was expected");
            20 + mib.ilog2()
        }
        (mib, kib) => {
            let is_possible = |log2| (LEAST_LOG2..=TABLE_MAXIMUM_LOG2).contains(&log2);
            assert!(
                mib == 0 && kib.is_power_of_two() && is_possible(10 + kib.ilog2()),
                "page_table_kib={kib}: a power of two from {} was expected, without page_table",
                1 << (LEAST_LOG2 - 10)
            );
            10 + kib.ilog2()
        }
    };
    let place = memory_bytes.saturating_sub(1 << bytes_log2) >> bytes_log2 << bytes_log2;
    assert!(
        place >= partition.free_memory().start,
        "memory: {memory_bytes} bytes are too few for the program and its page table"
    );
    table::begin(place, bytes_log2);
    hash::use_table(bytes_log2);
    // Beyond the memory that the kernel has.
    hash::map_all(partition.tree_range());
    rt_main(partition);
    opal::power_off()
}

/// log2 of the bytes of the smallest table that the architecture has.
const LEAST_LOG2: u32 = 18;

/// log2 of the bytes of the table for so much memory, as the hypervisor gives a partition one: a 128th.
fn table_log2(memory_bytes: u64) -> u32 {
    (memory_bytes >> 7).next_power_of_two().ilog2().max(LEAST_LOG2)
}

/// Maps the first `memory_bytes` bytes, and turns translation on.
pub fn enable_translation(memory_bytes: u64) {
    hash::map_all(0..memory_bytes);
    hash::join();
}

/// So many ticks of the time base pass. A kernel of its own has nobody to leave the processor to, and waits.
pub fn sleep(ticks: u64) {
    let begin = timebase();
    while timebase() - begin < ticks {
        core::hint::spin_loop();
    }
}

/// A kernel of its own takes no naps: they are for work that a hypervisor does from time to time.
///
/// # Panics
/// If the argument `naps` asks for it.
pub fn take_naps(partition: &Partition) {
    assert!(partition.number("naps", 0u32) == 0, "naps: only a partition takes them");
}
