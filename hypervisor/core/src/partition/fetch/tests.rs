use alloc::string::String;
use alloc::vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;
use arch::hash::{EntryForm, GROUP_ENTRIES, PageSize, first, hash, second, segment};
use arch::papr::Hypercall;
use arch::papr::status::H_SUCCESS;
use arch::radix::{Entry, Leaf, Root, TableLocation};
use arch::registers::msr;

use super::{Context, Partition, instruction};
use crate::fake::Fake;
use crate::hash_table::Options;
use crate::hypercall::of_hash_table;
use crate::memory::Range;

const MEMORY: Range = Range::new(2 << 20, 4 << 20);
const NOP: u32 = 0x6000_0000;
const BIG: u64 = msr::SF;
const LITTLE: u64 = msr::SF | msr::LE;

fn put(partition: &mut Partition<Fake>, hal: &Fake, address: u64, bytes: &[u8]) {
    partition.memory.write(hal, GuestRealAddress(address), bytes).unwrap();
}

fn at(partition: &mut Partition<Fake>, hal: &Fake, pc: u64, msr: u64) -> Option<u32> {
    instruction(partition, hal, Context { pc, msr })
}

#[test]
fn without_relocation_it_is_at_its_own_address() {
    let hal = Fake::new(8 << 20);
    for translation in [Translation::Radix, Translation::Hash] {
        let name = String::from("test");
        let mut partition =
            Partition::translated(&hal, name, 1, MEMORY, translation, Options::default()).unwrap();
        put(&mut partition, &hal, 0x1_0000, &NOP.to_be_bytes());
        put(&mut partition, &hal, 0x2_0000, &NOP.to_le_bytes());
        assert_eq!(at(&mut partition, &hal, 0x1_0000, BIG), Some(NOP));
        assert_eq!(at(&mut partition, &hal, 0x2_0000, LITTLE), Some(NOP));
        assert_eq!(at(&mut partition, &hal, 0x2_0000, BIG), Some(NOP.swap_bytes()));
        assert_eq!(at(&mut partition, &hal, 0xC000_0000_0001_0000, BIG), Some(NOP));
        assert_eq!(at(&mut partition, &hal, 0x40_0000, BIG), None, "it is not its memory");
    }
}

/// A process table at 0x10000, and trees whose roots follow at 0x20000.
struct Radix {
    hal: Fake,
    partition: Partition<Fake>,
}

impl Radix {
    fn new() -> Self {
        let hal = Fake::new(8 << 20);
        let mut partition = hal.partition(MEMORY);
        partition.process_table =
            Some(TableLocation { base: RealAddress(0x1_0000), bytes_log2: 12 });
        Self { hal, partition }
    }

    fn put(&mut self, address: u64, doubleword: u64) {
        put(&mut self.partition, &self.hal, address, &doubleword.to_be_bytes());
    }

    fn root(&mut self, process: u64, base: u64, entries_log2: u32) {
        let root = Root { space_log2: 52, base: RealAddress(base), entries_log2 };
        self.put(0x1_0000 + 16 * process, root.to_doubleword());
    }

    fn directory(&mut self, address: u64, base: u64, entries_log2: u32) {
        self.put(
            address,
            Entry::Directory { base: RealAddress(base), entries_log2 }.to_doubleword(),
        );
    }

    fn leaf(&mut self, address: u64, base: u64) {
        let leaf = Leaf {
            base: RealAddress(base),
            rights: 1,
            attributes: 0,
            referenced: true,
            changed: false,
        };
        self.put(address, Entry::Leaf(leaf).to_doubleword());
    }

    fn at(&mut self, pc: u64) -> Option<u32> {
        at(&mut self.partition, &self.hal, pc, LITTLE | msr::IR)
    }
}

