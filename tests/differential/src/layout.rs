//! Where things lie in the memory of the guest program.
//!
//! The first 32 KiB can be reached with a displacement alone, without a base register: they hold
//! what the program needs while every register belongs to the case.

use crate::state::WINDOW_BYTES;

/// Variables of the program: pointers, counter, and r31 of the case that just ended.
pub mod variable {
    /// Address of the record to start from.
    pub const INPUT: i64 = 0x1000;
    /// Address of the record to fill.
    pub const OUTPUT: i64 = 0x1008;
    /// Cases left.
    pub const LEFT: i64 = 0x1010;
    /// r31 at the end of the case.
    pub const SAVED: i64 = 0x1018;
    /// The exit's number.
    pub const EXIT: i64 = 0x1020;
}

/// Where branches to an absolute address go.
pub const LANDING: u64 = 0x2000;
/// The two pages that the simulator has as memory.
pub const SCRATCH: u64 = 0x4000;
/// Their size.
pub const SCRATCH_BYTES: u64 = 0x2000;
/// The memory that cases aim at, across the boundary between these pages.
pub const WINDOW: u64 = SCRATCH + SCRATCH_BYTES / 2 - WINDOW_BYTES as u64 / 2;
/// End of the part that is reached without a base register.
pub const LOW_END: u64 = 0x8000;

/// The program's code.
pub const CODE: u64 = 0x0100_0000;
/// The records to start from.
pub const INPUT: u64 = 0x0800_0000;
/// The records to fill.
pub const OUTPUT: u64 = 0x1000_0000;
