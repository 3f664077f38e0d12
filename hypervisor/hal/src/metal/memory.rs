//! The hypervisor's own memory: the tables in its image, and the heap behind the global allocator.
//!
//! Own memory has two places. In the image, real address and offset from 0xC000_0000_0000_0000 are
//! the same; the heap is one piece of free real memory that is mapped at [`HEAP_BASE`].

use alloc::alloc::{GlobalAlloc, Layout, alloc_zeroed, dealloc};
use core::ptr::{self, NonNull};

use arch::address::RealAddress;
use hypervisor_core::memory::Range;
use hypervisor_core::sync::Lock;
use linked_list_allocator::Heap;

use super::Single;
use crate::radix::TableMemory;

/// Quadrant 3: the hypervisor's addresses. The image begins here.
pub(super) const IMAGE_BASE: u64 = 0xC000_0000_0000_0000;
/// Where the heap is mapped.
pub(super) const HEAP_BASE: u64 = IMAGE_BASE + 0x1000_0000;
/// Where windows are mapped.
pub(super) const WINDOW_BASE: u64 = IMAGE_BASE + 0x2000_0000;
/// Where windows that stay open are mapped: 64 KiB for each vCPU of the machine.
pub(super) const PINNED_BASE: u64 = IMAGE_BASE + 0x4000_0000;
/// Length of the heap. A partition of a few GiB takes about 80 KiB of it for its second stage.
pub(super) const HEAP_BYTES: u64 = 0x400_0000;

struct Allocator {
    heap: Lock<Heap>,
    real: Single<RealAddress>,
}

#[global_allocator]
static ALLOCATOR: Allocator =
    Allocator { heap: Lock::new(Heap::empty()), real: Single::new(RealAddress(0)) };

// SAFETY: `Heap` hands out disjoint memory of the asked layout. Before `start_heap` the heap is empty and every allocation fails.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.heap.lock().allocate_first_fit(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if let Some(pointer) = NonNull::new(pointer) {
            // SAFETY: the caller got this pointer from `alloc` with this layout.
            unsafe { self.heap.lock().deallocate(pointer, layout) };
        }
    }
}

/// Gives the heap its memory.
///
/// # Safety
/// `range` is free real memory of [`HEAP_BYTES`], mapped read-write at [`HEAP_BASE`], and this is the
/// only call.
pub(super) unsafe fn start_heap(range: Range) {
    // SAFETY: the caller's promise; nothing allocates at the same time.
    unsafe {
        *ALLOCATOR.real.get() = range.start;
        ALLOCATOR.heap.lock().init(HEAP_BASE as *mut u8, range.bytes as usize);
    }
}

/// The real address of a byte of the image or of the heap.
pub(super) fn real_of(address: u64) -> RealAddress {
    if address >= HEAP_BASE {
        // SAFETY: written once, before the first allocation.
        let heap = unsafe { *ALLOCATOR.real.get() };
        heap.wrapping_add(address - HEAP_BASE)
    } else {
        RealAddress(address - IMAGE_BASE)
    }
}

/// The address of a byte of the image or of the heap, by its real address.
fn address_of(real: RealAddress) -> u64 {
    // SAFETY: written once, before the first allocation.
    let heap = unsafe { *ALLOCATOR.real.get() };
    match real.0.checked_sub(heap.0) {
        Some(offset) if heap.0 != 0 && offset < HEAP_BYTES => HEAP_BASE + offset,
        _ => IMAGE_BASE + real.0,
    }
}

/// Tables of the hypervisor's own tree, from a pool in the image: they exist before the heap does.
pub(super) struct ImageTables;

const POOL_BYTES: usize = 0x2_0000;

#[repr(C, align(0x10000))]
struct Pool {
    bytes: [u8; POOL_BYTES],
}

#[unsafe(link_section = ".bss.tables")]
static POOL: Single<Pool> = Single::new(Pool { bytes: [0; POOL_BYTES] });
static POOL_USED: Single<usize> = Single::new(0);

/// Second-stage tables, from the heap.
pub(super) struct HeapTables;

fn read_entry(entry: RealAddress) -> u64 {
    // SAFETY: entries are aligned doublewords of tables that this module allocated and has not freed.
    u64::from_be(unsafe { ptr::read_volatile(address_of(entry) as *const u64) })
}

fn write_entry(entry: RealAddress, value: u64) {
    // SAFETY: as for `read_entry`; the processor's table walk sees one whole store.
    unsafe { ptr::write_volatile(address_of(entry) as *mut u64, value.to_be()) };
}

impl TableMemory for ImageTables {
    fn allocate(&mut self, entries_log2: u32) -> Option<RealAddress> {
        let bytes = 8usize << entries_log2;
        // SAFETY: no other reference to the counter exists during this call.
        let used = unsafe { &mut *POOL_USED.get() };
        let start = used.next_multiple_of(bytes);
        let end = start.checked_add(bytes).filter(|end| *end <= POOL_BYTES)?;
        *used = end;
        Some(real_of(POOL.get() as u64 + start as u64))
    }

    fn read(&self, entry: RealAddress) -> u64 {
        read_entry(entry)
    }

    fn write(&mut self, entry: RealAddress, value: u64) {
        write_entry(entry, value);
    }
}

impl HeapTables {
    /// Gives a table back that no thread can find any more.
    pub(super) fn release(&mut self, table: RealAddress, entries_log2: u32) {
        let bytes = 8usize << entries_log2;
        let layout = Layout::from_size_align(bytes, bytes).expect("it was allocated so");
        // SAFETY: `allocate` made it with this layout, and it is taken out of its tree.
        unsafe { dealloc(address_of(table) as *mut u8, layout) };
    }
}

impl TableMemory for HeapTables {
    fn allocate(&mut self, entries_log2: u32) -> Option<RealAddress> {
        let bytes = 8usize << entries_log2;
        let layout = Layout::from_size_align(bytes, bytes).ok()?;
        // SAFETY: the layout is not empty.
        let table = unsafe { alloc_zeroed(layout) };
        (!table.is_null()).then(|| real_of(table as u64))
    }

    fn read(&self, entry: RealAddress) -> u64 {
        read_entry(entry)
    }

    fn write(&mut self, entry: RealAddress, value: u64) {
        write_entry(entry, value);
    }
}
