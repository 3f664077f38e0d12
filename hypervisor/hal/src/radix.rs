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

/// Where translation tables live.
pub trait TableMemory {
    /// A table of `1 << entries_log2` invalid entries, aligned to its size.
    fn allocate(&mut self, entries_log2: u32) -> Option<RealAddress>;
    /// The entry at this address, as a value (entries are big-endian in memory).
    fn read(&self, entry: RealAddress) -> u64;
    /// Replaces the entry at this address in one store.
    fn write(&mut self, entry: RealAddress, value: u64);
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
}

/// A radix tree, by its root. It owns its tables, and gives back those that [`Tree::take_table`] takes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tree {
    root: RealAddress,
}

impl Tree {
    /// An empty tree.
    ///
    /// # Errors
    /// [`MapError::OutOfTables`].
    pub fn new(memory: &mut impl TableMemory) -> Result<Self, MapError> {
        memory.allocate(ROOT_ENTRIES_LOG2).map(|root| Self { root }).ok_or(MapError::OutOfTables)
    }

    /// The doubleword of a partition- or process-table entry that names this tree.
    #[must_use]
    pub const fn root_doubleword(self) -> u64 {
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
        self,
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
    /// Any [`MapError`]; pages before the one in the way are mapped then.
    pub fn map_run(
        self,
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
        let first = self.slot(memory, address, page_log2)?;
        for page in 0..pages {
            let slot = first.wrapping_add(page * ENTRY_BYTES);
            if Entry::from_doubleword(memory.read(slot)) != Entry::Invalid {
                return Err(MapError::Conflict);
            }
            let base = leaf.base.wrapping_add(page << page_log2);
            memory.write(slot, Entry::Leaf(Leaf { base, ..leaf }).to_doubleword());
        }
        Ok(())
    }

    /// Takes out what [`Tree::map_run`] mapped. The caller invalidates lookasides.
    pub fn unmap_run(self, memory: &mut impl TableMemory, address: u64, pages: u64) {
        if let Some((first, ..)) = self.find(memory, address) {
            for page in 0..pages {
                let slot = first.wrapping_add(page * ENTRY_BYTES);
                memory.write(slot, Entry::Invalid.to_doubleword());
            }
        }
    }

    /// Takes the page at `address` out and answers what it was. The caller invalidates lookasides.
    pub fn unmap(self, memory: &mut impl TableMemory, address: u64) -> Option<Leaf> {
        let (slot, leaf, _) = self.find(memory, address)?;
        memory.write(slot, Entry::Invalid.to_doubleword());
        Some(leaf)
    }

    /// Takes the table out that translates the gibibyte at `address`, where it holds pages of 2 MiB and no tables
    /// itself. The caller invalidates lookasides before it uses the table's memory, which is its own now, or maps
    /// something there.
    pub fn take_table(self, memory: &mut impl TableMemory, address: u64) -> Option<RealAddress> {
        let read = |entry| Entry::from_doubleword(memory.read(entry));
        let directory = |slot| match read(slot) {
            Entry::Directory { base, entries_log2: DIRECTORY_ENTRIES_LOG2 } => Some(base),
            _ => None,
        };
        let bits = SPACE_LOG2 - ROOT_ENTRIES_LOG2;
        let upper = directory(entry_of(self.root, address, bits, ROOT_ENTRIES_LOG2))?;
        let slot = entry_of(upper, address, PAGE_1G, DIRECTORY_ENTRIES_LOG2);
        let table = directory(slot)?;
        let entry = |index| read(table.wrapping_add(index * ENTRY_BYTES));
        let is_leaf = |index| matches!(entry(index), Entry::Leaf(_));
        if !(0..1 << DIRECTORY_ENTRIES_LOG2).all(is_leaf) {
            return None;
        }
        memory.write(slot, Entry::Invalid.to_doubleword());
        Some(table)
    }

    /// The leaf that translates `address`, and its page size as a power of two.
    #[must_use]
    pub fn walk(self, memory: &impl TableMemory, address: u64) -> Option<(Leaf, u32)> {
        self.find(memory, address).map(|(_, leaf, page_log2)| (leaf, page_log2))
    }

    fn find(self, memory: &impl TableMemory, address: u64) -> Option<(RealAddress, Leaf, u32)> {
        let (mut table, mut entries_log2, mut bits) = (self.root, ROOT_ENTRIES_LOG2, SPACE_LOG2);
        loop {
            bits -= entries_log2;
            let slot = entry_of(table, address, bits, entries_log2);
            match Entry::from_doubleword(memory.read(slot)) {
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
        self,
        memory: &mut impl TableMemory,
        address: u64,
        page_log2: u32,
    ) -> Result<RealAddress, MapError> {
        let last = if page_log2 == PAGE_64K { LEAF_64K_ENTRIES_LOG2 } else { LEAF_4K_ENTRIES_LOG2 };
        let mut bits = SPACE_LOG2 - ROOT_ENTRIES_LOG2;
        let mut slot = entry_of(self.root, address, bits, ROOT_ENTRIES_LOG2);
        for entries_log2 in [DIRECTORY_ENTRIES_LOG2, DIRECTORY_ENTRIES_LOG2, last] {
            if bits == page_log2 {
                break;
            }
            let table = match Entry::from_doubleword(memory.read(slot)) {
                Entry::Directory { base, entries_log2: found } if found == entries_log2 => base,
                Entry::Directory { .. } | Entry::Leaf(_) => return Err(MapError::Conflict),
                Entry::Invalid => {
                    let base = memory.allocate(entries_log2).ok_or(MapError::OutOfTables)?;
                    let directory = Entry::Directory { base, entries_log2 };
                    memory.write(slot, directory.to_doubleword());
                    base
                }
            };
            bits -= entries_log2;
            slot = entry_of(table, address, bits, entries_log2);
        }
        Ok(slot)
    }
}

/// Where the entry for `address` lies in a table whose entries translate `1 << bits` bytes each.
const fn entry_of(table: RealAddress, address: u64, bits: u32, entries_log2: u32) -> RealAddress {
    let index = (address >> bits) & ((1 << entries_log2) - 1);
    table.wrapping_add(index * ENTRY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{MapError, PAGE_1G, PAGE_2M, PAGE_4K, PAGE_64K, TableMemory, Tree};
    use arch::address::RealAddress;
    use arch::radix::{DIRECTORY_ENTRIES_LOG2, Leaf, rights};
    use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};
    use std::collections::HashMap;

    /// Tables anywhere in a sparse memory, as many as `left` says.
    #[derive(Default)]
    struct Sparse {
        words: HashMap<u64, u64>,
        next: u64,
        left: usize,
    }

    impl TableMemory for Sparse {
        fn allocate(&mut self, entries_log2: u32) -> Option<RealAddress> {
            self.left = self.left.checked_sub(1)?;
            let bytes = 8 << entries_log2;
            let base = self.next.next_multiple_of(bytes);
            self.next = base + bytes;
            Some(RealAddress(base))
        }
        fn read(&self, entry: RealAddress) -> u64 {
            self.words.get(&entry.0).copied().unwrap_or(0)
        }
        fn write(&mut self, entry: RealAddress, value: u64) {
            self.words.insert(entry.0, value);
        }
    }

    fn tree(left: usize) -> (Sparse, Tree) {
        let mut memory = Sparse { left, ..Sparse::default() };
        let tree = Tree::new(&mut memory).unwrap();
        (memory, tree)
    }

    fn leaf(base: u64) -> Leaf {
        Leaf {
            base: RealAddress(base),
            rights: rights::READ | rights::WRITE,
            attributes: 0,
            referenced: true,
            changed: true,
        }
    }

    #[test]
    fn pages_of_two_sizes_in_the_same_two_mebibytes_conflict() {
        let (mut memory, tree) = tree(100);
        tree.map(&mut memory, 0x1_0000, PAGE_64K, leaf(0)).unwrap();
        assert_eq!(tree.map(&mut memory, 0x2_0000, PAGE_4K, leaf(0)), Err(MapError::Conflict));
        assert_eq!(tree.map(&mut memory, 0, PAGE_2M, leaf(0)), Err(MapError::Conflict));
        assert_eq!(tree.map(&mut memory, 0x1_0000, PAGE_64K, leaf(0)), Err(MapError::Conflict));
        tree.map(&mut memory, 0x20_0000, PAGE_2M, leaf(0)).unwrap();
        assert_eq!(tree.map(&mut memory, 0x21_0000, PAGE_64K, leaf(0)), Err(MapError::Conflict));
    }

    #[test]
    fn alignment_and_size_are_checked() {
        let (mut memory, tree) = tree(100);
        for (address, page, base) in
            [(0x1000, PAGE_64K, 0), (0, PAGE_64K, 0x1000), (0, 34, 0), (0, PAGE_1G, 0x20_0000)]
        {
            let mapped = tree.map(&mut memory, address, page, leaf(base));
            assert_eq!(mapped, Err(MapError::Unaligned));
        }
    }

    #[test]
    fn a_gibibyte_of_large_pages_becomes_one_page_and_nothing_else_does() {
        const GIB: u64 = 1 << PAGE_1G;
        let (mut memory, tree) = tree(100);
        assert_eq!(tree.take_table(&mut memory, GIB), None);
        for page in (0..GIB).step_by(1 << PAGE_2M) {
            if page % (GIB / 16) == 0 || page == GIB - (1 << PAGE_2M) {
                assert_eq!(tree.take_table(&mut memory, GIB), None, "before {page:#x}");
            }
            tree.map(&mut memory, GIB + page, PAGE_2M, leaf(page)).unwrap();
        }
        tree.map(&mut memory, 0, PAGE_2M, leaf(GIB)).unwrap();
        tree.map(&mut memory, 2 * GIB, PAGE_64K, leaf(GIB)).unwrap();
        assert_eq!(tree.take_table(&mut memory, 0), None);
        assert_eq!(tree.take_table(&mut memory, 2 * GIB), None);
        assert_eq!(tree.map(&mut memory, GIB, PAGE_1G, leaf(0)), Err(MapError::Conflict));
        let table = tree.take_table(&mut memory, GIB + 0x1234).unwrap();
        assert!(table.is_aligned(DIRECTORY_ENTRIES_LOG2 + 3));
        assert_eq!(tree.walk(&memory, GIB), None);
        tree.map(&mut memory, GIB, PAGE_1G, leaf(0)).unwrap();
        assert_eq!(tree.walk(&memory, 2 * GIB - 1), Some((leaf(0), PAGE_1G)));
        assert_eq!(tree.walk(&memory, 0), Some((leaf(GIB), PAGE_2M)));
        assert_eq!(tree.take_table(&mut memory, GIB), None);
    }

    #[test]
    fn a_run_of_pages_is_mapped_and_taken_out_as_one_by_one() {
        const PAGE: u64 = 1 << PAGE_64K;
        let (mut memory, tree) = tree(100);
        tree.map_run(&mut memory, 2 * PAGE, PAGE_64K, leaf(8 * PAGE), 30).unwrap();
        let walk = |memory: &Sparse, page| tree.walk(memory, page * PAGE).map(|(leaf, _)| leaf);
        for page in 0..40 {
            let mapped = (2..32).contains(&page).then(|| leaf((page + 6) * PAGE));
            assert_eq!(walk(&memory, page), mapped, "{page}");
        }
        let again = tree.map_run(&mut memory, 0, PAGE_64K, leaf(0), 3);
        assert_eq!(again, Err(MapError::Conflict));
        tree.unmap_run(&mut memory, 2 * PAGE, 29);
        let left: Vec<u64> = (0..40).filter(|page| walk(&memory, *page).is_some()).collect();
        assert_eq!(left, [0, 1, 31]);
    }

    #[test]
    fn without_memory_for_tables_nothing_is_mapped() {
        let (mut memory, tree) = tree(3);
        assert_eq!(tree.map(&mut memory, 0, PAGE_64K, leaf(0)), Err(MapError::OutOfTables));
        assert_eq!(tree.walk(&memory, 0), None);
        assert_eq!(Tree::new(&mut memory), Err(MapError::OutOfTables));
    }

    proptest! {
        /// Any sequence of map and unmap, against a list of pages.
        #[test]
        fn a_tree_translates_what_is_mapped_and_nothing_else(
            operations in proptest::collection::vec(
                (0u64..6, 0u64..1024, prop_oneof![Just(PAGE_4K), Just(PAGE_64K), Just(PAGE_2M), Just(PAGE_1G)], proptest::bool::ANY)
                    .prop_map(|(gib, page, size, map)| ((gib << 38) + (page << 14), size, map)),
                1..60,
            ),
        ) {
            let (mut memory, tree) = tree(1000);
            let mut pages: Vec<(u64, u32, u64)> = Vec::new();
            for (number, (address, size, map)) in operations.iter().copied().enumerate() {
                let start = address >> size << size;
                if map {
                    let base = (number as u64) << 30;
                    if tree.map(&mut memory, start, size, leaf(base)).is_ok() {
                        pages.push((start, size, base));
                    }
                } else {
                    let held = pages.iter().position(|&(first, log2, _)| address >> log2 == first >> log2);
                    let base = held.map(|index| pages.remove(index).2);
                    prop_assert_eq!(tree.unmap(&mut memory, address).map(|leaf| leaf.base.0), base);
                }
                for &(start, size, base) in &pages {
                    let last = start + (1 << size) - 1;
                    let quadrant = 0xC000_0000_0000_0000;
                    prop_assert_eq!(tree.walk(&memory, last | quadrant), Some((leaf(base), size)));
                }
            }
        }
    }
}
