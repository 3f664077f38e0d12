//! A partition with superpages beside one without: both read the same, and no address has two sizes.

use alloc::vec::Vec;
use std::collections::BTreeMap;

use arch::address::{GuestRealAddress, RealAddress};
use arch::hash::{EntryForm, GROUP_ENTRIES, LARGE_PAGES, PageSize, first, hash, second};
use arch::papr::Hypercall;
use arch::papr::hashed::{AVPN, BLOCK, BLOCK_DONE, BLOCK_RESULT, END, KIND, REQUEST};
use arch::papr::status::{H_NOT_FOUND, H_PARTIAL, H_SUCCESS};
use proptest::prelude::*;

use super::{AHEAD, BLOCK_LOG2, Condition, Counts, LOCK, MADE_LARGE, PERIOD, SHARE};
use crate::fake::Fake;
use crate::guest_memory::given::Given;
use crate::hash_table::entry::{page_of, size};
use crate::hash_table::{HashTable, Options, REMOVED_NEXT, bytes_log2};
use crate::hypercall::{WORDS, block_divides_first, divides_first, of_block, of_hash_table};
use crate::memory::Range;

/// Three blocks, at the second one of real memory.
const MEMORY: Range = Range::new(0x100_0000, 0x300_0000);
const MARKS: u64 = second::R | second::C;
const SMALL: PageSize = PageSize { base_log2: 12, actual_log2: 12, code: 0 };
const MEDIUM: PageSize = LARGE_PAGES[2];
/// 16 MiB in a segment of 64 KiB.
const WHOLE: PageSize = LARGE_PAGES[3];
const READ_ONLY: u64 = 3;

struct Machine {
    fake: Fake,
    table: HashTable,
    given: Given,
}

/// A page that a partition shows somewhere.
#[derive(Clone, Copy, Debug)]
struct Shown {
    size: PageSize,
    segment_log2: u32,
    vsid: u64,
    /// In the segment, and of its memory.
    offset: u64,
    guest_real: u64,
    rights: u64,
    /// R and C as it enters them.
    marks: u64,
    is_secondary: bool,
}

impl Shown {
    /// Page `page` of 64 KiB of the first block of a segment, which is the second one of the memory.
    const fn medium(page: u64) -> Self {
        let guest_real = 0x100_0000 | page << 16;
        let offset = page << 16;
        Self {
            size: MEDIUM,
            segment_log2: 40,
            vsid: 0x123,
            offset,
            guest_real,
            rights: 2,
            marks: (page % 4) << 7,
            is_secondary: false,
        }
    }

    /// The first slot of its group, and the doublewords of an entry for it.
    fn entry(self) -> (u64, [u64; 2]) {
        let Self { size, segment_log2, vsid, offset, guest_real, rights, marks, is_secondary } =
            self;
        let low = first::AVA_OMITS_LOG2;
        let address = (vsid << (segment_log2 - low) | offset >> low) << first::AVA_SHIFT;
        let large = if size.actual_log2 == 12 { 0 } else { first::L };
        let side = if is_secondary { first::H } else { 0 };
        let word = address | large | side | first::V;
        let word = EntryForm::V2.segment_size.set(word, u64::from(segment_log2 == 40));
        let groups = (1 << (bytes_log2(MEMORY.bytes) - 7)) - 1;
        let hashed = hash(vsid, segment_log2, size.base_log2, offset);
        let group = if is_secondary { !hashed } else { hashed } & groups;
        (
            group * GROUP_ENTRIES as u64,
            [word, guest_real | size.code << 12 | second::M | rights | marks],
        )
    }
}

impl Machine {
    fn new(has_superpages: bool) -> Self {
        let fake = Fake::new(0x1000);
        let table = HashTable::new(
            &fake,
            7,
            MEMORY.bytes,
            Options { has_superpages, ..Options::default() },
        )
        .unwrap();
        Self { fake, table, given: Given::none_of(MEMORY) }
    }

    /// The vCPU leaves, and comes back to make the call again, as often as blocks have to change their size first.
    fn call(&self, call: Hypercall, arguments: &[u64]) -> (i64, [u64; WORDS]) {
        let mut all = [0; 1 + BLOCK];
        all[..arguments.len()].copy_from_slice(arguments);
        let [words @ .., _] = all;
        let divides_first = || match call {
            Hypercall::BlockRemove => block_divides_first::<Fake>(&self.table, all),
            _ => divides_first::<Fake>(&self.table, call, &words),
        };
        while divides_first() {
            assert_eq!(self.table.next_look(), Some(0));
            assert!(!self.table.look(&self.fake, self.fake.timebase.get(), true));
        }
        match call {
            Hypercall::BlockRemove => of_block(&self.table, &self.fake, all),
            _ => of_hash_table(&self.table, &self.given, &self.fake, call, words),
        }
    }

