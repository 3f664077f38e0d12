//! Writing radix trees: the hypervisor's own, and the second stages of partitions.
//!
//! The tree has the one form that POWER9 walks (`docs/facts/translation.md#tree-form`): a root of 2^13 entries,
//! two levels of 2^9, and a last level of 2^9 entries of 4 KiB or 2^5 of 64 KiB. Leaves may also lie
//! one level higher, for 2 MiB, or two, for 1 GiB. Tables are reached through [`TableMemory`], so the same code runs on
//! the machine and in tests.

use arch::address::RealAddress;
use arch::radix::{
    DIRECTORY_ENTRIES_LOG2, Entry, LEAF_4K_ENTRIES_LOG2, LEAF_64K_ENTRIES_LOG2, Leaf,
    ROOT_ENTRIES_LOG2, Root, SPACE_LOG2,
};

/// 4 KiB pages.
pub const PAGE_4K: u32 = 12;
/// 64 KiB pages.
pub const PAGE_64K: u32 = 16;
/// 2 MiB pages.
pub const PAGE_2M: u32 = 21;
/// 1 GiB pages.
pub const PAGE_1G: u32 = 30;

const ENTRY_BYTES: u64 = 8;

/// The memory of one table. Who has it may give it to a tree or give it back, and nobody else knows the memory.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    base: RealAddress,
    entries_log2: u32,
}

impl Table {
    /// Takes memory for a table of `1 << entries_log2` entries.
    ///
    /// # Safety
    /// The memory at `base` has a table's length, is aligned to it and zero, and is nobody else's from now on. Every
    /// [`TableMemory`] that a tree with this table is used with reads and writes it there.
    #[must_use]
    pub const unsafe fn new(base: RealAddress, entries_log2: u32) -> Self {
        Self { base, entries_log2 }
    }

    /// Where it is.
    #[must_use]
    pub const fn base(&self) -> RealAddress {
        self.base
    }

    /// Its length, and what it is aligned to.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        (ENTRY_BYTES as usize) << self.entries_log2
    }
}

/// An entry of a table that a tree owns. Only a [`Tree`] makes one, for a single access.
#[derive(Debug)]
pub struct Slot(RealAddress);

impl Slot {
    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> RealAddress {
        self.0
    }

    /// So many entries further, which the caller knows to be in the same table.
    const fn after(&self, entries: u64) -> Self {
        Self(self.0.wrapping_add(entries * ENTRY_BYTES))
    }
}

/// Where translation tables live.
pub trait TableMemory {
    /// A table of `1 << entries_log2` invalid entries.
    fn allocate(&mut self, entries_log2: u32) -> Option<Table>;
    /// Takes a table back that no table walk can find any more.
    fn release(&mut self, table: Table);
    /// The entry, as a value (entries are big-endian in memory).
    fn read(&self, slot: &Slot) -> u64;
    /// Replaces the entry in one store.
    fn write(&mut self, slot: &Slot, value: u64);
}

/// Why a page could not be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapError {
    /// There is no memory for a table.
    OutOfTables,
    /// Something is mapped there already, or the 2 MiB around have pages of another size.
    Conflict,
    /// The address or the page is not aligned to the page size, or the size is not one of ours.
    Unaligned,
    /// The pages do not lie in one table of the last level.
    AcrossTables,
}

/// A radix tree, by its root. It owns its tables, and so cannot be copied; it gives back those that
/// [`Tree::take_table`] takes out. The others stay for good, since a processor may walk them as long as a table of
/// partitions or processes names the root.
#[derive(PartialEq, Eq, Debug)]
pub struct Tree {
    root: RealAddress,
}

/// The table of the last level that translates 2 MiB of a tree in pages of 64 KiB, whose entries are written
/// one by one. The tree keeps it.
#[derive(Debug)]
pub struct LastTable(Slot);

impl LastTable {
    /// Its entries.
    pub const ENTRIES: usize = 1 << LEAF_64K_ENTRIES_LOG2;

    /// What an entry shows.
    pub fn read(&self, memory: &impl TableMemory, entry: usize) -> Option<Leaf> {
        assert!(entry < Self::ENTRIES, "an entry of the table");
        match Entry::from_doubleword(memory.read(&self.0.after(entry as u64))) {
            Entry::Leaf(leaf) => Some(leaf),
            Entry::Invalid | Entry::Directory { .. } => None,
        }
    }

