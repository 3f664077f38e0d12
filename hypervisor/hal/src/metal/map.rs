//! The hypervisor's own translation: its tree, the partition table, and windows.

use core::ptr;

use arch::address::RealAddress;
use arch::radix::{Leaf, PARTITION_TABLE_LOG2, PATE0_HR, TableLocation, rights};
use hypervisor_core::hal::HalError;
use hypervisor_core::memory::Range;
use hypervisor_core::schedule::VcpuId;
use hypervisor_core::sync::Lock;

use super::Single;
use super::memory::{
    HEAP_BASE, HeapTables, IMAGE_BASE, ImageTables, PINNED_BASE, WINDOW_BASE, real_of,
};
use super::registers::{Scope, invalidate, ptesync};
use crate::radix::{MapError, PAGE_2M, PAGE_4K, PAGE_64K, TableMemory, Tree};
use crate::windows::{SLOT_LOG2, Slots, Taken};

const RIGHTS_TEXT: u64 = rights::PRIVILEGED | rights::READ | rights::EXECUTE;
const RIGHTS_CONSTANT: u64 = rights::PRIVILEGED | rights::READ;
const RIGHTS_DATA: u64 = rights::PRIVILEGED | rights::READ | rights::WRITE;

const LPIDS: usize = 1 << (PARTITION_TABLE_LOG2 - 4);

#[repr(C, align(0x10000))]
struct PartitionTable {
    entries: [[u64; 2]; LPIDS],
}

/// LPID 0's process table: PID 0 alone, so that no guest's PIDR finds a translation in it.
#[repr(C, align(0x1000))]
struct ProcessTable {
    entries: [[u64; 2]; 256],
}

#[unsafe(link_section = ".bss.tables")]
static PARTITION_TABLE: Single<PartitionTable> =
    Single::new(PartitionTable { entries: [[0; 2]; LPIDS] });
#[unsafe(link_section = ".bss.tables")]
static PROCESS_TABLE: Single<ProcessTable> = Single::new(ProcessTable { entries: [[0; 2]; 256] });

static TREE: Single<Option<Tree>> = Single::new(None);
/// Whoever changes the tree after boot holds this.
static SLOTS: Lock<Slots> = Lock::new(Slots::new());

unsafe extern "C" {
    static image_start: u8;
    static image_rodata_start: u8;
    static image_data_start: u8;
    static image_end: u8;
}

/// The image in real memory.
pub(super) fn image() -> Range {
    let bytes = (&raw const image_end) as u64 - (&raw const image_start) as u64;
    Range { start: RealAddress(0), bytes }
}

const fn leaf(base: RealAddress, rights: u64) -> Leaf {
    // POWER9 raises an interrupt where it would have to set R or C.
    Leaf { base, rights, attributes: 0, referenced: true, changed: true }
}

fn tree() -> Tree {
    // SAFETY: written once, in `build`, before the first use.
    unsafe { *TREE.get() }.expect("the tree was built at boot")
}

/// Builds the hypervisor's tree over its image and announces it in the tables; answers PTCR.
pub(super) fn build() -> Result<u64, MapError> {
    let tree = Tree::new(&mut ImageTables)?;
    // SAFETY: nothing else refers to the tree yet.
    unsafe { *TREE.get() = Some(tree) };
    let mut address = (&raw const image_start) as u64 + (1 << PAGE_4K);
    let rodata = (&raw const image_rodata_start) as u64;
    let data = (&raw const image_data_start) as u64;
    while address < (&raw const image_end) as u64 {
        let rights = match address {
            _ if address >= data => RIGHTS_DATA,
            _ if address >= rodata => RIGHTS_CONSTANT,
            _ => RIGHTS_TEXT,
        };
        let page = leaf(RealAddress(address - IMAGE_BASE), rights);
        tree.map(&mut ImageTables, address, PAGE_4K, page)?;
        address += 1 << PAGE_4K;
    }

    let process = PROCESS_TABLE.get();
    // SAFETY: aligned doublewords of statics that only this module writes.
    unsafe {
        ptr::write_volatile(&raw mut (*process).entries[0][0], tree.root_doubleword().to_be())
    };
    // The processor reads the process table through LPID 0's second stage. The same tree serves: in
    // the image, offset and real address are equal.
    let process = TableLocation { base: real_of(process as u64), bytes_log2: PAGE_4K };
    set_partition(0, PATE0_HR | tree.root_doubleword(), process.to_doubleword());
    Ok(ptcr())
}

/// Where the partition table is.
pub(super) fn ptcr() -> u64 {
    let base = real_of(PARTITION_TABLE.get() as u64);
    TableLocation { base, bytes_log2: PARTITION_TABLE_LOG2 }.to_doubleword()
}

/// Maps the heap.
pub(super) fn map_heap(range: Range) -> Result<(), MapError> {
    for offset in (0..range.bytes).step_by(1 << PAGE_2M) {
        let page = leaf(range.start.wrapping_add(offset), RIGHTS_DATA);
        tree().map(&mut ImageTables, HEAP_BASE + offset, PAGE_2M, page)?;
    }
    ptesync();
    Ok(())
}

