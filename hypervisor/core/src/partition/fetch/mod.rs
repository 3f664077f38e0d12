//! The instruction at which a vCPU has left, where the processor gives no image of it: found as the processor has
//! found it, by the partition's own tables.

use arch::address::GuestRealAddress;
use arch::hash::{base_log2, segment};
use arch::radix::{Entry, Root, SPACE_LOG2};
use arch::registers::msr;

use crate::facilities::Facilities;
use crate::guest_memory::Kind;
use crate::hal::{Memory, Platform};
use crate::interrupts::handler::Context;
use crate::partition::{Partition, hash};

/// Bytes of an entry of a process table, and of one of a radix tree.
const PROCESS_BYTES: u64 = 16;
const ENTRY_BYTES: u64 = 8;
/// The two high bits of an effective address, the quadrant: of the process, and of process 0.
const QUADRANT_LOG2: u32 = 62;
const OF_PROCESS: u64 = 0;
const OF_KERNEL: u64 = 3;

/// The image of the instruction at which the guest stands that has just left; `None` if no table of its own says where
/// that is, or it is not its memory. Then what it executed is there no more.
pub fn instruction<H: Memory + Platform + Facilities>(
    partition: &mut Partition<H>,
    hal: &H,
    interrupted: Context,
) -> Option<u32> {
    let Context { pc, msr } = interrupted;
    let address = if msr & msr::IR == 0 {
        hash::guest_real(pc)
    } else {
        match partition.memory.kind() {
            Kind::Radix => by_radix(partition, hal, pc)?,
            Kind::Hash(table) => {
                let segments = hal.segments(partition.lpcr);
                let [_, vsid] = *segments.iter().find(|entry| shows(entry, pc))?;
                let log2 = segment_log2(vsid);
                let field = if log2 == 40 { segment::LARGE_VSID } else { segment::VSID };
                let offset = pc & ((1 << log2) - 1);
                table.find::<H>(field.get(vsid), log2, base_log2(vsid)?, offset)?
            }
        }
    };
    let mut bytes = [0; 4];
    partition.memory.read(hal, address, &mut bytes).ok()?;
    Some(if msr & msr::LE == 0 { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

/// log2 of the size of a segment with this doubleword "VSID".
const fn segment_log2(vsid: u64) -> u32 {
    if segment::B.get(vsid) == 0 { 28 } else { 40 }
}

/// Whether an entry of the segment lookaside buffer is of the segment of this address.
const fn shows([esid, vsid]: &[u64; 2], address: u64) -> bool {
    *esid & segment::V != 0 && (*esid ^ address) >> segment_log2(*vsid) == 0
}

/// Walks the tree of the process for an effective address.
fn by_radix<H: Memory + Platform + Facilities>(
    partition: &mut Partition<H>,
    hal: &H,
    address: u64,
) -> Option<GuestRealAddress> {
    let table = partition.process_table?;
    let process = match address >> QUADRANT_LOG2 {
        OF_PROCESS => hal.process(),
        OF_KERNEL => 0,
        _ => return None,
    };
    let at = process * PROCESS_BYTES;
    if at >> table.bytes_log2 != 0 {
        return None;
    }
    let root = doubleword(partition, hal, table.base.0 + at)?;
    let Root { space_log2, base, entries_log2 } = Root::from_doubleword(root);
    let offset = address & ((1 << QUADRANT_LOG2) - 1);
    if space_log2 != SPACE_LOG2 || offset >> space_log2 != 0 || entries_log2 == 0 {
        return None;
    }
    let (mut base, mut bits) = (base.0, entries_log2);
    let mut left = space_log2;
    // Each level takes some bits of the address, so that this ends.
    while bits != 0 {
        left = left.checked_sub(bits)?;
        let index = offset >> left & ((1 << bits) - 1);
        match Entry::from_doubleword(doubleword(partition, hal, base + index * ENTRY_BYTES)?) {
            Entry::Invalid => return None,
            Entry::Leaf(leaf) => {
                let inside = (1 << left) - 1;
                return Some(GuestRealAddress(leaf.base.0 & !inside | offset & inside));
            }
            Entry::Directory { base: next, entries_log2 } => (base, bits) = (next.0, entries_log2),
        }
    }
    None
}

/// A doubleword of a table, which is big-endian whatever the partition is.
fn doubleword<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    address: u64,
) -> Option<u64> {
    let mut bytes = [0; 8];
    partition.memory.read(hal, GuestRealAddress(address), &mut bytes).ok()?;
    Some(u64::from_be_bytes(bytes))
}

#[cfg(all(test, not(loom)))]
mod tests;
