//! Radix translation against the rules of `docs/facts/translation.md`: trees are built by hand in
//! memory, and what an access gives, or which interrupt it raises with which registers, is compared.

use arch::address::{EffectiveAddress, RealAddress};
use arch::interrupt::{Vector, storage};
use arch::radix::{Entry, Leaf, PATE0_HR, Root, TableLocation, rights};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};
use simulator::mmu::path::{space, walk_path};
use simulator::mmu::{Access, look, translate};
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::state::thread::trap::{Cause, Interrupt};
use simulator::state::tlb::Space;
use simulator::state::walk_cache::WalkKey;
use simulator::{Description, Machine};

const PARTITION_TABLE: u64 = 0x10_0000;
const HOST_PROCESS_TABLE: u64 = 0x12_0000;
const HOST_ROOT: u64 = 0x20_0000;
const GUEST_ROOT: u64 = 0x22_0000;
const TABLES: u64 = 0x30_0000;
/// Guest real 0 of the partition lies here.
const GUEST_MEMORY: u64 = 0x1000_0000;
const LPID: u64 = 5;
const PID: u64 = 9;

const RWX: u64 = rights::READ | rights::WRITE | rights::EXECUTE;

/// A machine's parts with tables under construction.
struct Bench {
    thread: Thread,
    shared: Shared,
    next_table: u64,
}

impl Bench {
    fn new() -> Self {
        let text = include_str!("../../../machines/power9.toml");
        let machine = Machine::new(Description::from_toml(text).unwrap(), 1);
        let (mut threads, shared) = machine.into_parts();
        let mut thread = threads.remove(0);
        thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT);
        thread.set_spr(Spr::Lpidr, LPID);
        thread.set_spr(Spr::Pidr, PID);
        let mut bench = Self { thread, shared, next_table: TABLES };
        let table = TableLocation { base: RealAddress(PARTITION_TABLE), bytes_log2: 16 };
        bench.shared.cores[0].set_spr(Spr::Ptcr, table.to_doubleword());
        bench.partition(0, HOST_ROOT, HOST_PROCESS_TABLE);
        // The host's process table, at its real address, through its own partition-scoped tree.
        bench.map(HOST_ROOT, HOST_PROCESS_TABLE, HOST_PROCESS_TABLE, 16, rights::READ, true, true);
        bench
    }

    fn write(&mut self, at: u64, value: u64) {
        self.shared.memory.copy_in(RealAddress(at), &value.to_be_bytes()).unwrap();
    }

    fn partition(&mut self, lpid: u64, root: u64, process_table: u64) {
        let table = TableLocation { base: RealAddress(process_table), bytes_log2: 12 };
        self.write(PARTITION_TABLE + 16 * lpid, root_word(root) | PATE0_HR);
        self.write(PARTITION_TABLE + 16 * lpid + 8, table.to_doubleword());
    }

    /// Maps the page of `log2` at `input` to `output` in the tree at `root`, all in real memory.
    #[expect(clippy::too_many_arguments, reason = "a leaf has so many fields")]
    fn map(
        &mut self,
        root: u64,
        input: u64,
        output: u64,
        log2: u32,
        eaa: u64,
        referenced: bool,
        changed: bool,
    ) -> u64 {
        let levels = [(13, 39), (9, 30), (9, 21), (if log2 == 16 { 5 } else { 9 }, log2.min(16))];
        let mut table = root;
        for (level, (entries_log2, left)) in levels.into_iter().enumerate() {
            let left = if level == 3 { log2 } else { left };
            let at = table + 8 * (input >> left & ((1 << entries_log2) - 1));
            if left == log2 {
                let leaf = Leaf {
                    base: RealAddress(output),
                    rights: eaa,
                    attributes: 0,
                    referenced,
                    changed,
                };
                self.write(at, Entry::Leaf(leaf).to_doubleword());
                return at;
            }
            let word = self.shared.memory.read_be64(RealAddress(at)).unwrap();
            table = match Entry::from_doubleword(word) {
                Entry::Directory { base, .. } => base.0,
                _ => {
                    let base = self.next_table;
                    self.next_table += 0x1000;
                    let entries_log2 = if level == 2 && log2 == 16 { 5 } else { 9 };
                    let entry = Entry::Directory { base: RealAddress(base), entries_log2 };
                    self.write(at, entry.to_doubleword());
                    base
                }
            };
        }
        unreachable!("every page size is some level's")
    }

    /// A partition whose guest real 0..2 MiB is mapped, with a process table at guest real 0x1_0000
    /// and PID's tree rooted at guest real 0x10_0000.
    fn guest(&mut self) {
        self.partition(LPID, GUEST_ROOT, 0x1_0000);
        self.map(GUEST_ROOT, 0, GUEST_MEMORY, 21, RWX, true, true);
        self.write(GUEST_MEMORY + 0x1_0000 + 16 * PID, root_word(0x10_0000));
    }

    fn access(&mut self, state: u64, address: u64, access: Access) -> Result<u64, Interrupt> {
        self.thread.set_msr(state);
        translate(&mut self.thread, &mut self.shared, EffectiveAddress(address), access)
            .map(|place| place.offset as u64)
            .map_err(|_| match self.thread.take_cause() {
                Some(Cause::Interrupt(interrupt)) => interrupt,
                other => panic!("expected an interrupt, not {other:?}"),
            })
    }
}

