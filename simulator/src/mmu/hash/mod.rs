//! Hashed translation: from an effective address to a segment, and from there to an entry of the hashed page table.
//!
//! The segment comes from the SLB, or, for a partition with relocation off, is the virtual real mode area. Where the
//! table is, and what relocation off means, each processor has of its own. Source: `docs/facts/hashed-translation.md`.

mod entry;
mod group;
mod power8;
mod power9;
pub(super) mod rights;

pub(crate) use group::{Page, page_at};

use arch::address::{EffectiveAddress, RealAddress};
use arch::hash::{self, Table, base_log2, segment};
use arch::interrupt::storage;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::fault::{Fault, Untranslated};
use super::located::{Located, Where};
use super::read::Read;
use super::{Access, inhibited::Inhibited};
use crate::state::shared::Shared;
use crate::state::slb::SlbEntry;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;
use crate::state::tlb::{Hashed, Segment, Space, Translation};
use crate::state::walk_cache::WalkCache;

/// Finds the table of the partition with this LPID.
type FindTable =
    fn(&Shared, &Thread, Option<&WalkCache>, u32, &mut Vec<Read>) -> Result<Option<Table>, Fault>;

/// What each processor has of its own.
struct PerProcessor {
    /// The table of a partition, if it has one; what was read to find it is added to the reads.
    table: FindTable,
    /// What an address of a partition means with relocation off.
    real_mode: fn(&Thread, &Shared, EffectiveAddress) -> Result<Where, Fault>,
}

fn per_processor(shared: &Shared) -> &'static PerProcessor {
    match shared.processor {
        Processor::Power8 => &power8::OWN,
        Processor::Power9 => &power9::OWN,
    }
}

/// Bits of an effective address that relocation off leaves out.
const REAL: u64 = 0x0FFF_FFFF_FFFF_FFFF;
/// log2 of the virtual real mode area's segment.
const AREA_LOG2: u32 = 40;

/// Which segment `address` is in, and where.
pub(super) fn locate(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
    is_relocated: bool,
) -> Result<Where, Fault> {
    let is_guest = thread.msr() & msr::HV == 0;
    let lpcr = thread.spr(Spr::Lpcr);
    if !is_relocated {
        return (per_processor(shared).real_mode)(thread, shared, address);
    }
    let mut matching = thread.slb.iter().filter(|entry| entry.matches(address.0));
    let entry = *matching.next().ok_or(Fault::Segment)?;
    if matching.next().is_some() {
        return Err(Fault::SegmentMultiHit);
    }
    let base_log2 = if lpcr & lpcr::ISL != 0 { Some(12) } else { base_log2(entry.vsid) };
    let base_log2 = base_log2.ok_or_else(|| stop("a segment with a reserved page size"))?;
    let is_virtualized = is_guest && lpcr & lpcr::VPM1 != 0;
    let located = located(thread, entry, base_log2, address.0, is_virtualized);
    if access == Access::Fetch && entry.vsid & segment::N != 0 {
        return Err(storage_fault(&located, storage::NO_EXECUTE));
    }
    Ok(Where::Virtual(located))
}

fn located(
    thread: &Thread,
    entry: SlbEntry,
    base_log2: u32,
    address: u64,
    is_virtualized: bool,
) -> Located {
    let log2 = entry.segment_log2();
    let vsid = if log2 == AREA_LOG2 { segment::LARGE_VSID } else { segment::VSID };
    let lpid = thread.lpid();
    let space = Space::Virtual(Segment { lpid, vsid: vsid.get(entry.vsid), log2, base_log2 });
    Located { space, input: address & ((1 << log2) - 1), segment: entry.vsid, is_virtualized }
}

/// A virtual address in the virtual real mode area, which `vsid` describes.
fn in_area(thread: &Thread, vsid: u64, address: EffectiveAddress) -> Result<Located, Fault> {
    let base = base_log2(vsid).ok_or_else(|| stop("a reserved page size of virtual real mode"))?;
    let area = SlbEntry { esid: 0, vsid: vsid | segment::VIRTUAL_REAL_MODE };
    let located = located(thread, area, base, address.0, true);
    // The area is one segment, and nothing lies beyond it.
    if (address.0 & REAL) >> AREA_LOG2 != 0 {
        return Err(storage_fault(&located, storage::NO_TRANSLATION));
    }
    Ok(located)
}

fn stop(what: &'static str) -> Fault {
    Fault::Stop(StopReason::TranslationNotModelled(what))
}

