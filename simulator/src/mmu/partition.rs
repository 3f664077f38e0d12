//! The partition table: what both schemes' walks begin with.
//!
//! Source: `docs/facts/translation.md#table-pointers`.

use arch::address::RealAddress;
use arch::radix::TableLocation;

use super::read::Read;
use crate::state::memory::{Memory, NoMemory, Offset};
use crate::state::walk_cache::{WalkCache, WalkKey, Words};

/// The doublewords of a partition-table entry, and the read that got them.
pub(super) struct PartitionEntry {
    pub(super) words: Words,
    /// Nothing if the core remembered them.
    pub(super) read: Option<Read>,
}

/// The entry of `lpid` in the table that `ptcr` names; `Ok(None)` where it lies outside of the table.
///
/// # Errors
/// [`NoMemory`] where the table is not in memory.
pub(super) fn entry(
    memory: &Memory,
    known: Option<&WalkCache>,
    ptcr: u64,
    lpid: u32,
) -> Result<Option<PartitionEntry>, NoMemory> {
    let key = WalkKey::PartitionEntry { lpid };
    if let Some(words) = known.and_then(|known| known.find(key)) {
        return Ok(Some(PartitionEntry { words, read: None }));
    }
    let table = TableLocation::from_doubleword(ptcr);
    let offset = u64::from(lpid) * 16;
    if offset >= 1 << table.bytes_log2 {
        return Ok(None);
    }
    let at = table.base.wrapping_add(offset);
    let (place, first) = doubleword(memory, at)?;
    let (_, second) = doubleword(memory, at.wrapping_add(8))?;
    let words = [first, second];
    let read = Some(Read { place, is_process: false, key: Some(key), words });
    Ok(Some(PartitionEntry { words, read }))
}

/// A doubleword of a table, and where it lies.
pub(super) fn doubleword(memory: &Memory, address: RealAddress) -> Result<(Offset, u64), NoMemory> {
    let place = memory.locate(address).ok_or(NoMemory(address))?;
    Ok((place, u64::from_be_bytes(memory.read(place))))
}