fn root_word(base: u64) -> u64 {
    Root { space_log2: 52, base: RealAddress(base), entries_log2: 13 }.to_doubleword()
}

const HOST: u64 = msr::SF | msr::HV | msr::IR | msr::DR;
const GUEST: u64 = msr::SF | msr::IR | msr::DR;
const GUEST_REAL: u64 = msr::SF;

#[test]
fn hypervisor_real_mode_ignores_the_top_four_bits_and_adds_hrmor_below_bit_0() {
    let mut bench = Bench::new();
    let real = msr::SF | msr::HV;
    assert_eq!(bench.access(real, 0xC000_0000_0000_1234, Access::Load), Ok(0x1234));
    bench.shared.cores[0].set_spr(Spr::Hrmor, 0x100_0000);
    assert_eq!(bench.access(real, 0x1234, Access::Load), Ok(0x100_1234));
    assert_eq!(bench.access(real, 0xC000_0000_0000_1234, Access::Load), Ok(0x1234));
}

#[test]
fn quadrant_3_of_the_hypervisor_is_lpid_0_pid_0_whatever_the_guests_registers_hold() {
    let mut bench = Bench::new();
    bench.write(HOST_PROCESS_TABLE, root_word(HOST_ROOT));
    bench.map(HOST_ROOT, 0x4000_0000, 0x800_0000, 21, RWX | rights::PRIVILEGED, true, true);
    let address = 0xC000_0000_4000_5678;
    assert_eq!(bench.access(HOST, address, Access::Load), Ok(0x800_5678));
    bench.thread.set_spr(Spr::Lpidr, 77);
    bench.thread.set_spr(Spr::Pidr, 78);
    assert_eq!(bench.access(HOST, address, Access::Store), Ok(0x800_5678));
}

#[test]
fn quadrants_1_and_2_are_segment_interrupts_for_a_guest() {
    let mut bench = Bench::new();
    bench.guest();
    for address in [0x4000_0000_0000_0000, 0x8000_0000_0000_0000, 0x0010_0000_0000_0000] {
        let interrupt = bench.access(GUEST, address, Access::Load).unwrap_err();
        assert_eq!(interrupt.vector, Vector::DataSegment);
        assert_eq!(interrupt.storage.unwrap().status, None, "DSISR is not set");
        let interrupt = bench.access(GUEST, address, Access::Fetch).unwrap_err();
        assert_eq!(interrupt.vector, Vector::InstructionSegment);
    }
}

#[test]
fn quadrants_1_and_2_of_the_hypervisor_reach_the_partition() {
    let mut bench = Bench::new();
    bench.guest();
    let root = GUEST_MEMORY + 0x10_0000;
    bench.next_table = GUEST_MEMORY + 0x14_0000;
    // The guest's tree holds guest real addresses; build it in place and then fix its directories.
    let at = bench.map(root, 0x7000, 0x3000, 12, RWX, true, true);
    assert!(at > GUEST_MEMORY);
    for table in [root, GUEST_MEMORY + 0x14_0000, GUEST_MEMORY + 0x14_1000] {
        let word = bench.shared.memory.read_be64(RealAddress(table)).unwrap();
        bench.write(table, word - GUEST_MEMORY);
    }
    assert_eq!(bench.access(GUEST, 0x7ABC, Access::Load), Ok(GUEST_MEMORY + 0x3ABC));
    let through_quadrant_1 = 0x4000_0000_0000_7ABC;
    assert_eq!(bench.access(HOST, through_quadrant_1, Access::Load), Ok(GUEST_MEMORY + 0x3ABC));
    let quadrant_2 = bench.access(HOST, 0x8000_0000_0000_7ABC, Access::Load).unwrap_err();
    assert_eq!(quadrant_2.vector, Vector::DataStorage, "PID 0 of the partition has no tree");
}

