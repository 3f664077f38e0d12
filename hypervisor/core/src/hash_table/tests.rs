//! The table against a model: a list of what the partition wrote, by slot.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;
use std::collections::BTreeMap;

use arch::address::{GuestRealAddress, RealAddress};
use arch::hash::{
    EntryForm, GROUP_ENTRIES, LARGE_PAGES, PageSize, VirtualPage, first, hash, second,
};
use arch::papr::Hypercall;
use arch::papr::hashed::{
    AND_CONDITION, AVPN, BLOCK, BLOCK_BEYOND, BLOCK_BUSY, BLOCK_BY_AVPN, BLOCK_DONE, BLOCK_LOG2,
    BLOCK_MARKS, BLOCK_MISSING, BLOCK_RESULT, BLOCK_UNLIKE, BLOCK_WRONG, BOLTED, BY_AVPN,
    CONDITION, DONE, END, EXACT, KIND, MARKS, MISSING, READ_4, REQUEST, RESPONSE, RESULT, SLOT,
    WRONG,
};
use arch::papr::status::{
    H_CONTINUE, H_FUNCTION, H_NOT_FOUND, H_PARAMETER, H_PARTIAL, H_PTEG_FULL, H_SUCCESS,
    H_UNSUPPORTED_FLAG_START,
};
use proptest::prelude::*;

use super::entry::{as_written, of_real_mode, page_of};
use super::{Checked, HashTable, LOCK, OWN, Options, REMOVED_NEXT, bytes_log2};
use crate::fake::Fake;
use crate::guest_memory::given::Given;
use crate::hypercall::{WORDS, of_block, of_hash_table};
use crate::memory::Range;

pub(super) const MEMORY: Range = Range::new(0x300_0000, 0x200_0000);

pub(super) struct Machine {
    pub(super) fake: Fake,
    pub(super) table: HashTable,
    given: Given,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self::of(Options::default())
    }

    pub(super) fn of(options: Options) -> Self {
        let fake = Fake::new(0x1000);
        let table = HashTable::new(&fake, 7, MEMORY.bytes, options).unwrap();
        Self { fake, table, given: Given::none_of(MEMORY) }
    }

    pub(super) fn call(&self, call: Hypercall, arguments: &[u64]) -> (i64, [u64; WORDS]) {
        let mut words = [0; 1 + BLOCK];
        words[..arguments.len()].copy_from_slice(arguments);
        if call == Hypercall::BlockRemove {
            return of_block(&self.table, &self.fake, words);
        }
        let [words @ .., _] = words;
        of_hash_table(&self.table, &self.given, &self.fake, call, words)
    }

    pub(super) fn forgotten(&self) -> Vec<VirtualPage> {
        self.fake
            .forgotten_pages
            .take()
            .into_iter()
            .map(|(lpid, page)| {
                assert_eq!(lpid, 7);
                page
            })
            .collect()
    }
}

/// The slot, and both doublewords, of an entry that a partition writes.
pub(super) fn written(
    size: PageSize,
    log2: u32,
    vsid: u64,
    offset: u64,
    page: u64,
) -> (u64, [u64; 2]) {
    let vsid = vsid & ((1 << (68 - log2)) - 1);
    let offset = offset & ((1 << log2) - 1) >> size.actual_log2 << size.actual_log2;
    let low = first::AVA_OMITS_LOG2;
    let address = (vsid << (log2 - low) | offset >> low) << first::AVA_SHIFT;
    let large = if size.actual_log2 == 12 { 0 } else { first::L };
    let word = EntryForm::V2.segment_size.set(address | large | first::V, u64::from(log2 == 40));
    let second = page >> size.actual_log2 << size.actual_log2 | size.code << 12 | second::M;
    let groups = (1 << (bytes_log2(MEMORY.bytes) - 7)) - 1;
    let group = hash(vsid, log2, size.base_log2, offset) & groups;
    (group * GROUP_ENTRIES as u64, [word, second])
}

pub(super) const SMALL: PageSize = PageSize { base_log2: 12, actual_log2: 12, code: 0 };

fn small(offset: u64) -> (u64, [u64; 2]) {
    written(SMALL, 28, 0x123, offset, offset)
}