    /// Looks when the next look is due, `is_alone` in the partition: whether a block is to change yet.
    fn look(&self, is_alone: bool) -> bool {
        let Some(due) = self.table.next_look() else { return false };
        let now = self.fake.timebase.get().max(due);
        self.fake.timebase.set(now);
        self.table.look(&self.fake, now, is_alone)
    }

    /// Looks so often that every page that is there is old, and every block large that can be.
    fn settle(&self) {
        (0..10).for_each(|_| assert!(!self.look(true)));
    }

    fn enter(&self, shown: Shown) -> u64 {
        let (slot, [word, page]) = shown.entry();
        let (status, outputs) = self.call(Hypercall::Enter, &[0, slot, word, page]);
        assert_eq!(status, H_SUCCESS);
        outputs[0]
    }

    /// Enters the 256 pages of a block in an order: their slots, by page.
    fn fill(&self, order: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut slots: Vec<_> =
            order.into_iter().map(|page| (page, self.enter(Shown::medium(page)))).collect();
        slots.sort_unstable();
        slots.into_iter().map(|(_, slot)| slot).collect()
    }

    fn size_at(&self, slot: u64) -> Option<PageSize> {
        let entry = &self.table.entries[slot as usize];
        (entry.first() & first::V != 0).then(|| size([entry.first(), entry.second()]).unwrap())
    }

    /// Promotions and demotions.
    fn counts(&self) -> [u64; 2] {
        let Counts { promotions, demotions, .. } = self.table.superpages().unwrap();
        [promotions, demotions]
    }

    /// Whether no address of a block is translated by two sizes.
    fn has_one_size(&self) -> bool {
        let mut sizes = BTreeMap::new();
        (0..self.table.slots()).all(|slot| {
            let Some(size) = self.size_at(slot) else { return true };
            let entry = &self.table.entries[slot as usize];
            let page = page_of(EntryForm::V3, [entry.first(), entry.second()], slot);
            let block = (page.address >> BLOCK_LOG2, page.segment_size, size.base_log2);
            let is_whole = size.actual_log2 == BLOCK_LOG2;
            *sizes.entry(block).or_insert(is_whole) == is_whole
        })
    }
}

fn shuffled() -> impl Iterator<Item = u64> {
    (0..256).map(|index| index * 77 % 256)
}

#[test]
fn a_block_whose_pages_are_there_and_alike_becomes_one() {
    let orders: [Vec<u64>; 3] =
        [(0..256).collect(), (0..256).rev().collect(), shuffled().collect()];
    for order in orders {
        let machine = Machine::new(true);
        let slots = machine.fill(order[..255].iter().copied());
        machine.settle();
        assert_eq!(machine.counts(), [0; 2]);
        assert!(machine.table.superpages().unwrap().failures > 0);
        assert!(slots.iter().all(|slot| machine.size_at(*slot) == Some(MEDIUM)));
        machine.enter(Shown::medium(order[255]));
        machine.settle();
        assert_eq!(machine.counts(), [1, 0]);
        assert_eq!(machine.fake.forgotten.take(), [(7, true)], "all that was translated before");
        for page in 0..256 {
            let (group, [word, written]) = Shown::medium(page).entry();
            let slots = group..group + GROUP_ENTRIES as u64;
            let whole: Vec<_> =
                slots.filter(|slot| machine.size_at(*slot) == Some(WHOLE)).collect();
            let [slot] = whole[..] else { panic!("{whole:?}: one was expected") };
            let entry = &machine.table.entries[slot as usize];
            assert_eq!(entry.second() & EntryForm::V3.address & !0xFF_FFFF, 0x200_0000);
            // The partition reads what it wrote, and R and C.
            assert_eq!(machine.table.read::<Fake>(slot), [word, written | MARKS]);
        }
    }
}

