//! Tables of the hypervisor's own tree that exist before the heap does.

use super::memory::{read_entry, real_of, write_entry};
use crate::radix::{Slot, Table, TableMemory};
use crate::single::Single;

/// Tables of the hypervisor's own tree, from a pool in the image: they exist before the heap does.
pub(crate) struct ImageTables;

const POOL_BYTES: usize = 0x2_0000;

#[repr(C, align(0x10000))]
struct Pool {
    bytes: [u8; POOL_BYTES],
}

#[unsafe(link_section = ".bss.tables")]
static POOL: Single<Pool> = Single::new(Pool { bytes: [0; POOL_BYTES] });
static POOL_USED: Single<usize> = Single::new(0);

impl TableMemory for ImageTables {
    fn allocate(&mut self, entries_log2: u32) -> Option<Table> {
        let bytes = 8usize << entries_log2;
        // SAFETY: no other reference to the counter exists during this call: the boot thread makes the tree, and
        // who changes it later holds its lock.
        let used = unsafe { &mut *POOL_USED.get() };
        let start = used.next_multiple_of(bytes);
        let end = start.checked_add(bytes).filter(|end| *end <= POOL_BYTES)?;
        *used = end;
        let base = real_of(POOL.get() as u64 + start as u64);
        // SAFETY: a piece of the pool, whose alignment is that of the largest table, and which nobody has had.
        Some(unsafe { Table::new(base, entries_log2) })
    }

    /// The pool only grows: the hypervisor's own tree gives no table up.
    fn release(&mut self, _: Table) {}

    fn read(&self, slot: &Slot) -> u64 {
        read_entry(slot)
    }

    fn write(&mut self, slot: &Slot, value: u64) {
        write_entry(slot, value);
    }
}