#[test]
fn a_table_has_a_128th_of_the_memory_at_least_256_kib() {
    assert_eq!(
        [1 << 16, 32 << 20, (32 << 20) + 1, 64 << 20, 1 << 30].map(bytes_log2),
        [18, 18, 18, 19, 23]
    );
    assert_eq!(bytes_log2(96 << 20), 20);
}

#[test]
fn the_processor_finds_real_addresses_and_the_partition_its_own() {
    let machine = Machine::new();
    let (slot, [word, page]) = small(0x5000);
    let (status, outputs) = machine.call(Hypercall::Enter, &[0, slot + 3, word | 0x78, page]);
    assert_eq!((status, outputs[0]), (H_SUCCESS, slot), "the first of its group");
    let entry = &machine.table.entries[slot as usize];
    assert_eq!(entry.second() & EntryForm::V3.address, MEMORY.start.0 + 0x5000);
    assert_eq!(entry.first() & 0x60, 0, "the hypervisor's bits");
    let (_, outputs) = machine.call(Hypercall::Read, &[0, slot]);
    assert_eq!(outputs[..2], [word | 0x18, page]);
    // The processor sets R and C.
    entry.set_second(entry.second() | second::R | second::C);
    let (_, outputs) = machine.call(Hypercall::Read, &[READ_4, slot + 1]);
    assert_eq!(outputs, [word | 0x18, page | second::R | second::C, 0, 0, 0, 0, 0, 0]);
    let (status, outputs) = machine.call(Hypercall::ClearMod, &[0, slot]);
    assert_eq!((status, outputs[0]), (H_SUCCESS, page | second::R | second::C));
    assert_eq!(entry.second() & (second::R | second::C), second::R);
    assert_eq!(machine.forgotten().len(), 1);
    let (status, outputs) = machine.call(Hypercall::Remove, &[0, slot]);
    assert_eq!(
        (status, outputs[..2].to_vec()),
        (H_SUCCESS, [word | 0x18, page | second::R].to_vec())
    );
    assert_eq!((entry.first(), machine.call(Hypercall::Remove, &[0, slot]).0), (0, H_NOT_FOUND));
}

#[test]
fn a_group_has_eight_places_and_an_exact_slot_one() {
    let machine = Machine::new();
    let (slot, [word, page]) = small(0);
    for index in 0..8 {
        let answer = machine.call(Hypercall::Enter, &[0, slot, word, page]);
        assert_eq!((answer.0, answer.1[0]), (H_SUCCESS, slot + index));
    }
    assert_eq!(machine.call(Hypercall::Enter, &[0, slot, word, page]).0, H_PTEG_FULL);
    assert_eq!(machine.call(Hypercall::Enter, &[EXACT, slot + 5, word, page]).0, H_PTEG_FULL);
    machine.call(Hypercall::Remove, &[0, slot + 5]);
    assert_eq!(machine.call(Hypercall::Enter, &[EXACT, slot + 4, word, page]).0, H_PTEG_FULL);
    let answer = machine.call(Hypercall::Enter, &[EXACT, slot + 5, word, page]);
    assert_eq!((answer.0, answer.1[0]), (H_SUCCESS, slot + 5));
}

#[test]
fn what_a_partition_may_not_ask_for_is_refused() {
    let machine = Machine::new();
    let (slot, [word, page]) = small(0x5000);
    let enter = |arguments: [u64; 4]| machine.call(Hypercall::Enter, &arguments).0;
    for (flag, bit) in [(1 << 15, 48), (1 << 47, 16), (AVPN, 32)] {
        assert_eq!(enter([flag, slot, word, page]), H_UNSUPPORTED_FLAG_START - bit);
    }
    let slots = machine.table.slots();
    let large = word | first::L;
    for (slot, word, page) in [
        (slots, word, page),
        (u64::MAX, word, page),
        (slot, word & !first::V, page),
        (slot, word | 1 << 55, page),
        (slot, word | 1 << 63, page),
        (slot, word, page | 1 << 62),
        (slot, word, page & !second::M),
        (slot, word, page | second::I),
        (slot, word, page | second::G),
        (slot, word, page | 0x40),
        (slot, word, MEMORY.bytes | second::M),
        (slot, word, EntryForm::V2.address & !0xFFF | second::M),
        (slot, large, MEMORY.bytes | 0x7000 | second::M),
        (slot, large, 0x2000 | second::M),
        (slot, large, 0x1_7000 | 0x8_0000 << 12 | second::M),
        // A bit between the code of 16 MiB and the page, and a page of 16 GiB.
        (slot, large, 0x13_8000 | second::M),
        (slot, large, 0x3000 | second::M),
        // A bit inside a base page of 16 MiB.
        (slot, large | 1 << 7, second::M),
    ] {
        assert_eq!(enter([0, slot, word, page]), H_PARAMETER, "{slot:#x} {word:#x} {page:#x}");
    }
    assert!(machine.table.entries.iter().all(|entry| entry.first() == 0));
    for call in [Hypercall::Remove, Hypercall::Read, Hypercall::Protect, Hypercall::ClearRef] {
        assert_eq!(machine.call(call, &[0, slots]).0, H_PARAMETER);
        assert_eq!(machine.call(call, &[1 << 63, 0]).0, H_UNSUPPORTED_FLAG_START);
    }
    for call in [Hypercall::Protect, Hypercall::ClearRef, Hypercall::ClearMod] {
        assert_eq!(machine.call(call, &[0, slot]).0, H_NOT_FOUND);
    }
    assert_eq!(machine.call(Hypercall::Cede, &[]).0, H_FUNCTION);
}