    /// Replaces an entry: what its page shows, or that it shows nothing. The caller invalidates cached
    /// translations between two valid entries, and orders the store before the first access.
    pub fn write(&self, memory: &mut impl TableMemory, entry: usize, leaf: Option<Leaf>) {
        assert!(entry < Self::ENTRIES, "an entry of the table");
        let entry_value = leaf.map_or(Entry::Invalid, Entry::Leaf);
        memory.write(&self.0.after(entry as u64), entry_value.to_doubleword());
    }
}

impl Tree {
    /// An empty tree.
    ///
    /// # Errors
    /// [`MapError::OutOfTables`].
    pub fn new(memory: &mut impl TableMemory) -> Result<Self, MapError> {
        let root = memory.allocate(ROOT_ENTRIES_LOG2).ok_or(MapError::OutOfTables)?;
        Ok(Self { root: root.base })
    }

    /// The doubleword of a partition- or process-table entry that names this tree.
    #[must_use]
    pub const fn root_doubleword(&self) -> u64 {
        Root { space_log2: SPACE_LOG2, base: self.root, entries_log2: ROOT_ENTRIES_LOG2 }
            .to_doubleword()
    }

    /// Maps the page at `address` (its top bits, the quadrant, are not looked at).
    ///
    /// The caller orders the store before the first access (`ptesync`).
    ///
    /// # Errors
    /// Any [`MapError`].
    pub fn map(
        &mut self,
        memory: &mut impl TableMemory,
        address: u64,
        page_log2: u32,
        leaf: Leaf,
    ) -> Result<(), MapError> {
        self.map_run(memory, address, page_log2, leaf, 1)
    }

    /// As [`Tree::map`], so many pages that follow each other there and in real memory, all in one table of the last
    /// level.
    ///
    /// # Errors
    /// Any [`MapError`]; none of the pages is mapped then.
    pub fn map_run(
        &mut self,
        memory: &mut impl TableMemory,
        address: u64,
        page_log2: u32,
        leaf: Leaf,
        pages: u64,
    ) -> Result<(), MapError> {
        if !matches!(page_log2, PAGE_4K | PAGE_64K | PAGE_2M | PAGE_1G)
            || !RealAddress(address).is_aligned(page_log2)
            || !leaf.base.is_aligned(page_log2)
        {
            return Err(MapError::Unaligned);
        }
        if pages > room(address, page_log2) {
            return Err(MapError::AcrossTables);
        }
        let first = self.slot(memory, address, page_log2)?;
        for page in 0..pages {
            let slot = first.after(page);
            if Entry::from_doubleword(memory.read(&slot)) != Entry::Invalid {
                clear(memory, &first, page);
                return Err(MapError::Conflict);
            }
            let base = leaf.base.wrapping_add(page << page_log2);
            memory.write(&slot, Entry::Leaf(Leaf { base, ..leaf }).to_doubleword());
        }
        Ok(())
    }

    /// The table of the last level that translates the 2 MiB at `address` in pages of 64 KiB, made if it is missing.
    ///
    /// # Errors
    /// [`MapError::Unaligned`], [`MapError::OutOfTables`] and [`MapError::Conflict`].
    pub fn last_table(
        &mut self,
        memory: &mut impl TableMemory,
        address: u64,
    ) -> Result<LastTable, MapError> {
        if !RealAddress(address).is_aligned(PAGE_2M) {
            return Err(MapError::Unaligned);
        }
        self.slot(memory, address, PAGE_64K).map(LastTable)
    }

    /// Takes the page at `address` out and answers what it was. The caller invalidates cached translations.
    pub fn unmap(&mut self, memory: &mut impl TableMemory, address: u64) -> Option<Leaf> {
        let (slot, leaf, _) = self.find(memory, address)?;
        clear(memory, &slot, 1);
        Some(leaf)
    }

