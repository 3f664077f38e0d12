//! The hypervisor's own memory: its image, and the heap behind the global allocator.
//!
//! Own memory has two places: the image at real address 0, and the heap, one piece of free real memory. In both, real
//! address and offset from 0xC000_0000_0000_0000 are the same, so that their addresses hold with relocation off too.

use alloc::alloc::{GlobalAlloc, Layout, dealloc};
use core::arch::asm;
use core::ptr::{self, NonNull};
use core::slice;

use arch::address::RealAddress;
use arch::hash;
use hypervisor_core::memory::Range;
use hypervisor_core::sync::{Lock, TableEntry};
use linked_list_allocator::Heap;

use crate::radix::{Slot, Table, TableMemory};

/// Quadrant 3: the hypervisor's addresses. The image begins here, and the heap is as far behind it as its real address
/// says.
pub(crate) const IMAGE_BASE: u64 = 0xC000_0000_0000_0000;
/// Memory ends before this, as a power of two: behind it other things may be mapped.
pub(crate) const OTHERS_LOG2: u32 = 51;
/// Length of the heap. A partition of a few GiB takes about 80 KiB of it for its second stage.
pub(crate) const HEAP_BYTES: u64 = 0x400_0000;

unsafe extern "C" {
    static image_start: u8;
    static image_end: u8;
}

/// The image in real memory.
pub(crate) fn image() -> Range {
    let bytes = (&raw const image_end) as u64 - (&raw const image_start) as u64;
    Range { start: RealAddress(0), bytes }
}

struct Memory {
    heap: Heap,
    /// Bytes that [`take`] leaves to who cannot be refused.
    kept: u64,
}

struct Allocator(Lock<Memory>);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(Lock::new(Memory { heap: Heap::empty(), kept: 0 }));

// SAFETY: `Heap` hands out disjoint memory of the asked layout. Before `start_heap` the heap is empty and every
// allocation fails.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap = &mut self.0.lock().heap;
        heap.allocate_first_fit(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if let Some(pointer) = NonNull::new(pointer) {
            // SAFETY: the caller got this pointer from `alloc` with this layout.
            unsafe { self.0.lock().heap.deallocate(pointer, layout) };
        }
    }
}

/// From now on so many bytes of the heap are kept from tables.
pub(crate) fn keep(bytes: u64) {
    ALLOCATOR.0.lock().kept = bytes;
}

/// Bytes of the heap that are free beyond those that are kept; `None` if fewer than these are free.
pub(crate) fn room() -> Option<u64> {
    let memory = ALLOCATOR.0.lock();
    (memory.heap.free() as u64).checked_sub(memory.kept)
}

/// Memory for what may be refused, unless it would be of what is kept.
fn take(layout: Layout) -> Option<NonNull<u8>> {
    let memory = &mut *ALLOCATOR.0.lock();
    let left = (memory.heap.free() as u64).checked_sub(layout.size() as u64)?;
    if left < memory.kept {
        return None;
    }
    memory.heap.allocate_first_fit(layout).ok()
}

/// Gives the heap its memory.
///
/// # Safety
/// `range` is free real memory of [`HEAP_BYTES`], mapped read-write at [`address_of`] its start, and this is the only
/// call.
pub(crate) unsafe fn start_heap(range: Range) {
    // SAFETY: the caller's promise; nothing allocates at the same time.
    unsafe {
        ALLOCATOR.0.lock().heap.init(address_of(range.start) as *mut u8, range.bytes as usize)
    };
}

/// Whether a byte lies in the heap, and not in the image.
fn is_of_heap(address: *mut u8) -> bool {
    let heap = &ALLOCATOR.0.lock().heap;
    (heap.bottom()..heap.top()).contains(&address)
}

/// The real address of a byte of the image or of the heap.
pub(crate) fn real_of(address: u64) -> RealAddress {
    RealAddress(address - IMAGE_BASE)
}

/// The address of a byte of the image or of the heap, by its real address.
pub(crate) fn address_of(real: RealAddress) -> u64 {
    assert!(real.0 >> OTHERS_LOG2 == 0, "memory lies before all else");
    IMAGE_BASE + real.0
}

