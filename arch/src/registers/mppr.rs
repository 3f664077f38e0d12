//! The operands of the micro-partition prefetch engine: the register of `logmpp`, and MPPR.
//! Source: `docs/facts/power8.md#operands-of-the-prefetch-engine`.

use crate::bits::{Field, bit};

/// The real address of the table, of both: a multiple of 16 KiB.
pub const TABLE: u64 = 0x0000_FFFF_FFFF_C000;

/// Of `logmpp`: what to do, [`log`].
pub const LOG: Field = Field::new(8, 9);

/// What `logmpp` does.
pub mod log {
    /// Nothing.
    pub const NOTHING: u64 = 0;
    /// Logs the L2 and one way of the L3.
    pub const L2_AND_L3: u64 = 1;
    /// Logs the L2.
    pub const L2: u64 = 2;
    /// Ends a log that is under way.
    pub const ABORT: u64 = 3;
}

/// Of MPPR: how much of the table to fetch, [`fetch`].
pub const FETCH: Field = Field::new(2, 3);

/// What a write of MPPR fetches.
pub mod fetch {
    /// Nothing: it ends a fetch that is under way.
    pub const NOTHING: u64 = 0;
    /// All, to the table's end.
    pub const TO_THE_END: u64 = 2;
}

/// Bytes of a table that has the L2's lines; its alignment too.
pub const L2_TABLE_BYTES: u64 = 32 << 10;
/// Bytes of a table that has those of the L3 too; its alignment too.
pub const L2_AND_L3_TABLE_BYTES: u64 = 128 << 10;

/// MPPR as this machine shows it: a log is under way. No source says how a POWER8 tells.
pub const LOGS: u64 = bit(63);
/// MPPR as this machine shows it: a fetch is under way.
pub const FETCHES: u64 = bit(62);
