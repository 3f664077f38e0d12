//! What a core remembers of the tables themselves: partition-table entries, process-table entries and
//! directories on the way to a page.
//!
//! They stay in use until `tlbie` or `tlbiel` with RIC=1 (directories) or RIC=2 (table entries too)
//! removes them, as the translations do. Only what is valid is remembered, and a walk that would fault
//! is walked again without it: just the fresh result faults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tlb::Space;

const CAPACITY: usize = 4096;

/// Which doublewords of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum WalkKey {
    /// The partition-table entry of an LPID.
    PartitionEntry {
        /// Effective LPID.
        lpid: u32,
    },
    /// A process-table entry.
    ProcessEntry {
        /// Effective LPID.
        lpid: u32,
        /// Effective PID.
        pid: u32,
    },
    /// An entry of a radix tree that leads to another table.
    Directory {
        /// Whose addresses the tree translates.
        space: Space,
        /// log2 of the bytes that the entry covers.
        covers_log2: u32,
        /// The addresses that it covers, divided by their size.
        prefix: u64,
    },
}

impl WalkKey {
    /// Whose addresses it says something about.
    #[must_use]
    pub fn space(self) -> Space {
        match self {
            Self::PartitionEntry { lpid } => Space::GuestReal { lpid },
            Self::ProcessEntry { lpid, pid } => Space::Process { lpid, pid },
            Self::Directory { space, .. } => space,
        }
    }

    fn is_directory(self) -> bool {
        matches!(self, Self::Directory { .. })
    }
}

/// What was read from tables: the doublewords of an entry, the second 0 where there is one.
pub type Words = [u64; 2];

/// The tables that one core remembers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WalkCache {
    entries: BTreeMap<WalkKey, Words>,
}

impl WalkCache {
    /// What is remembered of `key`.
    #[must_use]
    pub fn find(&self, key: WalkKey) -> Option<Words> {
        self.entries.get(&key).copied()
    }

    /// Remembers what a walk read.
    pub fn keep(&mut self, learned: impl Iterator<Item = (WalkKey, Words)>) {
        if self.entries.len() >= CAPACITY {
            self.entries.clear();
        }
        self.entries.extend(learned);
    }

    /// Forgets the directories, and with `tables` the table entries too, of one scope: that of `lpid`
    /// (`None`: of all) and, if process-scoped, of `pid` (`None`: of all).
    pub fn invalidate(
        &mut self,
        lpid: Option<u32>,
        is_process: bool,
        pid: Option<u32>,
        tables: bool,
    ) {
        self.entries.retain(|key, _| {
            let space = key.space();
            let is_hit = (key.is_directory() || tables)
                && lpid.is_none_or(|lpid| lpid == space.lpid())
                && space.is_process() == is_process
                && (pid.is_none() || space.pid() == pid);
            !is_hit
        });
    }
}