/// Writes an entry of the partition table. Invalidation is the caller's, once the old is in use.
pub(super) fn set_partition(lpid: u32, first: u64, second: u64) {
    let table = PARTITION_TABLE.get();
    // SAFETY: the index is checked; aligned doublewords of a static that only this function writes.
    unsafe {
        let entry = &raw mut (*table).entries[lpid as usize];
        ptr::write_volatile(&raw mut (*entry)[1], second.to_be());
        ptr::write_volatile(&raw mut (*entry)[0], first.to_be());
    }
    ptesync();
}

/// Replaces the second doubleword of a partition's entry: where its process table lies.
pub(super) fn set_process_table(lpid: u32, second: u64) {
    let table = PARTITION_TABLE.get();
    // SAFETY: as in `set_partition`.
    unsafe {
        ptr::write_volatile(&raw mut (*table).entries[lpid as usize][1], second.to_be());
    }
    invalidate(Scope::Partition(lpid));
}

/// Number of partitions that the table has room for.
pub(super) const fn lpids() -> u32 {
    LPIDS as u32
}

/// A mapped range: where it is, and what has to be undone.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Where its first page is.
    base: u64,
    pages: u64,
    /// Its slot; a pinned one has a place of its own.
    slot: Option<usize>,
    /// The first byte asked for.
    pub(super) pointer: *mut u8,
    /// How many bytes were asked for.
    pub(super) bytes: usize,
}

// SAFETY: the memory is mapped for all threads alike.
unsafe impl Send for Mapping {}

/// The first of the 64 KiB pages that `bytes` bytes at `address` lie in, and their number.
fn pages_of(address: RealAddress, bytes: u64) -> Result<(RealAddress, u64), HalError> {
    let first = address.align_down(PAGE_64K);
    let end = address.checked_add(bytes).ok_or(HalError::BadRange)?;
    if bytes == 0 || end.0 >> 52 != 0 {
        return Err(HalError::BadRange);
    }
    Ok((first, (end.0 - first.0).div_ceil(1 << PAGE_64K)))
}

/// Maps pages of real memory at `base`, with the tree locked.
fn map_pages(
    memory: &mut impl TableMemory,
    base: u64,
    first: RealAddress,
    pages: u64,
) -> Result<(), HalError> {
    for offset in (0..pages).map(|page| page << PAGE_64K) {
        let page = leaf(first.wrapping_add(offset), RIGHTS_DATA);
        let mapped = tree().map(memory, base + offset, PAGE_64K, page);
        mapped.map_err(|error| match error {
            MapError::OutOfTables => HalError::OutOfTables,
            MapError::Conflict | MapError::Unaligned => HalError::MapConflict,
        })?;
    }
    ptesync();
    Ok(())
}

/// Maps real memory that is not the hypervisor's own.
pub(super) fn map_window(address: RealAddress, bytes: u64) -> Result<Mapping, HalError> {
    let (first, pages) = pages_of(address, bytes)?;
    if pages << PAGE_64K > 1 << SLOT_LOG2 {
        return Err(HalError::BadRange);
    }
    let mut slots = SLOTS.lock();
    let slot = match slots.take().ok_or(HalError::OutOfWindows)? {
        Taken::Clean(slot) => slot,
        Taken::AfterInvalidation(slot) => {
            invalidate(Scope::Host);
            slot
        }
    };
    let base = WINDOW_BASE + ((slot as u64) << SLOT_LOG2);
    map_pages(&mut ImageTables, base, first, pages)?;
    let pointer = (base + (address.0 - first.0)) as *mut u8;
    Ok(Mapping { base, pages, slot: Some(slot), pointer, bytes: bytes as usize })
}

/// Maps real memory, all in one 64 KiB page, at the place that is the vCPU's own.
pub(super) fn pin_window(
    vcpu: VcpuId,
    address: RealAddress,
    bytes: u64,
) -> Result<Mapping, HalError> {
    let (first, pages) = pages_of(address, bytes)?;
    if pages != 1 {
        return Err(HalError::BadRange);
    }
    let base = PINNED_BASE + (u64::from(vcpu.0) << PAGE_64K);
    let _tree = SLOTS.lock();
    map_pages(&mut HeapTables, base, first, pages)?;
    let pointer = (base + (address.0 - first.0)) as *mut u8;
    Ok(Mapping { base, pages, slot: None, pointer, bytes: bytes as usize })
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let mut slots = SLOTS.lock();
        for page in 0..self.pages {
            tree().unmap(&mut ImageTables, self.base + (page << PAGE_64K));
        }
        match self.slot {
            Some(slot) => slots.give_back(slot),
            // It seldom ends, and its place may be used again at once.
            None => invalidate(Scope::Host),
        }
    }
}
