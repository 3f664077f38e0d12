//! A radix tree as POWER9 accepts it, from the root down to the page.
//!
//! Source: `docs/facts/translation.md#tables`.

use arch::interrupt::storage;
use arch::radix::{self, Entry, Leaf, Root};

/// A page that a walk found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Page {
    /// The leaf, its base with the bits below the page size cleared.
    pub(super) leaf: Leaf,
    /// log2 of the page size.
    pub(super) log2: u32,
}

impl Page {
    /// The address behind `input` in this page.
    pub(super) fn translate(&self, input: u64) -> u64 {
        self.leaf.base.0 | input & ((1 << self.log2) - 1)
    }
}

/// Which doubleword a tree's next entry is: the address to read, and how to read on from there.
pub(super) struct Descent {
    base: u64,
    entries_log2: u32,
    bits_left: u32,
}

/// What an entry means.
pub(super) enum Step {
    /// The tree has no page for the address, or is one that POWER9 does not accept: cause bits.
    Fault(u64),
    /// Another table.
    Directory,
    /// The page.
    Page(Page),
}

impl Descent {
    pub(super) fn new(root: Root) -> Self {
        Self { base: root.base.0, entries_log2: root.entries_log2, bits_left: root.space_log2 }
    }

    /// Whether POWER9 accepts this tree's geometry so far.
    pub(super) fn is_supported(&self) -> bool {
        let table_log2 = self.entries_log2 + 3;
        let geometry = matches!(
            (self.bits_left, self.entries_log2),
            (radix::SPACE_LOG2, radix::ROOT_ENTRIES_LOG2)
                | (39 | 30, radix::DIRECTORY_ENTRIES_LOG2)
                | (21, radix::LEAF_4K_ENTRIES_LOG2 | radix::LEAF_64K_ENTRIES_LOG2)
        );
        geometry && self.base & ((1 << table_log2) - 1) == 0
    }

    /// log2 of the bytes that the next entry covers.
    pub(super) fn covers_log2(&self) -> u32 {
        self.bits_left - self.entries_log2
    }

    /// Where the next entry for `input` lies.
    pub(super) fn entry_address(&self, input: u64) -> u64 {
        let index = input >> self.covers_log2() & ((1 << self.entries_log2) - 1);
        self.base + 8 * index
    }

    /// Takes the step that `word`, the next entry, says.
    pub(super) fn step(&mut self, word: u64) -> Step {
        self.bits_left = self.covers_log2();
        match Entry::from_doubleword(word) {
            Entry::Invalid => Step::Fault(storage::NO_TRANSLATION),
            Entry::Directory { base, entries_log2 } => {
                self.base = base.0;
                self.entries_log2 = entries_log2;
                if self.is_supported() {
                    Step::Directory
                } else {
                    Step::Fault(storage::BAD_CONFIGURATION)
                }
            }
            Entry::Leaf(leaf) if matches!(self.bits_left, 12 | 16 | 21 | 30) => {
                let base = leaf.base.align_down(self.bits_left);
                Step::Page(Page { leaf: Leaf { base, ..leaf }, log2: self.bits_left })
            }
            Entry::Leaf(_) => Step::Fault(storage::BAD_CONFIGURATION),
        }
    }
}