#[test]
fn pages_of_4_kib_do_and_their_entries_show_that_they_are_small() {
    let machine = Machine::new(true);
    let shown = |page: u64| Shown {
        size: SMALL,
        segment_log2: 28,
        offset: 0x300_0000 | page << 12,
        guest_real: page << 12,
        is_secondary: page.is_multiple_of(3),
        ..Shown::medium(0)
    };
    let slots: Vec<u64> = (0..4096).map(|page| machine.enter(shown(page))).collect();
    machine.settle();
    assert_eq!(machine.counts(), [1, 0]);
    for (slot, page) in slots.iter().zip(0..) {
        assert_eq!(machine.size_at(*slot), Some(LARGE_PAGES[1]));
        let (_, [word, written]) = shown(page).entry();
        assert_eq!(machine.table.read::<Fake>(*slot), [word, written | MARKS]);
    }
    let (_, [word, _]) = shown(1000).entry();
    let (status, outputs) = machine.call(Hypercall::Remove, &[AVPN, slots[1000], word & !0x7F]);
    assert_eq!((status, outputs[0]), (H_SUCCESS, word));
    assert!(machine.has_one_size());
    assert_eq!(machine.size_at(slots[999]), Some(SMALL));
    let entry = &machine.table.entries[slots[999] as usize];
    assert_eq!(entry.first() & first::L, 0);
    assert_eq!(entry.second() & EntryForm::V3.address, MEMORY.start.0 + (999 << 12));
}

#[test]
fn who_may_store_into_no_page_has_changed_none() {
    let machine = Machine::new(true);
    let entered: Vec<_> = (0..256)
        .map(|page| machine.enter(Shown { rights: READ_ONLY, ..Shown::medium(page) }))
        .collect();
    machine.settle();
    assert_eq!(machine.counts()[0], 1);
    let [_, written] = machine.table.read::<Fake>(entered[4]);
    assert_eq!(written & MARKS, second::R);
}

/// Each page that makes a block of 256 others no superpage.
#[test]
fn one_page_in_the_way_keeps_a_block_as_it_is() {
    let plain = Shown::medium(200);
    for odd in [
        Shown { rights: READ_ONLY, ..plain },
        Shown { rights: 2 | second::N, ..plain },
        Shown { guest_real: 0x200_0000 | 200 << 16, ..plain },
        Shown { guest_real: 0x100_0000 | 201 << 16, ..plain },
        Shown { offset: 0x100_0000 | 200 << 16, ..plain },
        Shown { vsid: 0x124, ..plain },
        Shown { segment_log2: 28, ..plain },
        Shown { size: SMALL, ..plain },
    ] {
        let machine = Machine::new(true);
        let slots = machine.fill((0..256).filter(|page| *page != 200));
        machine.enter(odd);
        machine.settle();
        assert_eq!(machine.counts()[0], 0, "{odd:?}");
        assert!(slots.iter().all(|slot| machine.size_at(*slot) == Some(MEDIUM)));
    }
}

/// Two entries for one page are the partition's mistake, and do not become two of different size.
#[test]
fn a_page_that_is_there_twice_is_in_the_way() {
    let machine = Machine::new(true);
    machine.enter(Shown { is_secondary: true, ..Shown::medium(9) });
    machine.fill(0..256);
    machine.settle();
    assert_eq!(machine.counts()[0], 0);
    assert!(machine.has_one_size());
}

#[test]
fn a_change_of_one_page_gives_all_their_size_back() {
    type Change = fn(&Machine, u64) -> (i64, [u64; WORDS]);
    let changes: [(Change, bool); 6] = [
        (|machine, slot| machine.call(Hypercall::Remove, &[0, slot]), true),
        (
            |machine, slot| {
                machine.call(Hypercall::BulkRemove, &[KIND.set(slot, REQUEST), 0, KIND.set(0, END)])
            },
            true,
        ),
        (
            |machine, slot| {
                // The last of eight requests, and no other one is for this table.
                let mut words = [KIND.set(u64::MAX >> 8, REQUEST); 1 + BLOCK];
                words[BLOCK] = KIND.set(slot, REQUEST);
                let (status, words) = machine.call(Hypercall::BlockRemove, &words);
                let is_removed = BLOCK_RESULT.get(words[BLOCK - 1]) == BLOCK_DONE;
                assert_eq!((status, is_removed), (H_PARTIAL, true));
                (H_SUCCESS, words)
            },
            true,
        ),
        (|machine, slot| machine.call(Hypercall::Protect, &[READ_ONLY, slot]), false),
        (|machine, slot| machine.call(Hypercall::ClearRef, &[0, slot]), false),
        (|machine, slot| machine.call(Hypercall::ClearMod, &[0, slot]), false),
    ];
    for (change, is_removal) in changes {
        let machine = Machine::new(true);
        let slots = machine.fill(shuffled());
        machine.settle();
        machine.fake.forgotten.take();
        assert_eq!(change(&machine, slots[7]).0, H_SUCCESS);
        assert_eq!(machine.counts(), [1, 1]);
        let forgotten = machine.fake.forgotten_pages.take();
        let sizes: Vec<_> = forgotten.iter().map(|(_, page)| page.size).collect();
        assert_eq!(sizes, [MEDIUM]);
        assert_eq!(machine.fake.forgotten.take(), [(7, true)], "the processor names no large page");
        for (page, slot) in (0..).zip(&slots) {
            if page == 7 && is_removal {
                assert_eq!(machine.size_at(*slot), None);
                continue;
            }
            assert_eq!(machine.size_at(*slot), Some(MEDIUM));
            let real = machine.table.entries[*slot as usize].second() & EntryForm::V3.address;
            assert_eq!(real & !0xFFFF, MEMORY.start.0 + 0x100_0000 + (page << 16));
        }
    }
}

