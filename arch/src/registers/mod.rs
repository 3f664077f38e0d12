//! Registers: their fields, and the table of special-purpose registers.

pub mod bescr;
pub mod hfscr;
pub mod lpcr;
pub mod monitor;
pub mod mppr;
pub mod msr;
pub mod pcr;
pub mod ppr;
pub mod psscr;
pub mod spr;
pub mod tfmr;
pub mod vscr;

/// Fields of the fixed-point exception register.
pub mod xer {
    /// Summary overflow.
    pub const SO: u64 = 0x8000_0000;
    /// Overflow.
    pub const OV: u64 = 0x4000_0000;
    /// Carry.
    pub const CA: u64 = 0x2000_0000;
    /// Overflow of the low word (ISA 3.0).
    pub const OV32: u64 = 0x0008_0000;
    /// Carry out of the low word (ISA 3.0).
    pub const CA32: u64 = 0x0004_0000;
    /// Byte count of `lswx` and `stswx`.
    pub const BYTES: u64 = 0x7F;
    /// The bits that hold a value; the others read as zero.
    pub const MASK: u64 = SO | OV | CA | OV32 | CA32 | BYTES;
}

/// The four bits of a condition-register field.
pub mod cr {
    /// Less than, negative.
    pub const LT: u32 = 8;
    /// Greater than, positive.
    pub const GT: u32 = 4;
    /// Equal, zero.
    pub const EQ: u32 = 2;
    /// Summary overflow; unordered.
    pub const SO: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::xer;

    #[test]
    fn xer_keeps_five_bits_and_the_string_length() {
        assert_eq!(xer::MASK, 0xE00C_007F);
    }
}
