//! The table walker of a core: how many walks it makes at a time, and what it remembers of the tables.

use serde::{Deserialize, Serialize};

use super::TranslationRequest;
use super::radix::{Directories, Walk};
use super::spaces::Spaces;
use crate::cache::Hierarchy;
use crate::cache::parameters::TranslationParameters;
use crate::mmu::path::Path;
use crate::state::invalidation::Invalidation;

/// A core's walker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Walker {
    directories: Directories,
    /// Begin and end of the last walk of each of those that go on at a time.
    walks: Vec<(u64, u64)>,
}

impl Walker {
    pub(super) fn new(parameters: &TranslationParameters) -> Self {
        Self {
            directories: Directories::new(parameters),
            walks: vec![(0, 0); parameters.walkers as usize],
        }
    }

    /// Walks, from cycle `begin` on. Returns the cycle at which the last entry has come.
    pub(super) fn walk(
        &mut self,
        hierarchy: &mut Hierarchy,
        spaces: &mut Spaces,
        request: &TranslationRequest,
        path: &Path,
        begin: u64,
    ) -> u64 {
        // Threads take turns, so a walk may have begun in what is still to come: it does not keep the
        // walker busy.
        let free_at = |walk: &(u64, u64)| if walk.0 <= begin { walk.1.max(begin) } else { begin };
        let Some(walk) = self.walks.iter_mut().min_by_key(|walk| free_at(walk)) else {
            return begin;
        };
        let begin = free_at(walk);
        let directories = &mut self.directories;
        let mut chain = Walk { directories, hierarchy, spaces, request, time: begin };
        chain.read_path(&path.reads);
        *walk = (begin, chain.time);
        chain.time
    }

    /// Drops everything that it remembers; walks that go on do so.
    pub(super) fn forget(&mut self) {
        self.directories.forget();
    }

    /// Drops what an invalidation removes.
    pub(super) fn invalidate(&mut self, spaces: &Spaces, invalidation: &Invalidation) {
        self.directories.invalidate(spaces, invalidation);
    }
}
