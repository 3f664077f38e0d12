//! Tests of the floating-point instructions that need no other machine to compare with.
//!
//! The bit-for-bit comparison with QEMU is `tests/differential`.

mod exceptions;
mod memory;
mod rounding;

use proptest::prelude::{Just, Strategy, any, prop_oneof};

/// Doubles of every class, and crowded where arithmetic is difficult.
fn operand() -> impl Strategy<Value = u64> {
    let fraction = prop_oneof![
        Just(0),
        Just((1_u64 << 52) - 1),
        (0..52_u32).prop_map(|bit| 1 << bit),
        any::<u64>().prop_map(|bits| bits & 0x000F_FFFF_E000_0000),
        any::<u64>().prop_map(|bits| bits >> 12),
    ];
    let exponent = prop_oneof![
        Just(0_u64),
        Just(0x7FF),
        0..3_u64,
        2044..0x7FF_u64,
        870..900_u64,
        1145..1155_u64,
        1013..1033_u64,
        0..0x7FF_u64,
    ];
    (any::<bool>(), exponent, fraction).prop_map(|(negative, exponent, fraction)| {
        u64::from(negative) << 63 | exponent << 52 | fraction
    })
}

/// Doubles that single format can hold.
fn single_operand() -> impl Strategy<Value = u64> {
    operand().prop_map(|bits| f64::from(f64::from_bits(bits) as f32).to_bits())
}