    /// Takes the table out that translates the gibibyte at `address`, where it holds pages of 2 MiB and no
    /// tables itself. The caller invalidates cached translations before it uses the table's memory, which is
    /// its own now, or maps something there.
    pub fn take_table(&mut self, memory: &mut impl TableMemory, address: u64) -> Option<Table> {
        let read = |slot: &Slot| Entry::from_doubleword(memory.read(slot));
        let directory = |slot: &Slot| match read(slot) {
            Entry::Directory { base, entries_log2: DIRECTORY_ENTRIES_LOG2 } => Some(base),
            _ => None,
        };
        let bits = SPACE_LOG2 - ROOT_ENTRIES_LOG2;
        let upper = directory(&entry_of(self.root, address, bits, ROOT_ENTRIES_LOG2))?;
        let slot = entry_of(upper, address, PAGE_1G, DIRECTORY_ENTRIES_LOG2);
        let base = directory(&slot)?;
        let is_leaf = |index| matches!(read(&Slot(base).after(index)), Entry::Leaf(_));
        if !(0..1 << DIRECTORY_ENTRIES_LOG2).all(is_leaf) {
            return None;
        }
        clear(memory, &slot, 1);
        Some(Table { base, entries_log2: DIRECTORY_ENTRIES_LOG2 })
    }

    /// The leaf that translates `address`, and its page size as a power of two.
    #[must_use]
    pub fn walk(&self, memory: &impl TableMemory, address: u64) -> Option<(Leaf, u32)> {
        self.find(memory, address).map(|(_, leaf, page_log2)| (leaf, page_log2))
    }

    fn find(&self, memory: &impl TableMemory, address: u64) -> Option<(Slot, Leaf, u32)> {
        let (mut table, mut entries_log2, mut bits) = (self.root, ROOT_ENTRIES_LOG2, SPACE_LOG2);
        loop {
            bits -= entries_log2;
            let slot = entry_of(table, address, bits, entries_log2);
            match Entry::from_doubleword(memory.read(&slot)) {
                Entry::Invalid => return None,
                Entry::Leaf(leaf) => return Some((slot, leaf, bits)),
                Entry::Directory { base, entries_log2: next } => {
                    (table, entries_log2) = (base, next);
                }
            }
        }
    }

    /// The entry for a page of this size, tables on the way made where they are missing.
    fn slot(
        &mut self,
        memory: &mut impl TableMemory,
        address: u64,
        page_log2: u32,
    ) -> Result<Slot, MapError> {
        let last = if page_log2 == PAGE_64K { LEAF_64K_ENTRIES_LOG2 } else { LEAF_4K_ENTRIES_LOG2 };
        let mut bits = SPACE_LOG2 - ROOT_ENTRIES_LOG2;
        let mut slot = entry_of(self.root, address, bits, ROOT_ENTRIES_LOG2);
        for entries_log2 in [DIRECTORY_ENTRIES_LOG2, DIRECTORY_ENTRIES_LOG2, last] {
            if bits == page_log2 {
                break;
            }
            let table = match Entry::from_doubleword(memory.read(&slot)) {
                Entry::Directory { base, entries_log2: found } if found == entries_log2 => base,
                Entry::Directory { .. } | Entry::Leaf(_) => return Err(MapError::Conflict),
                Entry::Invalid => {
                    let table = memory.allocate(entries_log2).ok_or(MapError::OutOfTables)?;
                    let directory = Entry::Directory { base: table.base, entries_log2 };
                    memory.write(&slot, directory.to_doubleword());
                    table.base
                }
            };
            bits -= entries_log2;
            slot = entry_of(table, address, bits, entries_log2);
        }
        Ok(slot)
    }
}

/// Where the entry for `address` lies in a table whose entries translate `1 << bits` bytes each.
const fn entry_of(table: RealAddress, address: u64, bits: u32, entries_log2: u32) -> Slot {
    let index = (address >> bits) & ((1 << entries_log2) - 1);
    Slot(table).after(index)
}

/// How many pages of this size there are from the one at `address` to the end of its table.
const fn room(address: u64, page_log2: u32) -> u64 {
    let entries_log2 =
        if page_log2 == PAGE_64K { LEAF_64K_ENTRIES_LOG2 } else { DIRECTORY_ENTRIES_LOG2 };
    let entries = 1 << entries_log2;
    entries - ((address >> page_log2) & (entries - 1))
}

/// Makes `entries` entries of a table invalid.
fn clear(memory: &mut impl TableMemory, first: &Slot, entries: u64) {
    for entry in 0..entries {
        memory.write(&first.after(entry), Entry::Invalid.to_doubleword());
    }
}

#[cfg(test)]
pub(crate) mod sparse;
#[cfg(test)]
mod tests;
