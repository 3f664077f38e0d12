//! A memory for tables, for tests: as many as it is told, anywhere.

use std::collections::HashMap;

use arch::address::RealAddress;

use super::{Slot, Table, TableMemory, Tree};

/// Tables anywhere in a sparse memory, as many as `left` says.
#[derive(Default)]
pub(crate) struct Sparse {
    words: HashMap<u64, u64>,
    next: u64,
    pub(crate) left: usize,
    pub(crate) released: Vec<u64>,
}

impl TableMemory for Sparse {
    fn allocate(&mut self, entries_log2: u32) -> Option<Table> {
        self.left = self.left.checked_sub(1)?;
        let bytes = 8 << entries_log2;
        let base = self.next.next_multiple_of(bytes);
        self.next = base + bytes;
        // SAFETY: words that nobody has used, and no other memory has.
        Some(unsafe { Table::new(RealAddress(base), entries_log2) })
    }
    fn release(&mut self, table: Table) {
        self.released.push(table.base().0);
    }
    fn read(&self, slot: &Slot) -> u64 {
        self.words.get(&slot.address().0).copied().unwrap_or(0)
    }
    fn write(&mut self, slot: &Slot, value: u64) {
        self.words.insert(slot.address().0, value);
    }
}

/// An empty tree, in a memory with room for so many tables.
pub(crate) fn tree(left: usize) -> (Sparse, Tree) {
    let mut memory = Sparse { left, ..Sparse::default() };
    let tree = Tree::new(&mut memory).unwrap();
    (memory, tree)
}
