//! Which entries of radix trees and their tables a walk has to read, one after the other.
//!
//! A walker remembers directories, in a cache for each of the three levels, and begins below the lowest one that
//! it knows, so that an upper one matters only where all below are gone. The highest level's cache holds
//! entries of the partition and process tables too: how POWER9 keeps those was not found. What the partition
//! scope says of tables' own places is not remembered beyond its directories.

use serde::{Deserialize, Serialize};

use super::TranslationRequest;
use super::spaces::Spaces;
use crate::cache::array::Array;
use crate::cache::parameters::TranslationParameters;
use crate::cache::{Hierarchy, Kind, LINE_LOG2, Request};
use crate::ledger::Side;
use crate::mmu::read::Read;
use crate::state::invalidation::{Extent, Invalidation};
use crate::state::walk_cache::WalkKey;

/// What a walker remembers of the trees.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Directories {
    /// By what an entry covers: 512 GB and more, 1 GB, 2 MB.
    levels: [Array<()>; 3],
}

/// Bits of a tag below the space: what kind of entry, and which.
const KIND_LOG2: u32 = 40;
const SPACE_LOG2: u32 = 42;

/// The level that remembers an entry, and its tag there.
fn place(spaces: &mut Spaces, key: WalkKey) -> (usize, u64) {
    let (level, kind, prefix) = match key {
        WalkKey::Directory { covers_log2, prefix, .. } => {
            let level = match covers_log2 {
                ..=21 => 2,
                22..=30 => 1,
                _ => 0,
            };
            (level, 0, prefix)
        }
        WalkKey::ProcessEntry { .. } | WalkKey::PartitionEntry { .. } => (0, 1, 0),
    };
    (level, spaces.number(key.space()) << SPACE_LOG2 | kind << KIND_LOG2 | prefix)
}

impl Directories {
    pub(super) fn new(parameters: &TranslationParameters) -> Self {
        // One entry where there are no radix trees, for the entry of the partition table.
        let ways = parameters.walk_cache_ways.max(1);
        let level = Array::new((parameters.walk_cache_entries / ways).max(1), ways);
        Self { levels: [level.clone(), level.clone(), level] }
    }

    /// Drops everything that it remembers.
    pub(super) fn forget(&mut self) {
        self.levels.iter_mut().for_each(Array::forget);
    }

    /// Drops what an invalidation removes.
    pub(super) fn invalidate(&mut self, spaces: &Spaces, invalidation: &Invalidation) {
        let Invalidation { lpid, is_process, extent, directories, tables, .. } = *invalidation;
        let pid = match extent {
            Extent::Pid(pid) => Some(pid),
            Extent::Page { .. } | Extent::VirtualPage { .. } | Extent::Everything => None,
        };
        for level in &mut self.levels {
            level.remove_if(|tag, ()| {
                let space = spaces.name(tag >> SPACE_LOG2);
                let is_table = tag >> KIND_LOG2 & 3 != 0;
                (if is_table { tables } else { directories || tables })
                    && lpid.is_none_or(|lpid| lpid == space.lpid())
                    && space.is_process() == is_process
                    && (pid.is_none() || space.pid() == pid)
            });
        }
    }
}

/// One walk, with what it needs at hand.
pub(super) struct Walk<'a> {
    pub(super) directories: &'a mut Directories,
    pub(super) hierarchy: &'a mut Hierarchy,
    pub(super) spaces: &'a mut Spaces,
    pub(super) request: &'a TranslationRequest,
    /// The cycle at which the latest entry has come.
    pub(super) time: u64,
}

impl Walk<'_> {
    fn side(&self) -> Side {
        self.request.owner.side()
    }

    /// Reads what has to be read of a walk.
    pub(super) fn read_path(&mut self, reads: &[Read]) {
        let is_partition_entry =
            |read: &Read| matches!(read.key, Some(WalkKey::PartitionEntry { .. }));
        let (first, rest) = match reads.split_first() {
            Some((first, rest)) if is_partition_entry(first) => (Some(first), rest),
            _ => (None, reads),
        };
        if let Some(first) = first.filter(|first| !self.knows(first)) {
            self.read(first);
        }
        // Each process-scoped entry with the partition-scoped ones before it, which say where it lies.
        let mut steps: Vec<&[Read]> = rest.split_inclusive(|read| read.is_process).collect();
        let page = match steps.pop() {
            Some(last) if last.last().is_some_and(|read| read.is_process) => {
                steps.push(last);
                &[]
            }
            last => last.unwrap_or(&[]),
        };
        let known = steps.iter().rposition(|step| step.last().is_some_and(|read| self.knows(read)));
        for step in &steps[known.map_or(0, |known| known + 1)..] {
            if let Some((entry, located)) = step.split_last() {
                self.read_chain(located);
                self.read(entry);
            }
        }
        self.read_chain(page);
    }

    /// Reads one descent of the partition-scoped tree, below the lowest directory that is known.
    fn read_chain(&mut self, reads: &[Read]) {
        let known = reads.iter().rposition(|read| self.knows(read));
        for read in &reads[known.map_or(0, |known| known + 1)..] {
            self.read(read);
        }
    }

    fn knows(&mut self, read: &Read) -> bool {
        let Some(key) = read.key else {
            return false;
        };
        let (level, tag) = place(self.spaces, key);
        let side = self.side();
        self.directories.levels[level].touch(tag, side).is_some()
    }

    fn read(&mut self, read: &Read) {
        let TranslationRequest { thread, address, owner, .. } = *self.request;
        let line = (read.place >> LINE_LOG2) as u64;
        let request = Request { thread, line, address, kind: Kind::Walk, at: self.time, owner };
        self.time = self.hierarchy.access(&request).ready;
        if let Some(key) = read.key {
            let (level, tag) = place(self.spaces, key);
            let side = self.side();
            if self.directories.levels[level].touch(tag, side).is_none() {
                self.directories.levels[level].install(tag, side, (), side);
            }
        }
    }
}
