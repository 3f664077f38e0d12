//! The levels that a line can come from: what each costs, and which cause that is.
//!
//! A free cause costs what the level above it costs: an access that would have been charged to it is as
//! quick as if the line had been there. What comes from further away is not quicker for that.

use serde::{Deserialize, Serialize};

use super::Kind;
use super::parameters::{CacheParameters, MemoryParameters};
use crate::ledger::{Cause, CauseSet, Clock};

/// Where a line comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Level {
    /// The core's own first-level cache.
    #[default]
    L1,
    /// The L2 of the core's pair.
    L2,
    /// The L3 region of the core's pair.
    L3,
    /// Another pair of the chip, which memory agrees with.
    Remote,
    /// Another pair of the chip, which changed it.
    RemoteModified,
    /// The L4, a cache of the chip's own memory.
    L4,
    /// The chip's own memory.
    Memory,
    /// A cache of another chip, which changed it.
    ChipModified,
    /// The L4 of another chip's memory.
    ChipL4,
    /// Another chip's memory.
    ChipMemory,
    /// Memory, but the wait for a channel was longer than the way.
    Bandwidth,
}

impl Level {
    const COUNT: usize = Self::Bandwidth as usize + 1;
    const ALL: [Self; Self::COUNT] = [
        Self::L1,
        Self::L2,
        Self::L3,
        Self::Remote,
        Self::RemoteModified,
        Self::L4,
        Self::Memory,
        Self::ChipModified,
        Self::ChipL4,
        Self::ChipMemory,
        Self::Bandwidth,
    ];

    /// The cause that an access of `kind` is charged to.
    #[must_use]
    pub fn cause(self, kind: Kind) -> Cause {
        match (kind, self) {
            (Kind::Store | Kind::Zero, _) => Cause::StoreDrain,
            // The front end's own work: a hit costs a fetch nothing.
            (Kind::Fetch, Self::L1) => Cause::DispatchWidth,
            (Kind::Fetch, Self::L2) => Cause::FetchL2,
            (Kind::Fetch, Self::L3) => Cause::FetchL3,
            (Kind::Fetch, Self::Remote | Self::RemoteModified | Self::ChipModified) => {
                Cause::FetchRemote
            }
            (
                Kind::Fetch,
                Self::L4 | Self::Memory | Self::ChipL4 | Self::ChipMemory | Self::Bandwidth,
            ) => Cause::FetchMemory,
            (Kind::Load | Kind::Walk, level) => match level {
                Self::L1 => Cause::LoadL1,
                Self::L2 => Cause::LoadL2,
                Self::L3 => Cause::LoadL3,
                Self::Remote | Self::RemoteModified => Cause::LoadRemote,
                Self::L4 => Cause::LoadL4,
                Self::Memory => Cause::LoadMemory,
                Self::ChipModified | Self::ChipL4 | Self::ChipMemory => Cause::LoadChip,
                Self::Bandwidth => Cause::LoadBandwidth,
            },
        }
    }

    /// Whether it is a memory, or a cache in front of one.
    #[must_use]
    pub fn is_memory(self) -> bool {
        matches!(self, Self::L4 | Self::Memory | Self::ChipL4 | Self::ChipMemory | Self::Bandwidth)
    }

    /// The level whose time it takes when its own cause is free, in a machine that has an L4 or has none.
    fn above(self, has_l4: bool) -> Option<Self> {
        match self {
            Self::L1 => None,
            Self::L2 => Some(Self::L1),
            Self::L3 => Some(Self::L2),
            Self::Memory if has_l4 => Some(Self::L4),
            Self::Remote | Self::RemoteModified | Self::L4 | Self::Memory => Some(Self::L3),
            Self::ChipModified => Some(Self::RemoteModified),
            Self::ChipL4 => Some(Self::L4),
            Self::ChipMemory | Self::Bandwidth => Some(Self::Memory),
        }
    }
}

/// A table walk is charged as a walk, wherever its entries come from: no level is free for it.
fn free_for(kind: Kind, free: CauseSet) -> CauseSet {
    if kind == Kind::Walk { CauseSet::default() } else { free }
}

/// Kinds that a line's way costs differently.
const KINDS: [Kind; 4] = [Kind::Load, Kind::Store, Kind::Fetch, Kind::Walk];

fn row(kind: Kind) -> usize {
    match kind {
        Kind::Load => 0,
        Kind::Store | Kind::Zero => 1,
        Kind::Fetch => 2,
        Kind::Walk => 3,
    }
}

/// Cycles from the beginning of an access until its line can be used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Latencies {
    rows: [[u64; Level::COUNT]; KINDS.len()],
    free: CauseSet,
    /// Getting the only copy of a line whose data one has or does not need.
    claim: u64,
}

impl Latencies {
    /// What the levels cost when the causes in `free` cost nothing.
    #[must_use]
    pub fn new(
        cache: &CacheParameters,
        memory: &MemoryParameters,
        clock: Clock,
        free: CauseSet,
    ) -> Self {
        let cycles = |nanoseconds: u64| (nanoseconds * clock.core_hz + 500_000_000) / 1_000_000_000;
        let plain = |level| match level {
            Level::L1 => cache.l1_latency,
            Level::L2 => cache.l2_latency,
            Level::L3 => cache.l3_latency,
            Level::Remote => cycles(cache.remote_latency),
            Level::RemoteModified => cycles(cache.remote_modified_latency),
            Level::L4 => cycles(memory.l4_latency),
            Level::Memory | Level::Bandwidth => cycles(memory.latency),
            Level::ChipModified => cycles(cache.remote_modified_latency + memory.chip_latency),
            Level::ChipL4 => cycles(memory.l4_latency + memory.chip_latency),
            Level::ChipMemory => cycles(memory.latency + memory.chip_latency),
        };
        let cost = |kind: Kind, mut level: Level| {
            while free_for(kind, free).contains(level.cause(kind)) {
                match level.above(memory.has_buffers()) {
                    Some(above) => level = above,
                    None => return 0,
                }
            }
            match (kind, level) {
                // The store has reached the L2, which has the line for it.
                (Kind::Store, Level::L1 | Level::L2) => cache.store_latency,
                // What a hit takes is in the front end's own stages.
                (Kind::Fetch, level) => plain(level).saturating_sub(plain(Level::L1)),
                (_, level) => plain(level),
            }
        };
        Self {
            rows: KINDS.map(|kind| Level::ALL.map(|level| cost(kind, level))),
            free,
            claim: free.cost(Cause::StoreDrain, cycles(cache.claim_latency)),
        }
    }

    /// Cycles until a line from `level` can be used.
    #[inline]
    #[must_use]
    pub fn of(&self, kind: Kind, level: Level) -> u64 {
        self.rows[row(kind)][level as usize]
    }

    /// Cycles until nobody else has a line that a store wants, where its data is not needed.
    #[must_use]
    pub fn claim(&self) -> u64 {
        self.claim
    }

    /// What a wait of `cycles` for `level` costs.
    #[must_use]
    pub fn wait(&self, kind: Kind, level: Level, cycles: u64) -> u64 {
        free_for(kind, self.free).cost(level.cause(kind), cycles)
    }
}