#[test]
fn several_are_taken_out_at_once() {
    let machine = Machine::new();
    let entries = [0x1000, 0x2000, 0x3000].map(|offset| {
        let (slot, [word, page]) = small(offset);
        assert_eq!(machine.call(Hypercall::Enter, &[0, slot, word, page]).0, H_SUCCESS);
        (slot, word)
    });
    let used = &machine.table.entries[entries[0].0 as usize];
    used.set_second(used.second() | second::R);
    let request = |slot| KIND.set(slot, REQUEST);
    let (status, words) = machine.call(
        Hypercall::BulkRemove,
        &[
            request(entries[0].0),
            0,
            CONDITION.set(request(entries[1].0), BY_AVPN),
            entries[1].1 & !0x7F ^ 0x80,
            // Twice the same.
            request(entries[0].0),
            0,
            KIND.set(0, END),
            0,
        ],
    );
    assert_eq!(status, H_SUCCESS);
    let results = [0, 2, 4].map(|index| {
        assert_eq!(KIND.get(words[index]), RESPONSE);
        (RESULT.get(words[index]), MARKS.get(words[index]), SLOT.get(words[index]))
    });
    assert_eq!(
        results,
        [(DONE, 2, entries[0].0), (MISSING, 0, entries[1].0), (MISSING, 0, entries[0].0)]
    );
    assert_eq!(words[6], KIND.set(0, END), "nothing behind the end");
    // Requests before a wrong one are done, and none behind it.
    let wrong = request(machine.table.slots());
    let rest = [request(entries[1].0), 0, wrong, 0, request(entries[2].0), 0];
    let (status, words) = machine.call(Hypercall::BulkRemove, &rest);
    assert_eq!(status, H_PARAMETER);
    assert_eq!([0, 2].map(|index| RESULT.get(words[index])), [DONE, WRONG]);
    assert_eq!(words[4], rest[4]);
    assert_ne!(machine.table.read::<Fake>(entries[2].0), [0; 2]);
}

/// A request of H_BLOCK_REMOVE.
fn request(slot: u64, by_avpn: bool) -> u64 {
    KIND.set(slot, REQUEST) | if by_avpn { BLOCK_BY_AVPN } else { 0 }
}

/// What became of one: result, R and C, slot.
fn result(word: u64) -> (u64, u64, u64) {
    assert_eq!(KIND.get(word), RESPONSE);
    (BLOCK_RESULT.get(word), BLOCK_MARKS.get(word), SLOT.get(word))
}