/// The storage interrupt, of the hypervisor if the partition's memory is virtual.
fn storage_fault(located: &Located, cause: u64) -> Fault {
    if located.is_virtualized {
        Fault::HypervisorStorage(cause, Untranslated::Segment(located.segment))
    } else {
        Fault::Storage(cause)
    }
}

/// Whose hashed page table translates for `thread` as it is now, and which; `None` where none does.
pub(crate) fn table_of(thread: &Thread, shared: &Shared) -> Option<(u32, Table)> {
    let is_real = thread.msr() & msr::HV != 0 && thread.msr() & (msr::IR | msr::DR) == 0;
    if is_real || thread.spr(Spr::Lpcr) & (lpcr::HR | lpcr::UPRT) != 0 {
        return None;
    }
    let lpid = thread.lpid();
    let table =
        (per_processor(shared).table)(shared, thread, None, lpid, &mut Vec::new()).ok()??;
    Some((lpid, table))
}

/// Looks for an address in the hashed page table, and says what was read on the way.
pub(super) fn walk(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    segment: Segment,
    located: &Located,
) -> Result<(Translation, Vec<Read>), Fault> {
    let mut reads = Vec::new();
    let found = (per_processor(shared).table)(shared, thread, known, segment.lpid, &mut reads)?;
    let Some(table) = found else {
        return Err(storage_fault(located, storage::BAD_CONFIGURATION));
    };
    if table.bytes_log2 > hash::TABLE_MAXIMUM_LOG2 {
        return Err(stop("a hashed page table of more than 2^46 bytes"));
    }
    let form = shared.processor.facts().hashed_entry;
    let searched = group::Searched {
        table,
        form,
        segment,
        offset: located.input,
        is_primary_only: thread.spr(Spr::Lpcr) & lpcr::TC != 0,
    };
    let found = group::search(&shared.memory, searched, &mut reads)?;
    let found = found.ok_or_else(|| storage_fault(located, storage::NO_TRANSLATION))?;
    let page_log2 = found.page_log2;
    let base_page = located.input >> segment.base_log2 << segment.base_log2;
    let translation = Translation {
        page_log2,
        real: RealAddress(found.second & form.address).align_down(page_log2),
        guest_real: None,
        process: None,
        partition: None,
        hashed: Some(Hashed { second: found.second, place: found.place, base_page }),
    };
    Ok((translation, reads))
}

/// Whether a translation that the core knows serves `access`: the first store has to set C in the table.
pub(super) fn serves(hashed: &Hashed, access: Access) -> bool {
    access != Access::Store || hashed.second & hash::second::C != 0
}

/// Who keeps a page out of the caches, if anyone.
pub(super) fn inhibited(hashed: &Hashed, located: &Located) -> Option<Inhibited> {
    let attributes = hashed.second & hash::second::WIMG;
    if attributes & hash::second::I == 0 || attributes == hash::second::STRONG_ORDER {
        None
    } else if located.is_virtualized {
        Some(Inhibited::Partition(Untranslated::Segment(located.segment)))
    } else {
        Some(Inhibited::Process)
    }
}

pub(super) use entry::{Mark, mark};

#[cfg(test)]
mod tests {
    use super::table_of;
    use crate::{Description, Machine};
    use arch::address::RealAddress;
    use arch::hash::Table;
    use arch::registers::spr::Spr;
    use arch::registers::{lpcr, msr};

    #[test]
    fn a_table_translates_for_partitions_and_for_who_has_relocation_on() {
        let text = include_str!("../../../../machines/power8.toml");
        let machine = Machine::new(Description::from_toml(text).unwrap(), 1);
        let (mut threads, shared) = machine.into_parts();
        let thread = &mut threads[0];
        let table = Table { base: RealAddress(0x4_0000), bytes_log2: 20 };
        thread.set_spr(Spr::Sdr1, table.to_doubleword(12));
        thread.set_spr(Spr::Lpidr, 3);
        for (msr, lpcr, is_there) in [
            (msr::HV, 0, false),
            (msr::HV | msr::DR, 0, true),
            (msr::HV | msr::IR, 0, true),
            (0, 0, true),
            (msr::IR | msr::DR, 0, true),
            (msr::HV | msr::DR, lpcr::HR, false),
            (msr::DR, lpcr::UPRT, false),
            (0, lpcr::HR | lpcr::UPRT, false),
        ] {
            thread.set_msr(msr::SF | msr);
            thread.set_spr(Spr::Lpcr, lpcr);
            let lpid = thread.lpid();
            let expected = is_there.then_some((lpid, table));
            assert_eq!(table_of(thread, &shared), expected, "MSR {msr:#x} LPCR {lpcr:#x}");
        }
    }
}
