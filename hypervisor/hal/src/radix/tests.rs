//! Trees against a list of pages, and what is refused.

use super::sparse::{Sparse, tree};
use super::{MapError, PAGE_1G, PAGE_2M, PAGE_4K, PAGE_64K, Tree};
use arch::address::RealAddress;
use arch::radix::{DIRECTORY_ENTRIES_LOG2, Leaf, rights};
use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

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
    let (mut memory, mut tree) = tree(100);
    tree.map(&mut memory, 0x1_0000, PAGE_64K, leaf(0)).unwrap();
    assert_eq!(tree.map(&mut memory, 0x2_0000, PAGE_4K, leaf(0)), Err(MapError::Conflict));
    assert_eq!(tree.map(&mut memory, 0, PAGE_2M, leaf(0)), Err(MapError::Conflict));
    assert_eq!(tree.map(&mut memory, 0x1_0000, PAGE_64K, leaf(0)), Err(MapError::Conflict));
    tree.map(&mut memory, 0x20_0000, PAGE_2M, leaf(0)).unwrap();
    assert_eq!(tree.map(&mut memory, 0x21_0000, PAGE_64K, leaf(0)), Err(MapError::Conflict));
}

/// As a thread's slots are: the table is there before any of its pages.
#[test]
fn entries_of_a_table_are_written_one_by_one() {
    let (mut memory, mut tree) = tree(100);
    let table = tree.last_table(&mut memory, 0x20_0000).unwrap();
    let walk = |memory: &Sparse, address| {
        tree.walk(memory, address).map(|(leaf, log2)| (leaf.base.0, log2))
    };
    assert_eq!(walk(&memory, 0x23_0000), None);
    table.write(&mut memory, 3, Some(leaf(0x7_0000)));
    assert_eq!(walk(&memory, 0x23_0000), Some((0x7_0000, PAGE_64K)));
    assert_eq!(table.read(&memory, 3), Some(leaf(0x7_0000)));
    assert_eq!((table.read(&memory, 2), walk(&memory, 0x24_0000)), (None, None));
    table.write(&mut memory, 3, None);
    assert_eq!(walk(&memory, 0x23_0000), None);
    assert!(matches!(tree.last_table(&mut memory, 0x21_0000), Err(MapError::Unaligned)));
}

#[test]
fn alignment_and_size_are_checked() {
    let (mut memory, mut tree) = tree(100);
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
    let (mut memory, mut tree) = tree(100);
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
    assert!(table.base().is_aligned(DIRECTORY_ENTRIES_LOG2 + 3));
    assert_eq!(table.bytes(), 8 << DIRECTORY_ENTRIES_LOG2);
    assert_eq!(tree.walk(&memory, GIB), None);
    tree.map(&mut memory, GIB, PAGE_1G, leaf(0)).unwrap();
    assert_eq!(tree.walk(&memory, 2 * GIB - 1), Some((leaf(0), PAGE_1G)));
    assert_eq!(tree.walk(&memory, 0), Some((leaf(GIB), PAGE_2M)));
    assert_eq!(tree.take_table(&mut memory, GIB), None);
}

#[test]
fn a_run_of_pages_is_mapped_as_one_by_one() {
    const PAGE: u64 = 1 << PAGE_64K;
    let (mut memory, mut tree) = tree(100);
    tree.map_run(&mut memory, 2 * PAGE, PAGE_64K, leaf(8 * PAGE), 30).unwrap();
    let walk =
        |tree: &Tree, memory: &Sparse, page| tree.walk(memory, page * PAGE).map(|(leaf, _)| leaf);
    for page in 0..40 {
        let mapped = (2..32).contains(&page).then(|| leaf((page + 6) * PAGE));
        assert_eq!(walk(&tree, &memory, page), mapped, "{page}");
    }
    let again = tree.map_run(&mut memory, 0, PAGE_64K, leaf(0), 3);
    assert_eq!(again, Err(MapError::Conflict));
    assert_eq!(
        (walk(&tree, &memory, 0), walk(&tree, &memory, 1)),
        (None, None),
        "none of it is mapped"
    );
    let across = tree.map_run(&mut memory, 32 * PAGE, PAGE_64K, leaf(0), 33);
    assert_eq!(across, Err(MapError::AcrossTables));
}

#[test]
fn without_memory_for_tables_nothing_is_mapped() {
    let (mut memory, mut tree) = tree(3);
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
        let (mut memory, mut tree) = tree(1000);
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
