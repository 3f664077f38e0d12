//! Tables that become larger and smaller.

use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::hash::{GROUP_ENTRIES, LARGE_PAGES, PageSize, first, hash, second};
use arch::papr::Hypercall;
use arch::papr::hashed::{BOLTED, EXACT};
use arch::papr::status::H_SUCCESS;
use proptest::prelude::*;

use super::super::tests::{MEMORY, Machine, SMALL, written};
use super::super::{Options, bytes_log2};
use super::{EMPTIED, MOVED, Wish};
use crate::fake::Fake;

/// log2 of the bytes of the table of a partition with [`MEMORY`].
const USUAL: u64 = bytes_log2(MEMORY.bytes) as u64;

fn resizable() -> Machine {
    Machine::of(Options { is_resizable: true, ..Options::default() })
}

impl Machine {
    fn prepare(&self, bytes_log2: u64) {
        let slots = 1 << (bytes_log2 - 4);
        for _ in 1..slots / EMPTIED {
            assert_eq!(self.table.prepare(bytes_log2), Wish::Goes);
            assert_eq!(self.table.commit(bytes_log2), Wish::Goes, "it is not ready");
        }
        for _ in 0..2 {
            assert_eq!(self.table.prepare(bytes_log2), Wish::Done);
        }
    }

    /// Changes the size: what the last call comes to.
    fn resize(&self, bytes_log2: u64) -> Wish {
        self.prepare(bytes_log2);
        let alone = |is_alone| self.table.look(&self.fake, 0, is_alone);
        for _ in 0..self.table.slots() / MOVED {
            assert_eq!(self.table.commit(bytes_log2), Wish::Moves);
            assert_eq!(self.table.prepare(bytes_log2 ^ 1), Wish::Goes, "it is too late");
            assert_eq!(self.table.next_look(), Some(0));
            assert!(alone(false), "who is inside has to come out");
            if !alone(true) {
                break;
            }
        }
        assert_eq!(self.table.next_look(), None);
        self.table.commit(bytes_log2)
    }

    /// The slots of a group that have an entry, and both doublewords.
    fn all(&self) -> Vec<(u64, [u64; 2])> {
        self.table.written::<Fake>().collect()
    }
}

#[test]
fn a_table_becomes_twice_as_large_as_usual_and_as_small_as_any() {
    let machine = resizable();
    let Machine { fake, table, .. } = &machine;
    assert_eq!(table.slots(), 1 << (USUAL - 4));
    assert_eq!(table.commit(USUAL), Wish::Done, "it has that size");
    assert_eq!(table.commit(USUAL + 1), Wish::Unasked);
    for (bytes_log2, wish) in
        [(1, Wish::NoSize), (17, Wish::NoSize), (47, Wish::NoSize), (u64::MAX, Wish::NoSize)]
    {
        assert_eq!((table.prepare(bytes_log2), table.commit(bytes_log2)), (wish, wish));
    }
    for bytes_log2 in [USUAL + 2, 46] {
        assert_eq!(table.prepare(bytes_log2), Wish::TooLarge);
    }
    machine.prepare(USUAL + 1);
    assert_eq!(table.commit(USUAL), Wish::Unasked, "another one is ready");
    assert_eq!(table.prepare(0), Wish::Done);
    assert_eq!(table.commit(USUAL + 1), Wish::Unasked, "it is forgotten");
    let told = fake.tables_in_use.borrow().len();
    for bytes_log2 in [USUAL + 1, USUAL, USUAL, USUAL + 1] {
        assert_eq!(machine.resize(bytes_log2), Wish::Done);
        assert_eq!(table.slots(), 1 << (bytes_log2 - 4));
        let (lpid, entries) = *fake.tables_in_use.borrow().last().unwrap();
        assert_eq!((lpid, entries.len() as u64), (7, table.slots()));
        assert!(core::ptr::eq(entries.as_ptr(), table.entry(0)), "the processor has the other one");
    }
    assert_eq!(fake.tables_in_use.borrow().len(), told + 4);
    // The partition starts again.
    table.reset(fake);
    assert_eq!(table.slots(), 1 << (USUAL - 4));
    assert_eq!(fake.tables_in_use.borrow().last().unwrap().1.len() as u64, table.slots());
}

