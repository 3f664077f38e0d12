//! What a table walk reads, by either scheme.

use crate::state::memory::Offset;
use crate::state::walk_cache::{WalkKey, Words};

/// A table entry that a walk read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// Where it lies.
    pub place: Offset,
    /// Whether it belongs to the process-scoped stage of radix: the process table and its trees.
    pub is_process: bool,
    /// What a walk cache may remember it as; nothing for a leaf or a group of hashed entries.
    pub key: Option<WalkKey>,
    /// What was there; nothing of a group.
    pub words: Words,
}
