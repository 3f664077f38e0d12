//! Vector status and control register. Source: Power ISA 3.0B Book I 6.3.2.

/// Denormal numbers are zeros (non-Java mode).
pub const NJ: u32 = 1 << 16;
/// A result was saturated; sticky.
pub const SAT: u32 = 1;

/// The bits that there are.
pub const MASK: u32 = NJ | SAT;