#[test]
fn a_block_goes_at_once_and_what_is_not_of_it_stays() {
    let machine = Machine::new();
    let enter = |(slot, [word, page]): (u64, [u64; 2])| {
        assert_eq!(machine.call(Hypercall::Enter, &[EXACT, slot, word, page]).0, H_SUCCESS);
        (slot, word)
    };
    let pages = [0x8000, 0x9000, 0xF000, 0x1_0000].map(|offset| enter(small(offset)));
    let (word, slot) = (pages[0].1, |index: usize| pages[index].0);
    let used = &machine.table.entries[slot(1) as usize];
    used.set_second(used.second() | second::C);
    let medium = enter(written(LARGE_PAGES[2], 28, 0x321, 0, 0));
    let (bolted, [bolted_word, page]) = small(0xA000);
    enter((bolted, [bolted_word | BOLTED, page]));
    machine.forgotten();
    let outside = machine.table.slots();
    let call = |requests: &[u64]| {
        let mut words = [KIND.set(0, END); 1 + BLOCK];
        words[0] = word & !0x7F;
        words[1..=requests.len()].copy_from_slice(requests);
        machine.call(Hypercall::BlockRemove, &words)
    };
    // Something that is no request: nothing is done, whatever comes before.
    for kind in [0, RESPONSE] {
        assert_eq!(call(&[request(slot(0), true), KIND.set(slot(1), kind)]).0, H_PARAMETER);
    }
    assert_eq!(machine.forgotten().len(), 0);
    let (status, words) = call(&[
        request(outside, true),
        request(bolted, true),
        request(slot(0), true),
        request(medium.0, false),
        request(slot(1), false),
        request(slot(3), true),
        // It is taken already, and nobody waits.
        request(slot(0), true),
        request(slot(2), true),
    ]);
    let expected = [
        (BLOCK_WRONG, 0, outside),
        (BLOCK_MISSING, 0, bolted),
        (BLOCK_DONE, 0, slot(0)),
        (BLOCK_UNLIKE, 0, medium.0),
        (BLOCK_DONE, 1, slot(1)),
        (BLOCK_BEYOND, 0, slot(3)),
        (BLOCK_BUSY, 0, slot(0)),
        (BLOCK_DONE, 0, slot(2)),
    ];
    assert_eq!((status, words.map(result)), (H_PARTIAL, expected));
    assert_eq!(machine.forgotten().len(), 3);
    for stays in [bolted, medium.0, slot(3)] {
        assert_ne!(machine.table.read::<Fake>(stays), [0; 2]);
    }
    // Another address, an empty slot, and what is behind the end.
    let other = small(1 << 23).1[0] & !0x7F;
    let words = [other, request(slot(3), true), request(slot(0), false), KIND.set(0, END)];
    let (status, answers) = machine.call(Hypercall::BlockRemove, &words);
    assert_eq!(status, H_PARTIAL);
    assert_eq!([0, 1].map(|index| result(answers[index]).0), [BLOCK_MISSING; 2]);
    assert_eq!(answers[2], KIND.set(0, END));
    assert_eq!(call(&[request(slot(3), true)]).0, H_SUCCESS);
    assert_eq!(call(&[]).0, H_SUCCESS);
    // Pages of 16 MiB lie under several addresses.
    let large = enter(written(LARGE_PAGES[4], 40, 0x5, 0, 0));
    assert_eq!(result(call(&[request(large.0, false)]).1[0]).0, BLOCK_WRONG);
}

#[test]
fn real_mode_has_an_entry_once_and_makes_room_of_its_own_alone() {
    let machine = Machine::new();
    let add = |page: u64| {
        let real = RealAddress(MEMORY.start.0 + page);
        machine.table.add_real_mode(&machine.fake, GuestRealAddress(page), real)
    };
    let count = || machine.table.entries.iter().filter(|entry| entry.first() & OWN != 0).count();
    assert!(add(0x5000) && add(0x5000));
    assert_eq!(count(), 1);
    // 2048 groups: pages so far apart are in the same two.
    for index in 0..40 {
        assert!(add(index << 23 | 0x7000));
    }
    assert_eq!(count(), 17);
    let slots = machine.table.entries.iter().enumerate();
    let own: Vec<u64> =
        slots.filter(|(_, entry)| entry.first() & OWN != 0).map(|(slot, _)| slot as u64).collect();
    let (_, [word, page]) = small(0);
    for slot in own {
        assert_eq!(machine.call(Hypercall::Remove, &[0, slot]).0, H_SUCCESS);
        machine.call(Hypercall::Enter, &[EXACT, slot, word, page]);
    }
    assert!(!add(0x7000), "the partition's own entries stay");
}

