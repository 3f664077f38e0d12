//! What a partition with a hashed page table must not do to it.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use arch::hash::{self, EntryForm, GROUP_ENTRIES, first, second};
use arch::interrupt::Vector;
use arch::papr::status::{H_LONG_BUSY_ORDER_1_MSEC, H_PARAMETER, H_SUCCESS};
use arch::papr::{Hypercall, hashed};
use rt::random::Numbers;

use crate::misbehavior::load;

/// Groups of the smallest table, which a partition of 16 MiB has, and its slots.
const GROUPS: u64 = 0x800;
const SLOTS: u64 = GROUPS * GROUP_ENTRIES as u64;
/// A virtual segment of 1 TiB that nobody uses, and the run time's own.
const VSID: u64 = 0x55_5555;
const OWN_VSID: u64 = 0x12_3456;
const SEGMENT_LOG2: u32 = 40;

fn call(call: Hypercall, arguments: [u64; 4]) -> i64 {
    rt::hypercall(call as u64, arguments)
}

/// The first doubleword for an address in a segment of 1 TiB, of a page of 4 KiB.
fn word(vsid: u64, offset: u64) -> u64 {
    let low = first::AVA_OMITS_LOG2;
    let address = vsid << (SEGMENT_LOG2 - low) | offset >> low;
    EntryForm::V2.segment_size.set(address << first::AVA_SHIFT | first::V, 1)
}

fn slot(vsid: u64, base_log2: u32, offset: u64) -> u64 {
    let hashed = hash::hash(vsid, SEGMENT_LOG2, base_log2, offset);
    (hashed & (GROUPS - 1)) * GROUP_ENTRIES as u64
}

/// Entries that it must not have: none of them is put into the table.
pub(crate) fn enter(partition: rt::Partition) {
    let memory = partition.memory_bytes();
    let good = word(VSID, 0);
    let normal = second::M;
    let mut numbers = Numbers::new(6);
    let mut wrong = 0;
    let mut tried = 0;
    let mut refuse = |slot: u64, word: u64, page: u64| {
        tried += 1;
        let status = call(Hypercall::Enter, [0, slot, word, page]);
        wrong += u32::from(status != H_PARAMETER);
    };
    // Memory that is not its own: behind its end, the hypervisor's at 0, anywhere.
    for page in [memory, memory + 0x1000, 1 << 40, EntryForm::V2.address & !0xF_FFFF] {
        refuse(0, good, page | normal);
    }
    for _ in 0..1000 {
        let page = numbers.next() & EntryForm::V2.address & !0xFFF;
        if page >= memory {
            refuse(numbers.below(SLOTS), good, page | normal);
        }
    }
    // Larger pages that reach beyond its end, and sizes that nobody has.
    refuse(0, good | first::L, memory | 0x7 << 12 | normal);
    refuse(0, good | first::L, memory - 0x1_0000 | 0x2 << 12 | normal);
    refuse(0, good | first::L, memory | 0x38 << 12 | normal);
    refuse(0, good | first::L, 0x3 << 12 | normal);
    // Attributes that memory must not have.
    for attributes in 0..16 {
        if attributes << 3 != normal {
            refuse(0, good, 0x1000 | attributes << 3);
        }
    }
    // Slots that are not there, segments that nobody has, bits that mean nothing, and no entry at all.
    for slot in [SLOTS, SLOTS + 1, u64::MAX, 1 << 60] {
        refuse(slot, good, normal);
    }
    refuse(0, EntryForm::V2.segment_size.set(good, 2), normal);
    refuse(0, EntryForm::V2.segment_size.set(good, 3), normal);
    refuse(0, good | 1 << 55, normal);
    refuse(0, good, normal | 1 << 62);
    refuse(0, good & !first::V, normal);
    rt::println!("misbehave: {wrong} of {tried} wrong entries taken");
}

/// Two entries of different size for one page, and an access there.
pub(crate) fn two_sizes(partition: rt::Partition) {
    const ADDRESS: u64 = 0x20_0000;
    rt::enable_translation(partition.memory_bytes());
    let place = slot(OWN_VSID, 16, ADDRESS);
    let large = word(OWN_VSID, ADDRESS) | first::L;
    let entered = call(Hypercall::Enter, [0, place, large, 0x8 << 12 | second::M]);
    rt::println!("misbehave: a second entry: {entered}");
    load(ADDRESS);
}

/// A table that is full of its own entries, and then accesses with relocation off to pages that it had not touched. The
/// hypervisor's entries may make room for some.
pub(crate) fn full(partition: rt::Partition) {
    for slot in 0..SLOTS {
        // Another address in each, so that none is there twice.
        let entry = word(VSID, slot << 23);
        call(Hypercall::Enter, [hashed::EXACT, slot, entry, second::M]);
    }
    rt::println!("misbehave: the table is full");
    partition.free_memory().step_by(0x1000).for_each(|address| _ = load(address & !0xFFF));
}

/// Asks for a table of `1 << bytes_log2` bytes until it is ready, or refused.
pub(crate) fn prepare(bytes_log2: u64) -> i64 {
    loop {
        let status = call(Hypercall::ResizeHptPrepare, [0, bytes_log2, 0, 0]);
        if status != H_LONG_BUSY_ORDER_1_MSEC {
            return status;
        }
    }
}