#[test]
fn a_table_with_a_large_block_is_cleared_too() {
    let machine = Machine::new(true);
    machine.fill(shuffled());
    machine.settle();
    assert_eq!(machine.counts(), [1, 0]);
    // Who does not give the pages their size first gets nowhere.
    let until = machine.table.slots() / REMOVED_NEXT;
    let call = || machine.table.remove_next(&machine.fake);
    assert!((0..=until).all(|_| call()));
    assert_eq!(machine.counts(), [1, 0]);
    let calls = (1..=until).find(|_| machine.call(Hypercall::ClearHpt, &[]).0 == H_SUCCESS);
    assert!(calls.is_some());
    assert_eq!(machine.counts(), [1, 1]);
    assert!((0..machine.table.slots()).all(|slot| machine.size_at(slot).is_none()));
    // The block can be made again.
    machine.fill(shuffled());
    machine.settle();
    assert_eq!(machine.counts(), [2, 1]);
}

/// The same virtual block, in pages of 64 KiB and in pages of 4 KiB: each gets its own size back, and the other stays.
#[test]
fn blocks_of_both_base_sizes_at_one_address_are_told_apart() {
    let small = |page: u64| Shown {
        size: SMALL,
        offset: page << 12,
        guest_real: 0x100_0000 | page << 12,
        ..Shown::medium(0)
    };
    let machine = Machine::new(true);
    let mediums = machine.fill(0..256);
    machine.settle();
    let smalls: Vec<u64> = (0..4096).map(|page| machine.enter(small(page))).collect();
    machine.settle();
    assert_eq!(machine.counts(), [2, 0]);
    machine.call(Hypercall::ClearRef, &[0, smalls[97]]);
    assert_eq!(machine.counts(), [2, 1]);
    for (page, slot) in (0..).zip(&smalls) {
        assert_eq!(machine.size_at(*slot), Some(SMALL), "page {page}");
        let (_, [word, written]) = small(page).entry();
        let [first, second] = machine.table.read::<Fake>(*slot);
        assert_eq!([first, second & !MARKS], [word, written & !MARKS]);
    }
    for (page, slot) in (0..).zip(&mediums) {
        assert_eq!(machine.size_at(*slot), Some(WHOLE), "page {page}");
        let (_, [word, written]) = Shown::medium(page).entry();
        assert_eq!(machine.table.read::<Fake>(*slot), [word, written | MARKS]);
    }
    machine.call(Hypercall::Remove, &[0, mediums[3]]);
    assert_eq!(machine.counts(), [2, 2]);
    assert_eq!(machine.size_at(mediums[4]), Some(MEDIUM));
}

#[test]
fn what_changes_nothing_leaves_a_block_as_it_is() {
    let machine = Machine::new(true);
    let slots = machine.fill(0..256);
    machine.settle();
    assert_eq!(machine.call(Hypercall::Protect, &[2, slots[3]]).0, H_SUCCESS);
    assert_eq!(machine.call(Hypercall::Remove, &[AVPN, slots[3], !0x7F]).0, H_NOT_FOUND);
    assert_ne!(machine.call(Hypercall::Read, &[0, slots[3]]).1[0], 0);
    assert_eq!(machine.counts(), [1, 0]);
    assert_eq!(machine.size_at(slots[3]), Some(WHOLE));
}