#[test]
fn a_table_is_cleared_a_piece_at_a_time_but_for_the_hypervisors_own_entries() {
    let machine = Machine::new();
    let enter = |(slot, [word, page]): (u64, [u64; 2])| {
        assert_eq!(machine.call(Hypercall::Enter, &[0, slot, word, page]).0, H_SUCCESS);
    };
    // A bolted one, pages of several sizes, and one in the last slot.
    let (bolted, [word, page]) = small(0x1000);
    enter((bolted, [word | BOLTED, page]));
    enter(written(LARGE_PAGES[4], 40, 0x5, 0, 0));
    enter(written(LARGE_PAGES[2], 28, 0x321, 0, 0));
    let last = machine.table.slots() - 1;
    assert_eq!(machine.call(Hypercall::Enter, &[EXACT, last, word, page]).0, H_SUCCESS);
    let real = RealAddress(MEMORY.start.0 + 0x7000);
    assert!(machine.table.add_real_mode(&machine.fake, GuestRealAddress(0x7000), real));
    let valid = || {
        let entries = machine.table.entries.iter().map(|entry| entry.first());
        entries.filter(|entry| entry & first::V != 0).collect::<Vec<_>>()
    };
    assert_eq!(valid().len(), 5);
    for _ in 0..2 {
        // The second time begins at the first slot again.
        let statuses = (0..machine.table.slots() / REMOVED_NEXT)
            .map(|_| machine.call(Hypercall::ClearHpt, &[u64::MAX; 3]).0);
        let mut statuses: Vec<_> = statuses.collect();
        assert_eq!(statuses.pop(), Some(H_SUCCESS));
        assert!(statuses.iter().all(|status| *status == H_CONTINUE));
        let [own] = valid()[..] else { panic!("{:x?}", valid()) };
        assert!(own & OWN != 0);
        assert_eq!(machine.forgotten().len(), 4, "no translation is left");
        for offset in [0x1000, 0x2000, 0x3000, 0x4000] {
            enter(small(offset));
        }
    }
    // A restart goes through all of it.
    machine.call(Hypercall::ClearHpt, &[]);
    assert_eq!(machine.table.next().start, REMOVED_NEXT);
    machine.table.reset(&machine.fake);
    assert_eq!(machine.table.next().start, 0);
}

#[test]
fn an_entry_that_another_vcpu_changes_is_cleared_too() {
    let machine = Machine::new();
    let (_, [word, page]) = small(0x5000);
    machine.call(Hypercall::Enter, &[EXACT, 3, word, page]);
    let entry = &machine.table.entries[3];
    let first = entry.first();
    entry.give(LOCK);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // It is long enough for who does not wait.
            std::thread::sleep(Duration::from_millis(50));
            entry.give(first);
        });
        machine.call(Hypercall::ClearHpt, &[]);
    });
    assert_eq!(entry.first(), 0);
}

/// A change that a partition asks for.
#[derive(Clone, Debug)]
enum Change {
    Enter { exact: bool, slot: u64, entry: [u64; 2] },
    Remove { slot: u64, condition: u64, word: u64 },
    Protect { slot: u64, rights: u64 },
    Mark { slot: u64, marks: u64 },
    Clear { slot: u64, is_change: bool },
}

fn change() -> impl Strategy<Value = Change> {
    let sizes: Vec<_> =
        LARGE_PAGES.into_iter().filter(|size| size.base_log2 < 34).chain([SMALL]).collect();
    let entry = (prop::sample::select(sizes), any::<bool>(), 0u64..4, 0u64..8, 0u64..4);
    let entry = entry.prop_map(|(size, is_large, vsid, page, memory)| {
        let log2 = if is_large { 40 } else { 28 };
        written(size, log2, vsid, page << size.actual_log2, memory << 23).1
    });
    // Few slots, so that they meet.
    let slot = 0u64..24;
    prop_oneof![
        (any::<bool>(), slot.clone(), entry.clone())
            .prop_map(|(exact, slot, entry)| Change::Enter { exact, slot, entry }),
        (slot.clone(), prop::sample::select(alloc::vec![0, AVPN, AND_CONDITION]), entry).prop_map(
            |(slot, condition, [word, _])| Change::Remove { slot, condition, word: word & !0x7F }
        ),
        (slot.clone(), 0u64..4).prop_map(|(slot, rights)| Change::Protect { slot, rights }),
        (slot.clone(), 1u64..4).prop_map(|(slot, marks)| Change::Mark { slot, marks: marks << 7 }),
        (slot, any::<bool>()).prop_map(|(slot, is_change)| Change::Clear { slot, is_change }),
    ]
}

