//! Floating-point status and control register: its bits, and the rules that tie them together.
//! Source: Power ISA 3.0B Book I 4.2.2.

use arch::bits::{Field, bit};

/// Decimal rounding mode.
pub const DRN: Field = Field::new(29, 31);
/// Exception summary: some exception bit went from 0 to 1.
pub const FX: u64 = bit(32);
/// Enabled exception summary.
pub const FEX: u64 = bit(33);
/// Invalid operation summary.
pub const VX: u64 = bit(34);
/// Overflow.
pub const OX: u64 = bit(35);
/// Underflow.
pub const UX: u64 = bit(36);
/// Zero divide.
pub const ZX: u64 = bit(37);
/// Inexact.
pub const XX: u64 = bit(38);
/// Invalid: signalling NaN.
pub const VXSNAN: u64 = bit(39);
/// Invalid: infinity - infinity.
pub const VXISI: u64 = bit(40);
/// Invalid: infinity / infinity.
pub const VXIDI: u64 = bit(41);
/// Invalid: zero / zero.
pub const VXZDZ: u64 = bit(42);
/// Invalid: infinity x zero.
pub const VXIMZ: u64 = bit(43);
/// Invalid: ordered comparison with a NaN.
pub const VXVC: u64 = bit(44);
/// The last instruction rounded the magnitude up.
pub const FR: u64 = bit(45);
/// The last instruction's result was inexact.
pub const FI: u64 = bit(46);
/// Class and sign of the result.
pub const FPRF: Field = Field::new(47, 51);
/// Less, greater, equal, unordered: the lower four bits of [`FPRF`].
pub const FPCC: Field = Field::new(48, 51);
/// Invalid: software request.
pub const VXSOFT: u64 = bit(53);
/// Invalid: square root of a negative number.
pub const VXSQRT: u64 = bit(54);
/// Invalid: conversion to an integer that cannot hold the number.
pub const VXCVI: u64 = bit(55);
/// Invalid operations are enabled.
pub const VE: u64 = bit(56);
/// Overflow is enabled.
pub const OE: u64 = bit(57);
/// Underflow is enabled.
pub const UE: u64 = bit(58);
/// Zero divide is enabled.
pub const ZE: u64 = bit(59);
/// Inexact is enabled.
pub const XE: u64 = bit(60);
/// Non-IEEE mode.
pub const NI: u64 = bit(61);
/// Rounding mode.
pub const RN: Field = Field::new(62, 63);

/// The bits whose OR is VX.
pub const INVALID: u64 = VXSNAN | VXISI | VXIDI | VXZDZ | VXIMZ | VXVC | VXSOFT | VXSQRT | VXCVI;
/// The sticky exception bits; the summaries FX, FEX and VX are not among them.
pub const EXCEPTIONS: u64 = OX | UX | ZX | XX | INVALID;
/// The enable bits.
pub const ENABLES: u64 = VE | OE | UE | ZE | XE;
/// Bits that a move to FPSCR writes; the others are reserved, or are summaries.
pub const WRITABLE: u64 =
    DRN.mask() | FX | EXCEPTIONS | FR | FI | FPRF.mask() | ENABLES | NI | RN.mask();

/// VX OX UX ZX XX stand this far above VE OE UE ZE XE.
const EXCEPTION_OVER_ENABLE: u32 = VX.trailing_zeros() - VE.trailing_zeros();

/// `fpscr` with FEX and VX as the other bits demand.
#[must_use]
pub const fn with_summaries(fpscr: u64) -> u64 {
    let mut value = fpscr & !(FEX | VX);
    if value & INVALID != 0 {
        value |= VX;
    }
    if value >> EXCEPTION_OVER_ENABLE & value & ENABLES != 0 {
        value |= FEX;
    }
    value
}

/// How a result that lies between two representable numbers is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearer, in a tie to the even one.
    NearestEven,
    /// To the smaller magnitude.
    TowardZero,
    /// To the greater.
    Up,
    /// To the lesser.
    Down,
}

impl Rounding {
    /// What FPSCR\[RN\] says.
    #[inline]
    #[must_use]
    pub const fn of(fpscr: u64) -> Self {
        match RN.get(fpscr) {
            0 => Self::NearestEven,
            1 => Self::TowardZero,
            2 => Self::Up,
            _ => Self::Down,
        }
    }
}

/// Whether RN is the mode of almost all software.
#[inline]
pub(super) const fn rounds_to_nearest(fpscr: u64) -> bool {
    fpscr & RN.mask() == 0
}