#[test]
fn another_table_stays_as_it_is() {
    let table = Machine::new().table;
    for bytes_log2 in [0, 1, USUAL, USUAL + 1] {
        assert_eq!([table.prepare(bytes_log2), table.commit(bytes_log2)], [Wish::Impossible; 2]);
    }
    assert!(!table.is_resizable());
}

#[test]
fn where_bolted_entries_have_no_place_nothing_changes() {
    let machine = resizable();
    assert_eq!(machine.resize(USUAL + 1), Wish::Done);
    // Nine pages whose groups differ in the bit that the usual table does not have.
    let half = 1 << (USUAL - 7);
    for index in 0..9 {
        let offset = ((index & 1) * half) << 12;
        let (_, [word, page]) = written(SMALL, 28, 0x123, offset, 0x5000);
        let group = hash(0x123, 28, 12, offset) & (2 * half - 1);
        let slot = group * GROUP_ENTRIES as u64 + index / 2;
        let answer = machine.call(Hypercall::Enter, &[EXACT, slot, word | BOLTED, page]);
        assert_eq!(answer.0, H_SUCCESS);
    }
    let before = machine.all();
    assert_eq!(machine.resize(USUAL), Wish::Full);
    assert_eq!((machine.all(), machine.table.slots()), (before.clone(), 1 << (USUAL - 3)));
    assert_eq!(machine.table.commit(USUAL), Wish::Unasked, "it was said once");
    machine.call(Hypercall::Remove, &[0, before[0].0]);
    assert_eq!(machine.resize(USUAL), Wish::Done);
    assert_eq!(machine.all().len(), 8);
}

/// Which page, in which segment, whether it is bolted, in the secondary group, with which of R and C.
fn page() -> impl Strategy<Value = (usize, bool, u64, u64, bool, bool, u64)> {
    let marks = prop::sample::select([0, second::R, second::R | second::C].to_vec());
    (
        0..=LARGE_PAGES.len(),
        any::<bool>(),
        0..0x40_u64,
        any::<u64>(),
        any::<bool>(),
        any::<bool>(),
        marks,
    )
}

proptest! {
    #[test]
    fn what_is_bolted_is_found_in_the_other_table_and_nothing_else(
        pages in prop::collection::vec(page(), 1..40),
        sizes in prop::collection::vec(USUAL..=USUAL + 1, 1..4),
    ) {
        let machine = resizable();
        let mut stay = Vec::new();
        for (size, is_large_segment, vsid, offset, is_bolted, is_secondary, marks) in pages {
            let size = LARGE_PAGES.get(size).copied().filter(|size| size.actual_log2 <= 24);
            let size: PageSize = size.unwrap_or(SMALL);
            let log2 = if is_large_segment { 40 } else { 28 };
            let (slot, [word, page]) = written(size, log2, vsid, offset, offset & 0x1FF_FFFF);
            let last = machine.table.slots() - GROUP_ENTRIES as u64;
            let (slot, h) = if is_secondary { (last - slot, first::H) } else { (slot, 0) };
            let word = word | h | if is_bolted { BOLTED } else { 0 };
            let (status, _) = machine.call(Hypercall::Enter, &[0, slot, word, page | marks]);
            if status == H_SUCCESS && is_bolted {
                stay.push((log2, size, vsid, offset, [word, page | marks]));
            }
        }
        for size in sizes {
            machine.forgotten();
            prop_assert_eq!(machine.resize(size), Wish::Done);
            prop_assert_eq!(machine.forgotten().len(), stay.len(), "the processor marks none later");
            let mut all: Vec<_> = machine.all().into_iter().map(|(_, words)| words).collect();
            let mut expected: Vec<_> = stay.iter().map(|(.., words)| *words).collect();
            all.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
            for (log2, size, vsid, offset, [_, second]) in &stay {
                let offset = offset & ((1 << log2) - 1) >> size.actual_log2 << size.actual_log2;
                let found = machine.table.find::<Fake>(*vsid, *log2, size.base_log2, offset);
                let inside = (1 << size.actual_log2) - 1;
                let page = second & 0x0FFF_FFFF_FFFF_F000 & !inside;
                // Another entry for the same page may be in front of it.
                let others = stay.iter().any(|(.., words)| words[1] != *second);
                prop_assert!(found.is_some());
                prop_assert!(others || found == Some(GuestRealAddress(page | offset & inside)));
            }
        }
    }
}
