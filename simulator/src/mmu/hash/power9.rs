//! ISA 3.0: a partition's entry of the partition table names its hashed page table and its virtual real mode area.

use arch::address::EffectiveAddress;
use arch::hash::{self, Table};
use arch::radix::PATE0_HR;
use arch::registers::spr::Spr;

use super::{PerProcessor, in_area};
use crate::mmu::fault::Fault;
use crate::mmu::located::Where;
use crate::mmu::partition::{self, PartitionEntry};
use crate::mmu::read::Read;
use crate::state::memory::NoMemory;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::walk_cache::WalkCache;

pub(super) static OWN: PerProcessor = PerProcessor { table, real_mode };

/// The partition-table entry of `lpid`, if it is one for hashed translation.
fn partition_entry(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    lpid: u32,
) -> Result<Option<PartitionEntry>, Fault> {
    let ptcr = shared.cores[thread.core].spr(Spr::Ptcr);
    let entry = partition::entry(&shared.memory, known, ptcr, lpid)
        .map_err(|NoMemory(at)| Fault::NoTable(at))?;
    Ok(entry.filter(|entry| entry.words[0] & PATE0_HR == 0))
}

fn table(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    lpid: u32,
    reads: &mut Vec<Read>,
) -> Result<Option<Table>, Fault> {
    let entry = partition_entry(shared, thread, known, lpid)?;
    Ok(entry.map(|PartitionEntry { words, read }| {
        reads.extend(read);
        Table::from_doubleword(words[0])
    }))
}

fn real_mode(thread: &Thread, shared: &Shared, address: EffectiveAddress) -> Result<Where, Fault> {
    let lpid = thread.lpid();
    let known = &shared.cores[thread.core].walk_cache;
    let found = partition_entry(shared, thread, Some(known), lpid)?;
    let vsid = found.as_ref().map_or(0, |entry| hash::virtual_real_mode(entry.words[0]));
    in_area(thread, vsid, address).map(Where::Virtual)
}