#[test]
fn guest_real_mode_is_partition_scoped_only_and_faults_to_the_hypervisor() {
    let mut bench = Bench::new();
    bench.guest();
    assert_eq!(bench.access(GUEST_REAL, 0x1234, Access::Store), Ok(GUEST_MEMORY + 0x1234));
    // Bits 0:1 of the address are ignored.
    assert_eq!(
        bench.access(GUEST_REAL, 0xC000_0000_0000_1234, Access::Load),
        Ok(GUEST_MEMORY + 0x1234)
    );
    let interrupt = bench.access(GUEST_REAL, 0x20_0042, Access::Store).unwrap_err();
    assert_eq!(interrupt.vector, Vector::HypervisorDataStorage);
    let fault = interrupt.storage.unwrap();
    assert_eq!(fault.address.0, 0x20_0042);
    assert_eq!(fault.status, Some(storage::NO_TRANSLATION | storage::STORE));
    assert_eq!(fault.asdr, Some(0x20_0000));
    let interrupt = bench.access(GUEST_REAL, 0x20_0042, Access::Fetch).unwrap_err();
    assert_eq!(interrupt.vector, Vector::HypervisorInstructionStorage);
    assert_eq!(interrupt.status, storage::NO_TRANSLATION);
}

#[test]
fn a_clear_reference_or_change_bit_is_an_interrupt_of_the_stage_that_has_it() {
    let mut bench = Bench::new();
    bench.guest();
    bench.map(GUEST_ROOT, 0x20_0000, GUEST_MEMORY + 0x20_0000, 12, RWX, false, false);
    let at = bench.map(GUEST_ROOT, 0x20_1000, GUEST_MEMORY + 0x20_1000, 12, RWX, true, false);
    let cause = |interrupt: Interrupt| (interrupt.vector, interrupt.storage.unwrap().status);
    let unreferenced = bench.access(GUEST_REAL, 0x20_0000, Access::Load).unwrap_err();
    let hdsi = Vector::HypervisorDataStorage;
    assert_eq!(cause(unreferenced), (hdsi, Some(storage::REFERENCE_CHANGE)));
    assert!(bench.access(GUEST_REAL, 0x20_1000, Access::Load).is_ok());
    let unchanged = bench.access(GUEST_REAL, 0x20_1000, Access::Store).unwrap_err();
    assert_eq!(cause(unchanged), (hdsi, Some(storage::REFERENCE_CHANGE | storage::STORE)));
    // Raising C needs no tlbie: what would fault is walked again first.
    let word = bench.shared.memory.read_be64(RealAddress(at)).unwrap();
    bench.write(at, word | arch::radix::LEAF_C);
    assert!(bench.access(GUEST_REAL, 0x20_1000, Access::Store).is_ok());
}

#[test]
fn a_stale_translation_stays_in_use_until_it_is_invalidated() {
    let mut bench = Bench::new();
    bench.guest();
    assert_eq!(bench.access(GUEST_REAL, 0x1000, Access::Load), Ok(GUEST_MEMORY + 0x1000));
    bench.map(GUEST_ROOT, 0, 0x800_0000, 21, RWX, true, true);
    assert_eq!(bench.access(GUEST_REAL, 0x1000, Access::Load), Ok(GUEST_MEMORY + 0x1000));
    bench.shared.cores[0].tlb.invalidate(|space, _, _| u64::from(space.lpid()) == LPID);
    assert_eq!(bench.access(GUEST_REAL, 0x1000, Access::Load), Ok(0x800_1000));
}