/// The first vCPU changes the size of the table, forth and back, while all others put entries into it and take them
/// out; what is bolted has to be found each time.
pub(crate) fn resize(partition: rt::Partition) {
    const BOLTED: u64 = 64;
    const CHANGES: u64 = 12;
    fn work(number: u32) {
        let mut numbers = Numbers::new(11 + u64::from(number));
        loop {
            let slot = numbers.below(2 * SLOTS);
            match numbers.below(3) {
                0 => call(Hypercall::Enter, [0, slot, word(VSID + 1, slot << 23), second::M]),
                1 => call(Hypercall::Remove, [hashed::AND_CONDITION, slot, hashed::BOLTED, 0]),
                _ => call(Hypercall::ClearRef, [0, slot, 0, 0]),
            };
            TURNS.fetch_add(1, Relaxed);
        }
    }
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    // Pages of 4 KiB of a segment each, whose groups differ by the size of the table.
    let hashed = |index: u64| hash::hash(VSID + 2, SEGMENT_LOG2, 12, index * 0x51 << 12);
    let entry = |index: u64| word(VSID + 2, index * 0x51 << 12) | hashed::BOLTED;
    let group = |index, bytes_log2: u64| hashed(index) & ((1 << (bytes_log2 - 7)) - 1);
    let place = |index, bytes_log2| group(index, bytes_log2) * GROUP_ENTRIES as u64;
    let [small, large] = [18, 19];
    for index in 0..BOLTED {
        let entered = [0, place(index, small), entry(index), index << 12 | second::M];
        assert_eq!(call(Hypercall::Enter, entered), H_SUCCESS, "H_ENTER");
    }
    for vcpu in 1..partition.vcpus() {
        assert_eq!(rt::start_vcpu(vcpu, work), 0, "start-cpu");
    }
    let mut lost = 0;
    let mut statuses = [0; 4];
    for change in 0..CHANGES {
        let bytes_log2 = if change % 2 == 0 { large } else { small };
        let ready = prepare(bytes_log2);
        let done = call(Hypercall::ResizeHptCommit, [0, bytes_log2, 0, 0]);
        statuses = [ready, done, prepare(21), call(Hypercall::ResizeHptCommit, [0, 20, 0, 0])];
        for index in 0..BOLTED {
            let is_there = |slot| {
                let (_, read) = rt::hypercall_outputs(Hypercall::Read as u64, [0, slot, 0, 0]);
                read[0] == entry(index) && read[1] & 0xFFFF_F000 == index << 12
            };
            let start = place(index, bytes_log2);
            lost += u32::from(!(start..start + GROUP_ENTRIES as u64).any(is_there));
        }
        // The others have the table for a while.
        let turns = TURNS.load(Relaxed);
        while partition.vcpus() > 1 && TURNS.load(Relaxed).wrapping_sub(turns) < 100 {
            core::hint::spin_loop();
        }
    }
    rt::println!("misbehave: {CHANGES} changes of size, {lost} entries lost, {statuses:?}");
}

static TURNS: AtomicU32 = AtomicU32::new(0);

/// All vCPUs put entries into the same slots, change them, read them and take them out, four at a time.
pub(crate) fn race(partition: rt::Partition) {
    const PLACES: u64 = 16;
    fn work(number: u32) {
        let mut numbers = Numbers::new(7 + u64::from(number));
        loop {
            let slot = numbers.below(PLACES);
            let request = |slot: u64| hashed::KIND.set(slot, hashed::REQUEST);
            match numbers.below(7) {
                0 | 1 => {
                    let entry = word(VSID, slot << 23);
                    let rights = numbers.below(4);
                    call(Hypercall::Enter, [hashed::EXACT, slot, entry, second::M | rights])
                }
                2 => call(Hypercall::Remove, [0, slot, 0, 0]),
                3 => call(Hypercall::Protect, [numbers.below(4), slot, 0, 0]),
                4 => call(Hypercall::ClearRef, [0, slot, 0, 0]),
                5 => {
                    let other = request(numbers.below(PLACES));
                    let end = hashed::KIND.set(0, hashed::END);
                    call(Hypercall::BlockRemove, [0, request(slot), other, end])
                }
                _ => {
                    // Two requests that two vCPUs make in either order.
                    let other = request(numbers.below(PLACES));
                    call(Hypercall::BulkRemove, [request(slot), 0, other, 0])
                }
            };
            let (status, [entry, ..]) =
                rt::hypercall_outputs(Hypercall::Read as u64, [0, slot, 0, 0]);
            let is_whole = entry == 0 || entry & !0x7F == word(VSID, slot << 23) & !0x7F;
            assert!(status == H_SUCCESS && is_whole, "slot {slot} reads {entry:#x}");
            TURNS.fetch_add(1, Relaxed);
        }
    }
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    for vcpu in 1..partition.vcpus() {
        assert_eq!(rt::start_vcpu(vcpu, work), 0, "start-cpu");
    }
    work(0);
}
