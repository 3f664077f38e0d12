//! The search of the hashed page table: the group that the primary hash names, then that of the secondary.
//!
//! An entry whose page size does not fit the segment is passed over: software leaves such entries behind. Two
//! entries of different page sizes for one address are an error of software, and a machine check.

use arch::hash::{self, EntryForm, GROUP_ENTRIES, GROUP_LOG2, LARGE_PAGES, Table, first};

use crate::mmu::fault::Fault;
use crate::mmu::read::Read;
use crate::state::memory::{Memory, Offset};
use crate::state::tlb::Segment;

/// An entry that translates an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) place: Offset,
    pub(super) second: u64,
    pub(super) page_log2: u32,
}

/// What is searched, and for what.
#[derive(Clone, Copy)]
pub(super) struct Searched {
    pub(super) table: Table,
    pub(super) form: EntryForm,
    pub(super) segment: Segment,
    pub(super) offset: u64,
}

/// The entry that is searched for. Groups that were read before it was found are added to `reads`.
pub(super) fn search(
    memory: &Memory,
    searched: Searched,
    reads: &mut Vec<Read>,
) -> Result<Option<Found>, Fault> {
    let Searched { table, segment, offset, .. } = searched;
    let primary = hash::hash(segment.vsid, segment.log2, segment.base_log2, offset);
    let mut found: Option<Found> = None;
    for (hash, h) in [(primary, 0), (!primary, first::H)] {
        let address = table.group(hash);
        let Some(group) = memory.locate(address) else {
            return if found.is_some() { Ok(found) } else { Err(Fault::NoTable(address)) };
        };
        if found.is_none() {
            reads.push(Read { place: group, is_process: false, key: None, words: [0; 2] });
        }
        for index in 0..GROUP_ENTRIES {
            let place = group + index * ((1 << GROUP_LOG2) / GROUP_ENTRIES);
            let Some(page) = matching(memory, place, h, &searched) else { continue };
            match found {
                None => found = Some(page),
                Some(other) if other.page_log2 != page.page_log2 => return Err(Fault::MultiHit),
                Some(_) => {}
            }
        }
    }
    Ok(found)
}

/// The entry at `place`, if it is valid, lies under the hash that `h` says, and translates the address.
fn matching(memory: &Memory, place: Offset, h: u64, searched: &Searched) -> Option<Found> {
    let &Searched { form, segment, offset, .. } = searched;
    let word = |place| u64::from_be_bytes(memory.read(place));
    let entry = word(place);
    if entry & (first::V | first::H) != first::V | h {
        return None;
    }
    let second = word(place + 8);
    let is_large = segment.log2 == 40;
    if form.segment_size_of([entry, second]) != u64::from(is_large) {
        return None;
    }
    if (entry ^ abbreviated(segment, offset)) & form.abbreviated & compared(segment) != 0 {
        return None;
    }
    let page_log2 = page_log2(segment.base_log2, entry & first::L != 0, second & form.address)?;
    Some(Found { place, second, page_log2 })
}

/// The virtual address of `offset` as an entry's first doubleword has it.
fn abbreviated(segment: Segment, offset: u64) -> u64 {
    let low = first::AVA_OMITS_LOG2;
    (segment.vsid << (segment.log2 - low) | offset >> low) << first::AVA_SHIFT
}

/// The bits of AVA that count: none below the base page.
fn compared(segment: Segment) -> u64 {
    !0 << (segment.base_log2.max(first::AVA_OMITS_LOG2) - first::AVA_OMITS_LOG2 + first::AVA_SHIFT)
}

/// log2 of the page's bytes; `None` for an entry that does not belong to a segment of this base page size.
fn page_log2(base_log2: u32, is_large: bool, address: u64) -> Option<u32> {
    if !is_large {
        return (base_log2 == 12).then_some(12);
    }
    let is_named = |page: &&hash::PageSize| {
        let below = (1 << page.actual_log2) - 1;
        page.base_log2 == base_log2 && address & below == page.code << 12
    };
    LARGE_PAGES.iter().find(is_named).map(|page| page.actual_log2)
}

#[cfg(test)]
mod tests {
    use super::{abbreviated, compared, page_log2};
    use crate::state::tlb::Segment;

    #[test]
    fn a_size_is_known_by_all_bits_below_the_page() {
        assert_eq!(page_log2(12, false, 0x1234_5000), Some(12));
        assert_eq!(page_log2(16, false, 0x1234_0000), None);
        assert_eq!(page_log2(12, true, 0x1234_7000), Some(16));
        assert_eq!(page_log2(12, true, 0x1203_8000), Some(24));
        assert_eq!(page_log2(12, true, 0x1213_8000), None, "a bit between code and page");
        assert_eq!(page_log2(16, true, 0x1234_1000), Some(16));
        assert_eq!(page_log2(16, true, 0x1200_8000), Some(24));
        assert_eq!(page_log2(24, true, 0x1200_0000), Some(24));
        assert_eq!(page_log2(34, true, 0x4_0000_3000), Some(34));
        assert_eq!(page_log2(34, true, 0x4_0000_0000), None);
    }

    #[test]
    fn the_abbreviated_address_leaves_23_bits_out() {
        let segment = Segment { lpid: 0, vsid: 0x123, log2: 28, base_log2: 12 };
        assert_eq!(abbreviated(segment, 0x0F80_0000), (0x123 << 5 | 0x1F) << 7);
        assert_eq!(compared(segment), !0x7F);
        let large = Segment { log2: 40, base_log2: 24, ..segment };
        assert_eq!(compared(large), !0xFF);
    }
}
