//! The hypervisor's own translation: its tree, the tables of partitions and processes, and windows that stay open.

use core::ptr;

use arch::address::RealAddress;
use arch::radix::{PARTITION_TABLE_LOG2, PATE0_HR, TableLocation, rights};
use hypervisor_core::hal::HalError;
use hypervisor_core::memory::Range;
use hypervisor_core::sync::Lock;
use hypervisor_core::vcpu_id::VcpuId;

use super::image_tables::ImageTables;
use super::layout::{DEVICE_TREE_BASE, DIRECT_BASE, PINNED_BASE};
use super::memory::{HeapTables, IMAGE_BASE, address_of, real_of};
use super::windows::{RIGHTS_DATA, Reserved, leaf, pin};
use crate::invalidation::{Scope, invalidate};
use crate::radix::{LastTable, MapError, PAGE_1G, PAGE_2M, PAGE_4K, PAGE_64K, Tree};
use crate::registers::ptesync;
use crate::single::Single;

/// How the hypervisor's own addresses are translated.
pub(crate) const NAME: &str = "radix translation";

const RIGHTS_TEXT: u64 = rights::PRIVILEGED | rights::READ | rights::EXECUTE;
const RIGHTS_CONSTANT: u64 = rights::PRIVILEGED | rights::READ;

const LPIDS: usize = 1 << (PARTITION_TABLE_LOG2 - 4);

#[repr(C, align(0x10000))]
struct PartitionTable {
    entries: [[u64; 2]; LPIDS],
}

/// LPID 0's process table: PID 0 for quadrant 3, and a PID for each hardware thread, so that a guest's PIDR
/// finds nothing in it but the slots of one thread.
#[repr(C, align(0x1000))]
struct ProcessTable {
    entries: [[u64; 2]; PIDS],
}

/// PIDs that the table has room for.
pub(crate) const PIDS: usize = 1 << (PAGE_4K - 4);

#[unsafe(link_section = ".bss.tables")]
static PARTITION_TABLE: Single<PartitionTable> =
    Single::new(PartitionTable { entries: [[0; 2]; LPIDS] });
#[unsafe(link_section = ".bss.tables")]
static PROCESS_TABLE: Single<ProcessTable> = Single::new(ProcessTable { entries: [[0; 2]; PIDS] });

/// The hypervisor's tree, from [`build`] on.
static TREE: Lock<Option<Tree>> = Lock::new(None);

unsafe extern "C" {
    static image_start: u8;
    static image_rodata_start: u8;
    static image_data_start: u8;
    static image_end: u8;
}

/// Does something with the hypervisor's tree, which nobody else does meanwhile.
fn with_tree<T>(work: impl FnOnce(&mut Tree) -> T) -> T {
    work(TREE.lock().as_mut().expect("the tree was built at boot"))
}

/// Builds the hypervisor's tree over its image and announces it in the tables.
pub(crate) fn build() -> Result<(), MapError> {
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

    set_process(0, &tree);
    // The processor reads the process table through LPID 0's second stage. The same tree serves: in
    // the image, offset and real address are equal.
    let process = TableLocation { base: real_of(PROCESS_TABLE.get() as u64), bytes_log2: PAGE_4K };
    // SAFETY: the tree maps the image where it runs, and stays: nothing takes tables out of it.
    unsafe { set_partition(0, PATE0_HR | tree.root_doubleword(), process.to_doubleword()) };
    *TREE.lock() = Some(tree);
    Ok(())
}

/// Where the partition table is.
pub(crate) fn ptcr() -> u64 {
    let base = real_of(PARTITION_TABLE.get() as u64);
    TableLocation { base, bytes_log2: PARTITION_TABLE_LOG2 }.to_doubleword()
}

/// Names the tree of one of the hypervisor's PIDs, which had none.
pub(crate) fn set_process(pid: u32, tree: &Tree) {
    let table = PROCESS_TABLE.get();
    // SAFETY: the index is checked; an aligned doubleword of a static that only this module writes.
    unsafe {
        let entry = &raw mut (*table).entries[pid as usize][0];
        ptr::write_volatile(entry, tree.root_doubleword().to_be());
    }
    ptesync();
}

