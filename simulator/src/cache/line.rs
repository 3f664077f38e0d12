//! What a cache knows of a line besides its place and its age.

use serde::{Deserialize, Serialize};

use super::latency::Level;

/// No core.
pub const NOBODY: u16 = u16::MAX;

/// Who brought a line into a first level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bringer {
    /// The hardware thread.
    pub thread: u16,
    /// Whether it was in a partition, and not in the hypervisor or firmware.
    pub is_partition: bool,
    /// The partition that it executed, or served, if any.
    pub lpid: Option<u32>,
}

/// A line in a cache. Some fields have a meaning in some caches only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Line {
    /// The cycle from which it can be used here.
    pub ready: u64,
    /// Where it came from.
    pub from: Level,
    /// It had been lost to a foreign owner before it came.
    pub is_refill: bool,
    /// In a first level: it was fetched ahead, and nothing has used it.
    pub is_prefetched: bool,
    /// In a first level: who brought it.
    pub bringer: Option<Bringer>,
    /// In an L2: which first-level caches above may have it, a bit each.
    pub above: u8,
    /// In an L2 and an L3: memory does not have it.
    pub is_dirty: bool,
    /// In an L2 and an L3: no other pair of cores has it.
    pub is_exclusive: bool,
    /// In an L2 and an L3: the core that wrote it last, if none but it has read it since; else [`NOBODY`].
    pub writer: u16,
}

impl Line {
    /// A clean line that comes from `from` and can be used at cycle `ready`.
    #[must_use]
    pub fn new(from: Level, ready: u64) -> Self {
        Self { ready, from, writer: NOBODY, ..Self::default() }
    }
}