#[test]
fn with_radix_translation_the_process_says_where_it_is() {
    let mut radix = Radix::new();
    let code = vec![NOP.to_le_bytes(); 2 << 14].concat();
    let last = 0x6000_0001_u32;
    put(&mut radix.partition, &radix.hal, 0x20_0000, &code);
    put(&mut radix.partition, &radix.hal, 0x20_5678, &last.to_le_bytes());
    // Process 0, the kernel's, has a page of 2 MiB at 0x40_0000_0000, and process 5 one of 4 KiB and one of 64 KiB.
    radix.root(0, 0x2_0000, 13);
    radix.directory(0x2_0000, 0x4_0000, 9);
    radix.directory(0x4_0000 + 8 * 0x100, 0x5_0000, 9);
    radix.leaf(0x5_0000, 0x20_0000);
    assert_eq!(radix.at(0xC000_0040_0000_5678), Some(last));
    assert_eq!(radix.at(0xC000_0040_0000_5674), Some(NOP));
    radix.hal.process.set(5);
    assert_eq!(radix.at(0x40_0000_5678), None, "process 5 has no tree");
    radix.root(5, 0x6_0000, 13);
    radix.directory(0x6_0000, 0x8_0000, 9);
    radix.directory(0x8_0000 + 8 * 0x100, 0x9_0000, 9);
    radix.directory(0x9_0000, 0xA_0000, 9);
    radix.leaf(0xA_0000 + 8 * 3, 0x20_5000);
    assert_eq!(radix.at(0x40_0000_3678), Some(last));
    assert_eq!(radix.at(0x40_0000_2678), None);
    radix.directory(0x9_0008, 0xB_0000, 5);
    radix.leaf(0xB_0000 + 8 * 2, 0x20_0000);
    assert_eq!(radix.at(0x40_0022_5678), Some(last));
    // Addresses that no process has.
    for pc in [0x4000_0040_0000_5678, 0x8000_0040_0000_5678, 0xC010_0040_0000_5678] {
        assert_eq!(radix.at(pc), None, "{pc:#x}");
    }
    radix.hal.process.set(0x100);
    assert_eq!(radix.at(0x40_0000_3678), None, "behind the table's end");
    radix.hal.process.set(5);
    radix.partition.process_table = None;
    assert_eq!(radix.at(0x40_0000_3678), None);
}

#[test]
fn a_tree_that_leads_nowhere_ends() {
    let mut radix = Radix::new();
    let reads = |radix: &mut Radix| radix.at(0xC000_0040_0000_0000);
    // No levels, levels without bits, more bits than there are, a root outside of the memory, another space.
    for entries_log2 in [0, 1, 13, 31] {
        radix.root(0, 0x2_0000, entries_log2);
        for place in 0..4 {
            radix.directory(0x2_0000 + 8 * place, 0x2_0000, entries_log2);
        }
        assert_eq!(reads(&mut radix), None, "{entries_log2}");
    }
    radix.root(0, 0x4000_0000, 13);
    assert_eq!(reads(&mut radix), None);
    radix.root(0, 0x0FFF_FFFF_FFFF_FF00, 13);
    assert_eq!(reads(&mut radix), None);
    let other = Root { space_log2: 48, base: RealAddress(0x2_0000), entries_log2: 13 };
    radix.put(0x1_0000, other.to_doubleword());
    assert_eq!(reads(&mut radix), None);
}

#[test]
fn with_a_hashed_page_table_the_segments_say_where_it_is() {
    const BASE: PageSize = PageSize { base_log2: 16, actual_log2: 16, code: 1 };
    let hal = Fake::new(8 << 20);
    let name = String::from("test");
    let mut partition =
        Partition::translated(&hal, name, 1, MEMORY, Translation::Hash, Options::default())
            .unwrap();
    put(&mut partition, &hal, 0x1_5678, &NOP.to_le_bytes());
    let pages = [(28, 0x12_3456, 0x8_0000), (40, 0x1_2345, 0xC0_0008_0000)];
    let shared = partition.memory.shared();
    let table = shared.kind.hash_table().unwrap();
    for (log2, vsid, offset) in pages {
        let low = first::AVA_OMITS_LOG2;
        let address = (vsid << (log2 - low) | offset >> low) << first::AVA_SHIFT;
        let word = EntryForm::V2.segment_size.set(address, u64::from(log2 == 40));
        let hashed = hash(vsid, log2, BASE.base_log2, offset);
        let slot = (hashed * GROUP_ENTRIES as u64) & (table.slots() - 1);
        let second = 0x1_0000 | BASE.code << 12 | second::M;
        let arguments = [0, slot, word | first::L | first::V, second, 0, 0, 0, 0];
        let (status, _) = of_hash_table(table, &shared.given, &hal, Hypercall::Enter, arguments);
        assert_eq!(status, H_SUCCESS);
    }
    let size = arch::hash::base_code(16);
    hal.segments.borrow_mut()[3] =
        [0xC000_0000_1000_0000 | segment::V, segment::VSID.set(0, 0x12_3456) | size];
    let large = segment::B.set(segment::LARGE_VSID.set(0, 0x1_2345), 1);
    hal.segments.borrow_mut()[31] = [0xD000_0000_0000_0000 | segment::V, large | size];
    let msr = LITTLE | msr::IR;
    assert_eq!(at(&mut partition, &hal, 0xC000_0000_1008_5678, msr), Some(NOP));
    assert_eq!(at(&mut partition, &hal, 0xD000_00C0_0008_5678, msr), Some(NOP));
    // Another segment, another page, and a segment that is not valid any more.
    assert_eq!(at(&mut partition, &hal, 0xC000_0000_2008_5678, msr), None);
    assert_eq!(at(&mut partition, &hal, 0xC000_0000_1009_5678, msr), None);
    hal.segments.borrow_mut()[3][0] ^= segment::V;
    assert_eq!(at(&mut partition, &hal, 0xC000_0000_1008_5678, msr), None);
}