/// Bytes of a cache block, what `dcbz` clears.
pub(crate) const BLOCK: usize = 128;

/// Zeroes whole cache blocks.
///
/// # Safety
/// `start` is aligned to a block, and `bytes` bytes from there, whole blocks, are cacheable and nobody else's.
pub(crate) unsafe fn zero_blocks(start: *mut u8, bytes: usize) {
    for block in (0..bytes).step_by(BLOCK) {
        // SAFETY: the caller's promise.
        unsafe { asm!("dcbz 0, {}", in(reg) start.add(block), options(nostack)) };
    }
}

/// Second-stage tables, from the heap.
pub(crate) struct HeapTables;

/// Memory for hashed page tables of `1 << bytes_log2` bytes, zero and for good, from the heap.
pub(crate) fn hash_table(bytes_log2: u32) -> Option<&'static [TableEntry]> {
    let bytes = 1usize.checked_shl(bytes_log2)?;
    // Aligned as every processor asks.
    let table = zeroed(bytes)?;
    // SAFETY: zeros are entries, aligned, for as long as the hypervisor runs, and reached as atomics alone; the
    // processor sets single bytes of them.
    Some(unsafe { slice::from_raw_parts(table.cast(), bytes / size_of::<TableEntry>()) })
}

/// Where entries lie that are a whole hashed page table.
pub(crate) fn table_of(entries: &'static [TableEntry]) -> hash::Table {
    let bytes_log2 = size_of_val(entries).trailing_zeros();
    let base = real_of(entries.as_ptr() as u64);
    assert!(size_of_val(entries).is_power_of_two() && base.is_aligned(bytes_log2), "a table");
    hash::Table { base, bytes_log2 }
}

/// So many bytes, a power of two and at least a block's, zero and for good, from the heap, aligned to their number.
#[inline(always)]
fn zeroed(bytes: usize) -> Option<*mut u8> {
    let layout = Layout::from_size_align(bytes, bytes).ok()?;
    let start = take(layout)?.as_ptr();
    // SAFETY: it has whole blocks, and is aligned to its size.
    unsafe { zero_blocks(start, bytes) };
    Some(start)
}

/// Memory for a log of a prefetch engine, zero and for good, from the heap, aligned to its size: where it is.
#[cfg(feature = "power8")]
pub(crate) fn log_table(bytes: u64) -> Option<RealAddress> {
    zeroed(bytes as usize).map(|start| real_of(start as u64))
}

/// What an entry of a table that this module's callers allocated holds.
pub(super) fn read_entry(slot: &Slot) -> u64 {
    let entry = address_of(slot.address()) as *const u64;
    // SAFETY: only trees make slots, of tables that they own: aligned doublewords that this module allocated.
    u64::from_be(unsafe { ptr::read_volatile(entry) })
}

/// Writes one.
pub(super) fn write_entry(slot: &Slot, value: u64) {
    let entry = address_of(slot.address()) as *mut u64;
    // SAFETY: as for `read_entry`; the processor's table walk sees one whole store.
    unsafe { ptr::write_volatile(entry, value.to_be()) };
}

impl TableMemory for HeapTables {
    fn allocate(&mut self, entries_log2: u32) -> Option<Table> {
        let table = zeroed(8 << entries_log2)?;
        // SAFETY: fresh from the heap with this length and alignment, and zero.
        Some(unsafe { Table::new(real_of(table as u64), entries_log2) })
    }

    fn release(&mut self, table: Table) {
        let address = address_of(table.base()) as *mut u8;
        assert!(is_of_heap(address), "a table of the heap");
        let layout =
            Layout::from_size_align(table.bytes(), table.bytes()).expect("it was allocated so");
        // SAFETY: there is one owner of a table, and this was it; in the heap only `allocate` makes any, with this
        // layout.
        unsafe { dealloc(address, layout) };
    }

    fn read(&self, slot: &Slot) -> u64 {
        read_entry(slot)
    }

    fn write(&mut self, slot: &Slot, value: u64) {
        write_entry(slot, value);
    }
}