proptest! {
    /// Every answer, and every slot at the end, is what a list of the written entries says; a page is forgotten for
    /// every entry that ceases to be as it was.
    #[test]
    fn the_table_does_what_a_list_of_entries_does(changes in prop::collection::vec(change(), 1..60)) {
        let machine = Machine::new();
        let model: RefCell<BTreeMap<u64, [u64; 2]>> = RefCell::default();
        for change in changes {
            let mut model = model.borrow_mut();
            match change {
                Change::Enter { exact, slot, entry: [word, page] } => {
                    let flags = if exact { EXACT } else { 0 };
                    let places = if exact { slot..slot + 1 } else { slot / 8 * 8..slot / 8 * 8 + 8 };
                    let is_whole = Checked::new(EntryForm::V3, word, page, |address, bytes| machine.given.real(address, bytes)).is_some();
                    let free = places.into_iter().find(|place| !model.contains_key(place));
                    let (status, outputs) = machine.call(Hypercall::Enter, &[flags, slot, word, page]);
                    let expected = match (is_whole, free) {
                        (false, _) => (H_PARAMETER, 0),
                        (true, None) => (H_PTEG_FULL, 0),
                        (true, Some(place)) => {
                            model.insert(place, [word, page]);
                            (H_SUCCESS, place)
                        }
                    };
                    prop_assert_eq!((status, outputs[0]), expected);
                    prop_assert_eq!(machine.forgotten(), []);
                }
                Change::Remove { slot, condition, word } => {
                    let is_meant = |entry: &&[u64; 2]| match condition {
                        AVPN => entry[0] & !0x7F == word,
                        AND_CONDITION => entry[0] & word == 0,
                        _ => true,
                    };
                    let expected = model.get(&slot).filter(is_meant).copied();
                    let page = expected.map(|_| {
                        let entry = &machine.table.entries[slot as usize];
                        page_of(EntryForm::V3, [entry.first(), entry.second()], slot)
                    });
                    let (status, outputs) = machine.call(Hypercall::Remove, &[condition, slot, word]);
                    prop_assert_eq!(status, if expected.is_some() { H_SUCCESS } else { H_NOT_FOUND });
                    prop_assert_eq!([outputs[0], outputs[1]], expected.unwrap_or_default());
                    prop_assert_eq!(machine.forgotten(), page.into_iter().collect::<Vec<_>>());
                    if expected.is_some() {
                        model.remove(&slot);
                    }
                }
                Change::Protect { slot, rights } => {
                    let entry = model.get_mut(&slot);
                    let expected = if entry.is_some() { H_SUCCESS } else { H_NOT_FOUND };
                    if let Some([_, page]) = entry {
                        *page = *page & !3 | rights;
                    }
                    prop_assert_eq!(machine.call(Hypercall::Protect, &[rights, slot]).0, expected);
                    prop_assert_eq!(machine.forgotten().len(), usize::from(expected == H_SUCCESS));
                }
                Change::Mark { slot, marks } => {
                    if let Some([_, page]) = model.get_mut(&slot) {
                        *page |= marks;
                        let entry = &machine.table.entries[slot as usize];
                        entry.set_second(entry.second() | marks);
                    }
                }
                Change::Clear { slot, is_change } => {
                    let (call, mark) = if is_change {
                        (Hypercall::ClearMod, second::C)
                    } else {
                        (Hypercall::ClearRef, second::R)
                    };
                    let before = model.get(&slot).map(|entry| entry[1]);
                    if let Some([_, page]) = model.get_mut(&slot) {
                        *page &= !mark;
                    }
                    let (status, outputs) = machine.call(call, &[0, slot]);
                    prop_assert_eq!(status, if before.is_some() { H_SUCCESS } else { H_NOT_FOUND });
                    prop_assert_eq!(outputs[0], before.unwrap_or_default());
                    machine.forgotten();
                }
            }
        }
        for slot in 0..machine.table.slots() {
            let expected = model.borrow().get(&slot).copied().unwrap_or_default();
            prop_assert_eq!(machine.table.read::<Fake>(slot), expected);
            let second = machine.table.entries[slot as usize].second() & EntryForm::V3.address;
            let inside = expected == [0; 2] || (MEMORY.start.0..MEMORY.end()).contains(&second);
            prop_assert!(inside, "slot {} shows {:#x}", slot, second);
        }
    }

    /// The page that is forgotten is the one that was entered, whatever its size, segment and hash.
    #[test]
    fn an_entry_says_which_page_it_translates(
        size in prop::sample::select(LARGE_PAGES[..5].to_vec()),
        is_small: bool,
        is_large_segment: bool,
        is_secondary: bool,
        vsid: u64,
        offset: u64,
        place in 0u64..8,
    ) {
        let size = if is_small { SMALL } else { size };
        let log2 = if is_large_segment { 40 } else { 28 };
        let machine = Machine::new();
        let (slot, [word, page]) = written(size, log2, vsid, offset, 0);
        let groups = machine.table.slots() - 1;
        let slot = if is_secondary { !slot & groups & !7 } else { slot } + place;
        let word = word | if is_secondary { first::H } else { 0 };
        prop_assert_eq!(machine.call(Hypercall::Enter, &[EXACT, slot, word, page]).0, H_SUCCESS);
        let vsid = vsid & ((1 << (68 - log2)) - 1);
        let inside = offset & ((1 << size.base_log2) - 1);
        let offset = offset & ((1 << log2) - 1) >> size.actual_log2 << size.actual_log2;
        let find = |vsid, base_log2, offset| machine.table.find::<Fake>(vsid, log2, base_log2, offset);
        let found = find(vsid, size.base_log2, offset | inside);
        prop_assert_eq!(found, Some(GuestRealAddress(inside)));
        prop_assert_eq!(find(vsid ^ 1, size.base_log2, offset | inside), None);
        prop_assert_eq!(find(vsid, size.base_log2, offset ^ 1 << size.base_log2), None);
        let other = if size.base_log2 == 12 { 16 } else { 12 };
        prop_assert_eq!(find(vsid, other, offset | inside), None);
        prop_assert_eq!(machine.call(Hypercall::Remove, &[0, slot]).0, H_SUCCESS);
        prop_assert_eq!(find(vsid, size.base_log2, offset | inside), None);
        let page = VirtualPage { address: vsid << log2 | offset, segment_size: u64::from(is_large_segment), size };
        prop_assert_eq!(machine.forgotten(), [page]);
    }
}

