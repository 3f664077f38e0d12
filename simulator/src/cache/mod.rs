//! The memory hierarchy as time sees it: how long a line takes, where it came from, and who lost one.
//!
//! | file | what it is |
//! |---|---|
//! | [`hierarchy`] | every core's caches and the memory: an access goes in, a time comes out |
//! | [`array`](mod@array), [`displaced`], [`line`](mod@line) | tags in order of use, what foreign owners pushed out, a line |
//! | [`memory`] | a chip's memory: its channels, and the L4 where there is one |
//! | [`bandwidth`] | what passes a line at a time: ports of the caches, channels of the memory |
//! | [`exchange`] | lines that threads pass to each other, one transfer after the other |
//! | [`latency`] | the levels, what each costs and which cause it is charged to |
//! | [`prefetch`] | streams of loads, and the lines to fetch ahead of them |
//! | [`translation`] | ERATs, TLBs and table walks |
//! | [`parameters`] | `[timing.cache]`, `[timing.prefetch]`, `[timing.memory]`, `[timing.translation]` |
//!
//! Contents are no business of the caches: memory is always right (the machine is sequentially
//! consistent). They hold tags. `icbi` does nothing here: instruction caches see stores themselves.

pub mod array;
pub mod bandwidth;
pub mod displaced;
pub mod exchange;
pub mod hierarchy;
pub mod latency;
pub mod line;
pub mod memory;
pub mod parameters;
pub mod prefetch;
pub mod translation;

use serde::{Deserialize, Serialize};

use crate::ledger::{Cause, Owner};

pub use hierarchy::{Hierarchy, Restored, Savings, Wish};
pub use parameters::LINE_LOG2;
pub use translation::{TranslationRequest, Translations};

/// What an access wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Data, to read.
    Load,
    /// Data, to write: the time is that at which the store has drained.
    Store,
    /// A line to be zeroed whole: nothing is fetched from memory.
    Zero,
    /// Instructions.
    Fetch,
    /// A page-table entry.
    Walk,
}

/// An access to one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The hardware thread.
    pub thread: usize,
    /// The place in memory ([`Offset`](crate::state::memory::Offset)), divided by the line's bytes.
    pub line: u64,
    /// The effective address: the prefetcher's streams go by it.
    pub address: u64,
    /// What it wants.
    pub kind: Kind,
    /// The cycle at which it begins.
    pub at: u64,
    /// On whose account.
    pub owner: Owner,
}

/// What a hardware thread did not find in its caches since timing began, and how many stores it made. Nothing that was
/// fetched ahead counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CacheMisses {
    /// Loads and fetches that the first level did not have.
    pub l1: u64,
    /// Loads, fetches, stores and reads of table walks that the L2 did not have.
    pub l2: u64,
    /// Those of them whose line came from beyond the L3 region, or was on its way from there.
    pub l3: u64,
    /// Fetches of `l1`; the others are loads.
    pub fetches_l1: u64,
    /// Loads of `l2`.
    pub loads_l2: u64,
    /// Loads of `l3`.
    pub loads_l3: u64,
    /// Stores, missing or not.
    pub stores: u64,
    /// Stores whose line the first level did not have.
    pub stores_l1: u64,
    /// Stores of `l2`.
    pub stores_l2: u64,
}

/// What an access took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The cycle at which the data can be used (or the store has drained).
    pub ready: u64,
    /// What decided it.
    pub cause: Cause,
    /// Whether the thread's side had the line and lost it to another one (see [`Owner::side`]).
    pub is_refill: bool,
}
