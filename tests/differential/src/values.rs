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

/// Words that are something special as a single, as in [`DOUBLES`].
const SINGLES: [u32; 18] = [
    0x0000_0000,
    0x0000_0001,
    0x007F_FFFF,
    0x0080_0000,
    0x7F7F_FFFF,
    0x7F80_0000,
    0x7F80_0001,
    0x7FBF_FFFF,
    0x7FC0_0000,
    0x7FFF_FFFF,
    0x3F80_0000,
    0x3F80_0001,
    0x3F7F_FFFF,
    0x3F00_0000,
    0x4B00_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0x4F80_0000,
];

/// A vector, as two doublewords: elements of one width at their edges, or numbers, or equal elements.
pub(crate) fn vector(rng: &mut Rng) -> [u64; 2] {
    match rng.u32(..16) {
        0..3 => lanes(rng, 8),
        3..5 => lanes(rng, 16),
        5..7 => lanes(rng, 32),
        7 | 8 => [fixed(rng), fixed(rng)],
        // Shift counts, indices of bytes.
        9 => doublewords(u128::from_be_bytes(std::array::from_fn(|_| rng.u8(..34)))),
        10 => doublewords(u128::from(rng.u8(..)) * (u128::MAX / 0xFF)),
        11 => {
            doublewords([0, 1, u128::MAX, 1 << 127, u128::MAX >> 1, u128::MAX - 1][rng.usize(..6)])
        }
        12 => [floating(rng), floating(rng)],
        13 => doublewords((0..4).fold(0, |all, _| all << 32 | u128::from(single(rng)))),
        _ => doublewords(rng.u128(..)),
    }
}

/// A vector of elements of `bits` bits that favour the edges.
fn lanes(rng: &mut Rng, bits: u32) -> [u64; 2] {
    let ones = u128::MAX >> (128 - bits);
    let top = 1 << (bits - 1);
    let edges = [0, 1, 2, ones, ones - 1, top, top - 1, top + 1, ones / 3, bits.into()];
    doublewords((0..128 / bits).fold(0, |all, _| {
        let lane = if rng.u32(..4) == 0 { rng.u128(..) } else { edges[rng.usize(..edges.len())] };
        all << bits | lane & ones
    }))
}

/// A single.
pub(crate) fn single(rng: &mut Rng) -> u32 {
    let sign = u32::from(rng.bool()) << 31;
    match rng.u32(..4) {
        0 | 1 => sign | SINGLES[rng.usize(..SINGLES.len())],
        // Near one, where sums cancel.
        2 => sign | 0x3F80_0000_u32.wrapping_add_signed(rng.i32(-4..=4) << rng.u32(..24)),
        _ => rng.u32(..),
    }
}

pub(crate) fn doublewords(value: u128) -> [u64; 2] {
    [(value >> 64) as u64, value as u64]
}