/// What a partition writes it reads, and what is invalidated for it is the same page, whichever form its processor has.
#[test]
fn both_forms_of_an_entry_say_the_same() {
    let given = Given::none_of(MEMORY);
    let find = |address: GuestRealAddress, bytes| given.real(address, bytes);
    for (log2, vsid) in [(28, 0x1234_5678), (40, 0x54_3210)] {
        for size in [None].into_iter().chain(LARGE_PAGES[..5].iter().map(Some)) {
            let (base, code) = size.map_or((12, 0), |size| (size.base_log2, size.code << 12));
            let large = size.map_or(0, |_| first::L);
            let slot = 8 * (hash(vsid, log2, base, 0x123 << 24) % 2048) + 3;
            let high = (vsid << log2 | 0x123 << 24) >> first::AVA_OMITS_LOG2;
            let word = high << first::AVA_SHIFT | large | first::V;
            let word = EntryForm::V2.segment_size.set(word, u64::from(log2 == 40));
            let page = 0x100_0000 | code | second::M | 2;
            let [old, new] = [EntryForm::V2, EntryForm::V3].map(|form| {
                let checked = Checked::new(form, word, page, find).expect("a page of its own");
                let entry = [checked.first, checked.second];
                assert_eq!(as_written(form, entry), word, "{size:?}");
                assert_eq!(form.segment_size_of(entry), u64::from(log2 == 40), "{size:?}");
                assert_eq!(entry[1] & form.address & !0xFF_FFFF, MEMORY.start.0 + 0x100_0000);
                page_of(form, entry, slot)
            });
            assert_eq!(old, new, "{size:?}");
        }
    }
    // ISA 2.07 has room for ten more bits of a segment's number.
    let wide = 1 << 60 | first::V;
    let is_taken = |form| Checked::new(form, wide, second::M, find).is_some();
    assert_eq!([EntryForm::V2, EntryForm::V3].map(is_taken), [true, false]);
    for form in [EntryForm::V2, EntryForm::V3] {
        let real = RealAddress(MEMORY.start.0 + 0x5000);
        let (checked, _) = of_real_mode(form, GuestRealAddress(0x5000), real);
        let entry = [checked.first, checked.second];
        assert_eq!((form.segment_size_of(entry), entry[1] & form.address), (1, real.0));
    }
}