/// The table of the hypervisor's own tree for 2 MiB of windows.
pub(crate) fn last_table(address: u64) -> Result<LastTable, HalError> {
    Ok(with_tree(|tree| tree.last_table(&mut HeapTables, address))?)
}

/// Maps the gibibytes in which all memory lies.
pub(crate) fn map_all(memory: &mut dyn Iterator<Item = Range>) -> Result<(), HalError> {
    let end = memory.map(Range::end).max().unwrap_or(0);
    for start in (0..end).step_by(1 << PAGE_1G) {
        let page = leaf(RealAddress(start), RIGHTS_DATA);
        with_tree(|tree| tree.map(&mut HeapTables, DIRECT_BASE + start, PAGE_1G, page))?;
    }
    ptesync();
    Ok(())
}

/// Maps the heap.
pub(crate) fn map_heap(range: Range) -> Result<(), MapError> {
    for offset in (0..range.bytes).step_by(1 << PAGE_2M) {
        let real = range.start.wrapping_add(offset);
        let page = leaf(real, RIGHTS_DATA);
        with_tree(|tree| tree.map(&mut ImageTables, address_of(real), PAGE_2M, page))?;
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

/// Memory that is mapped for good: firmware's device tree.
#[derive(Debug)]
pub(crate) struct Kept {
    start: RealAddress,
    /// Pages that are mapped.
    pages: u64,
}

/// Bytes that there is room for, from the first page on.
pub(crate) const KEPT_BYTES_MAX: u64 = 1 << PAGE_2M;

impl Kept {
    /// Nothing of it is mapped.
    pub(crate) const fn at(start: RealAddress) -> Self {
        Self { start, pages: 0 }
    }

    /// So many bytes of it, mapped.
    pub(crate) fn bytes(&mut self, reserved: &Reserved, bytes: u64) -> Result<*mut u8, HalError> {
        reserved.refuse(Range { start: self.start, bytes })?;
        let offset = self.start.offset(PAGE_64K);
        if bytes > KEPT_BYTES_MAX - offset {
            return Err(HalError::BadRange);
        }
        let pages = (offset + bytes).div_ceil(1 << PAGE_64K);
        for page in self.pages..pages {
            let offset = page << PAGE_64K;
            let leaf = leaf(self.start.align_down(PAGE_64K).wrapping_add(offset), RIGHTS_DATA);
            let address = DEVICE_TREE_BASE + offset;
            with_tree(|tree| tree.map(&mut ImageTables, address, PAGE_64K, leaf))?;
        }
        self.pages = self.pages.max(pages);
        ptesync();
        Ok((DEVICE_TREE_BASE + offset) as *mut u8)
    }
}

/// A window that stays open; what was mapped is undone at its end.
#[derive(Debug)]
pub(crate) struct Pin {
    /// The first byte asked for.
    pub(crate) pointer: *mut u8,
    /// How many bytes were asked for.
    pub(crate) bytes: usize,
}

// SAFETY: the memory is mapped for all threads alike.
unsafe impl Send for Pin {}

/// Maps such memory, all in one frame, at the place that is the vCPU's own.
pub(crate) fn pin_window(
    reserved: &Reserved,
    vcpu: VcpuId,
    address: RealAddress,
    bytes: u64,
) -> Result<Pin, HalError> {
    let range = Range { start: address, bytes };
    reserved.refuse(range)?;
    let base = PINNED_BASE + (u64::from(vcpu.0) << PAGE_64K);
    let pointer = with_tree(|tree| pin(tree, &mut HeapTables, base, range))? as *mut u8;
    // The processor may walk to the new entry once the store to it is done.
    ptesync();
    Ok(Pin { pointer, bytes: bytes as usize })
}

impl Drop for Pin {
    fn drop(&mut self) {
        with_tree(|tree| {
            tree.unmap(&mut HeapTables, self.pointer as u64 >> PAGE_64K << PAGE_64K);
            // It seldom ends, and its place may be used again at once.
            invalidate(Scope::Host);
        });
    }
}
