//! The hypervisor's own translation: its tree, the partition table, and windows.

use core::ptr;

use arch::address::RealAddress;
use arch::radix::{PARTITION_TABLE_LOG2, PATE0_HR, TableLocation, rights};
use hypervisor_core::hal::HalError;
use hypervisor_core::memory::Range;
use hypervisor_core::scheduling::queue::VcpuId;
use hypervisor_core::sync::Lock;

use super::memory::{
    HEAP_BASE, HeapTables, IMAGE_BASE, ImageTables, PINNED_BASE, WINDOW_BASE, real_of,
};
use super::windows::{Opened, RIGHTS_DATA, Reserved, Windows, leaf};
use crate::metal::registers::{Scope, invalidate, ptesync};
use crate::radix::{MapError, PAGE_2M, PAGE_4K, PAGE_64K, Tree};
use crate::single::Single;

const RIGHTS_TEXT: u64 = rights::PRIVILEGED | rights::READ | rights::EXECUTE;
const RIGHTS_CONSTANT: u64 = rights::PRIVILEGED | rights::READ;

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

/// The hypervisor's tree, from [`build`] on.
static WINDOWS: Lock<Option<Windows>> = Lock::new(None);

unsafe extern "C" {
    static image_start: u8;
    static image_rodata_start: u8;
    static image_data_start: u8;
    static image_end: u8;
}

/// The image in real memory.
pub(crate) fn image() -> Range {
    let bytes = (&raw const image_end) as u64 - (&raw const image_start) as u64;
    Range { start: RealAddress(0), bytes }
}

/// Does something with the hypervisor's tree, which nobody else does meanwhile.
fn with_windows<T>(work: impl FnOnce(&mut Windows) -> T) -> T {
    work(WINDOWS.lock().as_mut().expect("the tree was built at boot"))
}

/// Builds the hypervisor's tree over its image and announces it in the tables; answers PTCR.
pub(crate) fn build() -> Result<u64, MapError> {
    let mut tree = Tree::new(&mut ImageTables)?;
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
    // SAFETY: the tree maps the image where it runs, and stays: nothing takes tables out of it.
    unsafe { set_partition(0, PATE0_HR | tree.root_doubleword(), process.to_doubleword()) };
    *WINDOWS.lock() = Some(Windows::new(tree, WINDOW_BASE));
    Ok(ptcr())
}

/// Where the partition table is.
pub(crate) fn ptcr() -> u64 {
    let base = real_of(PARTITION_TABLE.get() as u64);
    TableLocation { base, bytes_log2: PARTITION_TABLE_LOG2 }.to_doubleword()
}

/// Maps the heap.
pub(crate) fn map_heap(range: Range) -> Result<(), MapError> {
    for offset in (0..range.bytes).step_by(1 << PAGE_2M) {
        let page = leaf(range.start.wrapping_add(offset), RIGHTS_DATA);
        with_windows(|windows| {
            windows.tree.map(&mut ImageTables, HEAP_BASE + offset, PAGE_2M, page)
        })?;
    }
    ptesync();
    Ok(())
}

/// Writes an entry of the partition table. Invalidation is the caller's, once the old is in use.
///
/// # Safety
/// The doublewords name a tree that outlives the entry and in which a partition finds nothing that is not its own.
/// For LPID 0 it maps what the hypervisor has where it has it.
pub(crate) unsafe fn set_partition(lpid: u32, first: u64, second: u64) {
    let table = PARTITION_TABLE.get();
    // SAFETY: the index is checked; aligned doublewords of a static that only this module writes.
    unsafe {
        let entry = &raw mut (*table).entries[lpid as usize];
        ptr::write_volatile(&raw mut (*entry)[1], second.to_be());
        ptr::write_volatile(&raw mut (*entry)[0], first.to_be());
    }
    ptesync();
}

/// Replaces the second doubleword of a partition's entry: where its process table lies, by an address of its own.
pub(crate) fn set_process_table(lpid: u32, second: u64) {
    assert!(lpid != 0, "the hypervisor's own process table stays");
    let table = PARTITION_TABLE.get();
    // SAFETY: as in `set_partition`.
    unsafe {
        ptr::write_volatile(&raw mut (*table).entries[lpid as usize][1], second.to_be());
    }
    invalidate(Scope::Partition(lpid));
}

/// Number of partitions that the table has room for.
pub(crate) const fn lpids() -> u32 {
    LPIDS as u32
}

/// A mapped range; what was mapped is undone at its end.
#[derive(Debug)]
pub(crate) struct Mapping {
    opened: Opened,
    /// The first byte asked for.
    pub(crate) pointer: *mut u8,
    /// How many bytes were asked for.
    pub(crate) bytes: usize,
}

// SAFETY: the memory is mapped for all threads alike.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(opened: Opened, bytes: u64) -> Self {
        // The processor may walk to the new entries once the stores to them are done.
        ptesync();
        Self { pointer: opened.address as *mut u8, opened, bytes: bytes as usize }
    }
}

/// Maps real memory that is not the hypervisor's own.
pub(crate) fn map_window(
    reserved: &Reserved,
    address: RealAddress,
    bytes: u64,
) -> Result<Mapping, HalError> {
    let range = Range { start: address, bytes };
    reserved.refuse(range)?;
    let invalidate = || invalidate(Scope::Host);
    let opened = with_windows(|windows| windows.open(&mut ImageTables, range, invalidate))?;
    Ok(Mapping::new(opened, bytes))
}

/// Maps such memory, all in one 64 KiB page, at the place that is the vCPU's own.
pub(crate) fn pin_window(
    reserved: &Reserved,
    vcpu: VcpuId,
    address: RealAddress,
    bytes: u64,
) -> Result<Mapping, HalError> {
    let range = Range { start: address, bytes };
    reserved.refuse(range)?;
    let base = PINNED_BASE + (u64::from(vcpu.0) << PAGE_64K);
    let opened = with_windows(|windows| windows.pin(&mut HeapTables, base, range))?;
    Ok(Mapping::new(opened, bytes))
}

impl Drop for Mapping {
    fn drop(&mut self) {
        with_windows(|windows| {
            windows.close(&mut ImageTables, &self.opened);
            if self.opened.is_pinned() {
                // It seldom ends, and its place may be used again at once.
                invalidate(Scope::Host);
            }
        });
    }
}
