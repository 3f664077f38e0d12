//! Branch event status and control register: event-based branches.
//!
//! Source: Power ISA 3.0B Book II, Event-Based Branch Facility, as Linux's `reg.h` and QEMU's `cpu.h` have
//! it.

use crate::bits::{Field, bit};

/// Event-based branches are enabled; one clears it.
pub const GE: u64 = bit(0);
/// Load monitored exceptions are enabled: in drafts of version 3.0, in no processor.
pub const LME: u64 = bit(29);
/// External exceptions are enabled.
pub const EE: u64 = bit(30);
/// Performance-monitor exceptions are enabled.
pub const PME: u64 = bit(31);
/// The transaction state that an event-based branch found.
pub const TS: Field = Field::new(32, 33);
/// An external exception has occurred.
pub const EEO: u64 = bit(62);
/// A performance-monitor exception has occurred.
pub const PMEO: u64 = bit(63);

/// The bits that are kept: all but those of load monitoring.
pub const KEPT: u64 = GE | EE | PME | TS.mask() | EEO | PMEO;
