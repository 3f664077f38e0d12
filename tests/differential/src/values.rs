//! Random values that favour the edges.

use fastrand::Rng;

/// Doublewords at which something changes: signs, carries, the boundary between the words.
const EDGES: [u64; 26] = [
    0,
    1,
    2,
    u64::MAX,
    u64::MAX - 1,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0x0000_0000_7FFF_FFFF,
    0x0000_0000_8000_0000,
    0x0000_0000_8000_0001,
    0x0000_0000_FFFF_FFFF,
    0x0000_0001_0000_0000,
    0x0000_0001_FFFF_FFFF,
    0xFFFF_FFFF_0000_0000,
    0xFFFF_FFFF_7FFF_FFFF,
    0xFFFF_FFFF_8000_0000,
    0x7FFF_FFFF_8000_0000,
    0x8000_0000_7FFF_FFFF,
    0x8000_0000_8000_0000,
    0x7F80_FF00_0180_007F,
    0x5555_5555_5555_5555,
    0xAAAA_AAAA_AAAA_AAAA,
    0x0999_0123_4567_0999,
    0x0123_4567_89AB_CDEF,
    0x0011_2233_3322_1100,
];

/// Doublewords that are something special as a double: zeros, denormals, the ends of the ranges of
/// double and single, infinities, quiet and signalling NaNs, numbers at the edges of the integers.
const DOUBLES: [u64; 24] = [
    0x0000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    0x7FF7_FFFF_FFFF_FFFF,
    0x7FF8_0000_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x3FF0_0000_0000_0000,
    0x3FF0_0000_0000_0001,
    0x3FEF_FFFF_FFFF_FFFF,
    0x3FE0_0000_0000_0000,
    0x36A0_0000_0000_0000,
    0x380F_FFFF_E000_0000,
    0x3810_0000_0000_0000,
    0x47EF_FFFF_E000_0000,
    0x47EF_FFFF_F000_0000,
    0x41DF_FFFF_FFC0_0000,
    0x41E0_0000_0000_0000,
    0x43E0_0000_0000_0000,
    0x43F0_0000_0000_0000,
    0x4330_0000_0000_0001,
];

/// A general-purpose register.
pub(crate) fn fixed(rng: &mut Rng) -> u64 {
    match rng.u32(..16) {
        0..6 => *rng.choice(&EDGES).expect("there are edges"),
        6 | 7 => rng.u64(..160),
        8 | 9 => u64::from(rng.u32(..)),
        10 => i64::from(rng.i32(..)) as u64,
        11 => EDGES[rng.usize(..EDGES.len())].wrapping_add_signed(rng.i64(-3..=3)),
        12 => 1 << rng.u32(..64),
        13 => rng.u64(..) & rng.u64(..) & rng.u64(..),
        _ => rng.u64(..),
    }
}

/// A floating-point register.
pub(crate) fn floating(rng: &mut Rng) -> u64 {
    let sign = u64::from(rng.bool()) << 63;
    match rng.u32(..8) {
        0..3 => sign | *rng.choice(&DOUBLES).expect("there are doubles"),
        // Near one, where sums cancel.
        3 => sign | 0x3FF0_0000_0000_0000_u64.wrapping_add_signed(rng.i64(-4..=4) << rng.u32(..52)),
        // A single.
        4 | 5 => f64::from(f32::from_bits(rng.u32(..))).to_bits(),
        6 => (rng.i64(..) as f64).to_bits(),
        _ => rng.u64(..),
    }
}
