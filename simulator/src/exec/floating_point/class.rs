//! FPRF: the class and the sign of a result. Power ISA 3.0B Book I 4.2.2.
//!
//! Classes with a sign have a value for positive and one for negative results.

use super::fpscr::FPRF;

pub(in crate::exec) const NORMAL: [u64; 2] = [0b00100, 0b01000];
/// Denormal binary numbers, subnormal decimal ones.
pub(in crate::exec) const DENORMAL: [u64; 2] = [0b10100, 0b11000];
pub(in crate::exec) const ZERO: [u64; 2] = [0b00010, 0b10010];
pub(in crate::exec) const INFINITY: [u64; 2] = [0b00101, 0b01001];
/// A quiet NaN.
pub(in crate::exec) const NAN: u64 = 0b10001;
/// A signalling NaN, which only decimal conversions deliver.
pub(in crate::exec) const SIGNALLING_NAN: u64 = 0b00001;

/// FPRF of a class with a sign, in its place.
#[inline]
pub(in crate::exec) fn fprf(class: [u64; 2], negative: bool) -> u64 {
    class[usize::from(negative)] << FPRF.shift()
}
