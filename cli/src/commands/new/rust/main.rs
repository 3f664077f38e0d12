#![no_std]
#![no_main]

mod powervisor;

use powervisor::{hypercall, mark_begin, mark_end};

/// H_SET_SPRG0, which changes its caller alone.
const MEASURED: u64 = 0x24;

fn main() {
    // Caches and predictors fill.
    for _ in 0..200 {
        hypercall(MEASURED, [0; 4]);
    }
    mark_begin::<1>();
    for _ in 0..1000 {
        hypercall(MEASURED, [0; 4]);
    }
    mark_end::<1>();
    println!("@NAME@: done");
}