/// As Linux does it: pages come read-only, and each may be stored into from the first store on.
#[test]
fn pages_that_change_one_by_one_become_one_again() {
    let machine = Machine::new(true);
    let enter = |page| machine.enter(Shown { rights: READ_ONLY, ..Shown::medium(page) });
    let slots: Vec<_> = (0..256).map(enter).collect();
    machine.settle();
    assert_eq!(machine.counts(), [1, 0]);
    for page in shuffled() {
        machine.call(Hypercall::Protect, &[2, slots[page as usize]]);
        machine.look(true);
    }
    machine.settle();
    assert_eq!(machine.counts(), [2, 1]);
    assert_eq!(machine.size_at(slots[0]), Some(WHOLE));
}

/// What lives for a moment is left as it is.
#[test]
fn a_block_is_made_large_once_its_pages_are_old() {
    let machine = Machine::new(true);
    for _ in 0..20 {
        for slot in machine.fill(0..256) {
            machine.look(true);
            machine.call(Hypercall::Remove, &[0, slot]);
        }
        assert_eq!(machine.counts(), [0; 2]);
    }
    machine.fill(0..256);
    assert!(!machine.look(true), "each page is read for the first time");
    assert_eq!(machine.counts(), [0; 2]);
    machine.look(true);
    assert_eq!(machine.counts(), [1, 0]);
}

/// However often its pages change, a block takes no more than its share of the time.
#[test]
fn looks_and_changes_have_a_bounded_share_of_the_time() {
    const COST: u64 = 200_000;
    let machine = Machine::new(true);
    let slots = machine.fill(0..256);
    let begin = machine.fake.timebase.get();
    machine.fake.ticks_of_forgetting.set(COST);
    for _ in 0..2000 {
        machine.look(true);
        machine.call(Hypercall::Protect, &[READ_ONLY, slots[80]]);
        machine.call(Hypercall::Protect, &[2, slots[80]]);
    }
    let ticks = machine.table.superpages().unwrap().ticks;
    let elapsed = machine.fake.timebase.get() - begin;
    let [promotions, demotions] = machine.counts();
    assert!(promotions > 100 && demotions + 1 >= promotions, "{promotions}, {demotions}");
    assert_eq!(ticks, COST * (promotions + demotions));
    assert!(elapsed >= promotions * PERIOD);
    assert!(ticks * SHARE <= elapsed + AHEAD + 2 * COST * SHARE, "{ticks} of {elapsed}");
}

/// While others are in the partition, a block is found, and changes when they are out; it may have changed meanwhile.
#[test]
fn a_block_changes_while_nobody_is_in_the_partition() {
    let machine = Machine::new(true);
    let slots = machine.fill(0..256);
    assert!(!machine.look(false));
    assert!(machine.look(false), "a whole block was found");
    assert_eq!(machine.table.next_look(), Some(0));
    assert!(machine.look(false), "somebody is inside yet");
    assert_eq!(machine.counts(), [0; 2]);
    assert!(!machine.look(true));
    assert_eq!(machine.counts(), [1, 0]);
    // The call is to be made again.
    let arguments = [0, slots[9], 0, 0, 0, 0, 0, 0];
    assert!(divides_first::<Fake>(&machine.table, Hypercall::Remove, &arguments));
    assert!(machine.look(false));
    assert_eq!(machine.counts(), [1, 0]);
    assert!(!machine.look(true));
    assert_eq!(machine.counts(), [1, 1]);
    assert!(!divides_first::<Fake>(&machine.table, Hypercall::Remove, &arguments));
    while !machine.look(false) {}
    machine.call(Hypercall::Remove, &[0, slots[9]]);
    assert!(!machine.look(true));
    assert_eq!(machine.counts(), [1, 1], "it is not whole any more");
    assert!(slots.iter().all(|slot| machine.size_at(*slot) != Some(WHOLE)));
}

#[test]
fn a_restart_begins_anew() {
    let machine = Machine::new(true);
    machine.fill(0..256);
    machine.settle();
    assert_eq!(machine.counts(), [1, 0]);
    assert!(machine.table.has_large());
    machine.table.reset(&machine.fake);
    let mut slot = Some(0);
    while let Some(next) = slot {
        slot = machine.table.empty(next, 4096);
    }
    assert!(!machine.table.has_large());
    machine.fill(0..256);
    machine.settle();
    assert_eq!(machine.counts(), [2, 0]);
}

/// Entries of the hypervisor's are none that a partition has entered, and none of a block.
#[test]
fn the_hypervisors_own_entries_are_left_alone() {
    let machine = Machine::new(true);
    for page in 0..4096 {
        let (own, real) =
            (GuestRealAddress(page << 12), RealAddress(MEMORY.start.0 + (page << 12)));
        assert!(machine.table.add_real_mode(&machine.fake, own, real));
    }
    machine.settle();
    assert_eq!(machine.counts(), [0; 2]);
    assert_eq!(machine.table.superpages().unwrap().failures, 0);
}