proptest! {
    /// What H_BLOCK_REMOVE does to each of its entries is what a list of them says: entries are named by where their
    /// pages lie, and the model knows neither slots' hashes nor locks.
    #[test]
    fn a_block_is_what_a_list_of_pages_says(
        entered in prop::collection::vec((0u64..40, 0usize..3, any::<bool>(), 0u64..4), 1..12),
        named in prop::collection::vec((0usize..14, any::<bool>()), 0..9),
        address in 0u64..40,
    ) {
        /// Of 4 KiB, of 64 KiB in a segment of pages of 64 KiB, and of 16 MiB alone.
        const SIZES: [PageSize; 3] = [SMALL, LARGE_PAGES[2], LARGE_PAGES[4]];
        let machine = Machine::new();
        let at = |page: u64, size: usize| {
            let size = SIZES[size];
            // Pages on both sides of where the abbreviated address changes.
            let offset = (page + (1 << 23 >> size.base_log2) - 20.min(1 << 23 >> size.base_log2)) << size.base_log2;
            (offset, written(size, 40, 0x77, offset, 0))
        };
        let mut model: BTreeMap<u64, (usize, u64, u64, bool, u64)> = BTreeMap::new();
        let mut slots = Vec::new();
        for (page, size, is_bolted, marks) in entered {
            let (offset, (group, [word, second])) = at(page, size);
            let flags = if is_bolted { BOLTED } else { 0 };
            let (status, outputs) = machine.call(Hypercall::Enter, &[0, group, word | flags, second]);
            if status == H_SUCCESS {
                let entry = &machine.table.entries[outputs[0] as usize];
                entry.set_second(entry.second() | marks << 7);
                model.insert(outputs[0], (size, offset, word & !0x7F, is_bolted, marks));
                slots.push(outputs[0]);
            }
        }
        machine.forgotten();
        slots.extend([machine.table.slots(), 3]);
        let address = at(address, 0).1.1[0] & !0x7F;
        let mut words = [KIND.set(0, END); 1 + BLOCK];
        words[0] = address;
        let named: Vec<_> = named.into_iter().map(|(index, by)| (slots[index % slots.len()], by)).collect();
        for (word, (slot, by_avpn)) in words[1..].iter_mut().zip(&named) {
            *word = request(*slot, *by_avpn);
        }
        let mut block = None;
        let mut gone = Vec::new();
        let expected: Vec<_> = named.iter().map(|(slot, by_avpn)| {
            let answer = |result| (result, 0, *slot);
            if *slot >= machine.table.slots() {
                return answer(BLOCK_WRONG);
            }
            if gone.contains(slot) {
                return answer(BLOCK_BUSY);
            }
            let Some((size, offset, avpn, is_bolted, marks)) = model.get(slot).copied() else {
                return answer(BLOCK_MISSING);
            };
            let of = (size, offset >> SIZES[size].base_log2 >> BLOCK_LOG2);
            if is_bolted {
                return answer(BLOCK_MISSING);
            }
            if size == 2 {
                return answer(BLOCK_WRONG);
            }
            if *by_avpn && avpn != address {
                return answer(BLOCK_MISSING);
            }
            let block = *block.get_or_insert(of);
            if block.0 != of.0 {
                return answer(BLOCK_UNLIKE);
            }
            if block != of {
                return answer(BLOCK_BEYOND);
            }
            gone.push(*slot);
            (BLOCK_DONE, marks, *slot)
        }).collect();
        let (status, answers) = machine.call(Hypercall::BlockRemove, &words);
        let got: Vec<_> = answers[..named.len()].iter().map(|word| result(*word)).collect();
        prop_assert_eq!(&got, &expected);
        let is_whole = expected.iter().all(|(result, ..)| *result == BLOCK_DONE);
        prop_assert_eq!(status, if is_whole { H_SUCCESS } else { H_PARTIAL });
        prop_assert!(answers[named.len()..].iter().all(|word| *word == KIND.set(0, END)));
        prop_assert_eq!(machine.forgotten().len(), gone.len());
        for slot in model.keys() {
            let is_there = machine.table.read::<Fake>(*slot) != [0; 2];
            prop_assert_eq!(is_there, !gone.contains(slot));
        }
    }
}