#[test]
fn privileged_pages_and_key_0_decide_as_the_state_says() {
    let mut bench = Bench::new();
    bench.write(HOST_PROCESS_TABLE + 16 * PID, root_word(HOST_ROOT + 0x1_0000));
    let root = HOST_ROOT + 0x1_0000;
    bench.map(root, 0x1000, 0x800_0000, 12, RWX | rights::PRIVILEGED, true, true);
    bench.map(root, 0x2000, 0x900_0000, 12, RWX, true, true);
    let user = HOST | msr::PR;
    let refused = bench.access(user, 0x1000, Access::Load).unwrap_err();
    assert_eq!(refused.vector, Vector::DataStorage);
    assert_eq!(refused.storage.unwrap().status, Some(storage::PROTECTION));
    assert!(bench.access(HOST, 0x1000, Access::Load).is_ok());
    assert!(bench.access(HOST, 0x2000, Access::Store).is_ok());
    // Key 0 of AMR and IAMR holds for privileged accesses to pages of problem state.
    bench.thread.set_spr(Spr::Amr, arch::bits::bit(0));
    bench.thread.set_spr(Spr::Iamr, arch::bits::bit(1));
    assert!(bench.access(HOST, 0x2000, Access::Load).is_ok());
    assert!(bench.access(HOST, 0x2000, Access::Store).is_err());
    let fetch = bench.access(HOST, 0x2000, Access::Fetch).unwrap_err();
    assert_eq!((fetch.vector, fetch.status), (Vector::InstructionStorage, storage::NO_EXECUTE));
    assert!(bench.access(user, 0x2000, Access::Store).is_ok());
    assert!(bench.access(HOST, 0x1000, Access::Store).is_ok(), "privileged pages have no key");
}

#[test]
fn trees_that_power9_does_not_accept_are_bad_configurations() {
    let mut bench = Bench::new();
    bench.guest();
    let odd_root = Root { space_log2: 52, base: RealAddress(GUEST_ROOT), entries_log2: 12 };
    bench.write(PARTITION_TABLE + 16 * LPID, odd_root.to_doubleword() | PATE0_HR);
    let interrupt = bench.access(GUEST_REAL, 0x1000, Access::Load).unwrap_err();
    assert_eq!(interrupt.storage.unwrap().status, Some(storage::BAD_CONFIGURATION));
    bench.write(PARTITION_TABLE + 16 * LPID, root_word(GUEST_ROOT));
    let interrupt = bench.access(GUEST_REAL, 0x1000, Access::Load).unwrap_err();
    assert_eq!(interrupt.vector, Vector::HypervisorDataStorage, "PATE[HR]=0 under LPCR[HR]=1");
    assert_eq!(interrupt.storage.unwrap().status, Some(storage::BAD_CONFIGURATION));
}

#[test]
fn a_guest_with_lpid_0_has_no_translation() {
    let mut bench = Bench::new();
    bench.thread.set_spr(Spr::Lpidr, 0);
    let interrupt = bench.access(GUEST_REAL, 0x1000, Access::Load).unwrap_err();
    assert_eq!(interrupt.vector, Vector::HypervisorDataStorage);
    assert_eq!(interrupt.storage.unwrap().status, Some(storage::BAD_CONFIGURATION));
}

#[test]
fn a_walks_path_lists_the_entries_in_the_order_in_which_they_are_read() {
    let mut bench = Bench::new();
    bench.guest();
    let leaf = bench.map(GUEST_MEMORY + 0x10_0000, 0x4567_0000, 0x8_0000, 16, RWX, true, true);
    bench.thread.set_msr(GUEST);
    let before = bench.shared.cores[0].clone();
    let address = EffectiveAddress(0x4567_1234);
    let path = walk_path(&bench.thread, &bench.shared, address, Access::Load);
    assert!(path.is_none(), "the process's tables lie where the partition has nothing");

    // Tables of the process at the same real and guest real address.
    bench.map(GUEST_ROOT, 0, 0, 30, RWX, true, true);
    bench.partition(LPID, GUEST_ROOT, 0x1_0000);
    bench.write(0x1_0000 + 16 * PID, root_word(GUEST_MEMORY + 0x10_0000));
    let path = walk_path(&bench.thread, &bench.shared, address, Access::Load).unwrap();
    assert_eq!(path.page_log2, 16);
    assert_eq!(path.guest_real.map(|page| page.0), Some(0x8_0000));
    assert_eq!(path.reads[0].place as u64, PARTITION_TABLE + 16 * LPID);
    let stages: Vec<bool> = path.reads.iter().map(|read| read.is_process).collect();
    // 1 GB pages take a directory and a leaf: before each of five entries of the process, and at the end.
    let step = [false, false, true];
    assert_eq!(stages, [&[false][..], &step.repeat(5), &[false, false]].concat());
    let process: Vec<_> = path.reads.iter().filter(|read| read.is_process).collect();
    assert_eq!(process[0].place as u64, 0x1_0000 + 16 * PID);
    assert_eq!(process[4].place as u64, leaf);
    assert_eq!((process[4].key, process[3].key.is_some()), (None, true));
    let (lpid, pid) = (LPID as u32, PID as u32);
    assert_eq!(process[0].key, Some(WalkKey::ProcessEntry { lpid, pid }));
    assert_eq!(bench.shared.cores[0], before, "looking changes nothing");

    assert_eq!(
        space(&bench.thread, &bench.shared, address, Access::Load).map(|found| found.0),
        Some(Space::Process { lpid, pid })
    );
    bench.thread.set_msr(GUEST_REAL);
    assert_eq!(
        space(&bench.thread, &bench.shared, address, Access::Load).map(|found| found.0),
        Some(Space::GuestReal { lpid })
    );
    let path = walk_path(&bench.thread, &bench.shared, EffectiveAddress(0x1000), Access::Load);
    assert_eq!(path.unwrap().reads.len(), 3, "the partition's stage alone");
    bench.thread.set_msr(msr::SF | msr::HV);
    assert_eq!(space(&bench.thread, &bench.shared, address, Access::Load), None);
    assert!(walk_path(&bench.thread, &bench.shared, address, Access::Load).is_none());
}