/// What a partition does to a few pages of a block.
#[derive(Clone, Debug)]
enum Change {
    Enter(u64, u64),
    Remove(u64),
    RemoveFour([u64; 4]),
    Protect(u64, u64),
    Clear(u64, bool),
    Read(u64),
}

fn change() -> impl Strategy<Value = Change> {
    let page = || prop::sample::select(alloc::vec![0, 1, 100, 254, 255_u64]);
    let rights = || prop::sample::select(alloc::vec![2, 2, 2, READ_ONLY]);
    prop_oneof![
        4 => (page(), rights()).prop_map(|(page, rights)| Change::Enter(page, rights)),
        1 => page().prop_map(Change::Remove),
        1 => prop::array::uniform4(page()).prop_map(Change::RemoveFour),
        4 => (page(), rights()).prop_map(|(page, rights)| Change::Protect(page, rights)),
        1 => (page(), any::<bool>()).prop_map(|(page, is_change)| Change::Clear(page, is_change)),
        1 => page().prop_map(Change::Read),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// All answers are those of a partition without superpages, but for R and C, which may be set.
    #[test]
    fn a_partition_does_not_notice(changes in prop::collection::vec(change(), 1..80)) {
        let machines = [true, false].map(Machine::new);
        let mut slots = machines.each_ref().map(|machine| machine.fill(0..256))[0].clone();
        for change in changes {
            let answers = machines.each_ref().map(|machine| match change {
                Change::Enter(page, rights) => {
                    // Who has a page there already would be mistaken.
                    if machine.size_at(slots[page as usize]).is_some() {
                        return (0, [0; WORDS]);
                    }
                    let (slot, [word, second]) = Shown { rights, ..Shown::medium(page) }.entry();
                    machine.call(Hypercall::Enter, &[0, slot, word, second])
                }
                Change::Remove(page) => machine.call(Hypercall::Remove, &[0, slots[page as usize]]),
                Change::RemoveFour(pages) => {
                    let requests = pages.map(|page| [KIND.set(slots[page as usize], REQUEST), 0]);
                    let (status, mut words) = machine.call(Hypercall::BulkRemove, requests.as_flattened());
                    for word in words.iter_mut().step_by(2) {
                        *word = arch::papr::hashed::MARKS.set(*word, 0);
                    }
                    (status, words)
                }
                Change::Protect(page, rights) => machine.call(Hypercall::Protect, &[rights, slots[page as usize]]),
                Change::Clear(page, is_change) => {
                    let call = if is_change { Hypercall::ClearMod } else { Hypercall::ClearRef };
                    let (status, words) = machine.call(call, &[0, slots[page as usize]]);
                    (status, words.map(|word| word & !MARKS))
                }
                Change::Read(page) => machine.call(Hypercall::Read, &[0, slots[page as usize]]),
            });
            let [with, without] = answers.map(|(status, words)| (status, words.map(|word| word & !MARKS)));
            prop_assert_eq!(with, without, "{:?}", change);
            if let (Change::Enter(page, _), (H_SUCCESS, words)) = (&change, with) && words[0] != 0 {
                slots[*page as usize] = words[0];
            }
            prop_assert!(!machines[0].look(true));
            prop_assert!(machines[0].has_one_size());
        }
        for slot in 0..machines[0].table.slots() {
            let [with, without] = machines.each_ref().map(|machine| machine.table.read::<Fake>(slot));
            prop_assert_eq!(with[0], without[0]);
            prop_assert_eq!(with[1] & !MARKS, without[1] & !MARKS);
            prop_assert_eq!(with[1] & without[1] & MARKS, without[1] & MARKS, "none is lost");
        }
    }
}

/// Another vCPU that changes nothing of a large block's entry, by H_PROTECT with the rights that it has, shows none for
/// a moment.
#[test]
fn whoever_asks_for_an_entry_waits_for_who_has_it() {
    let machine = Machine::new(true);
    let slot = 5;
    let entry = &machine.table.entries[slot];
    entry.set_second(second::M);
    machine.table.kept[slot].set(MADE_LARGE | second::M);
    entry.give(first::V | LOCK);
    entry.give(LOCK);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            entry.give(first::V);
        });
        assert!(machine.table.divides::<Fake>(slot as u64, Condition::default(), None));
    });
}