#[test]
fn a_walk_that_finds_nothing_is_that_of_the_page_that_the_tlb_still_has() {
    let mut bench = Bench::new();
    bench.guest();
    let address = EffectiveAddress(0x20_1000);
    let leaf = bench.map(GUEST_ROOT, address.0, GUEST_MEMORY, 12, RWX, true, true);
    bench.access(GUEST_REAL, address.0, Access::Load).unwrap();
    let path = |bench: &Bench| walk_path(&bench.thread, &bench.shared, address, Access::Load);
    assert!(!path(&bench).unwrap().reads.is_empty());
    bench.write(leaf, 0);
    let known = path(&bench).expect("the access itself is served");
    assert_eq!((known.page_log2, known.reads.len()), (12, 0));
    bench.shared.cores[0].tlb.invalidate(|_, _, _| true);
    assert_eq!(path(&bench), None);
}

#[test]
fn a_page_that_may_only_be_executed_refuses_loads_and_one_that_may_be_written_may_be_read() {
    let mut bench = Bench::new();
    bench.guest();
    let permitted = [(rights::EXECUTE, [false, false, true]), (rights::WRITE, [true, true, false])]
        .into_iter()
        .chain([(rights::READ, [true, false, false]), (0, [false; 3])])
        .chain([(rights::READ | rights::WRITE, [true, true, false])]);
    for (page, (eaa, expected)) in permitted.enumerate() {
        let address = 0x20_0000 + 0x1000 * page as u64;
        bench.map(GUEST_ROOT, address, GUEST_MEMORY, 12, eaa, true, true);
        let found = [Access::Load, Access::Store, Access::Fetch]
            .map(|access| bench.access(GUEST_REAL, address, access).is_ok());
        assert_eq!(found, expected, "EAA {eaa:#b}");
    }
}

#[test]
fn a_fault_of_the_hypervisors_own_tables_is_not_a_partitions() {
    let mut bench = Bench::new();
    // Its process table lies where its own partition-scoped tree maps nothing.
    bench.partition(0, HOST_ROOT, 0x7000_0000);
    let load = bench.access(HOST, 0x1000, Access::Store).unwrap_err();
    assert_eq!(load.vector, Vector::DataStorage);
    let expected = storage::NO_TRANSLATION | storage::TABLE_WALK | storage::STORE;
    assert_eq!(load.storage.unwrap().status, Some(expected));
    let fetch = bench.access(HOST, 0x1000, Access::Fetch).unwrap_err();
    assert_eq!(fetch.vector, Vector::InstructionStorage);
    assert_eq!(fetch.status, storage::NO_TRANSLATION | storage::TABLE_WALK);
}

#[test]
fn looking_finds_what_an_access_finds_and_keeps_nothing() {
    let mut bench = Bench::new();
    bench.guest();
    bench.thread.set_msr(GUEST_REAL);
    let look =
        |bench: &Bench, at| look(&bench.thread, &bench.shared, EffectiveAddress(at), Access::Load);
    assert_eq!(look(&bench, 0x1234), Some(RealAddress(GUEST_MEMORY + 0x1234)));
    assert_eq!(look(&bench, 0x4000_0000), None);
    bench.map(GUEST_ROOT, 0, 0x800_0000, 21, RWX, true, true);
    assert_eq!(look(&bench, 0x1234), Some(RealAddress(0x800_1234)), "nothing was kept");
}
