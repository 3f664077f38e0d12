//! The search of the hashed page table: the group that the primary hash names, then that of the secondary.
//!
//! An entry whose page size does not fit the segment is passed over: software leaves such entries behind. Two
//! entries of different page sizes for one address are an error of software, and a machine check.

use arch::hash::{self, EntryForm, GROUP_ENTRIES, GROUP_LOG2, LARGE_PAGES, Table, first};

use crate::mmu::fault::Fault;
use crate::mmu::read::Read;
use crate::state::memory::{Memory, Offset};
use crate::state::tlb::Segment;

/// What a valid entry says where its page is, whoever looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its segment, with the base page size that the entry is for.
    pub segment: Segment,
    /// Where it begins in the segment.
    pub offset: u64,
    /// log2 of its bytes.
    pub log2: u32,
}

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
    /// LPCR\[TC\]: the primary group alone counts.
    pub(super) is_primary_only: bool,
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
    let groups = if searched.is_primary_only { 1 } else { 2 };
    for (hash, h) in [(primary, 0), (!primary, first::H)].into_iter().take(groups) {
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
    // An address that is wider than what an entry has of it is in none: its other bits are compared with 0.
    if (entry & form.abbreviated ^ abbreviated(segment, offset)) & compared(segment) != 0 {
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

/// What the entry at `place` of a table that begins at `first` says, if it is valid and means a page.
///
/// The bits of the address that an entry leaves out are those that its group's number shows: a table has at
/// least 2048 groups.
pub(crate) fn page_at(
    memory: &Memory,
    form: EntryForm,
    first: Offset,
    place: Offset,
    lpid: u32,
) -> Option<Page> {
    let word = |place| u64::from_be_bytes(memory.read(place));
    let (entry, second) = (word(place), word(place + 8));
    if entry & first::V == 0 {
        return None;
    }
    let log2 = match form.segment_size_of([entry, second]) {
        0 => 28,
        1 => 40,
        _ => return None,
    };
    let sizes = [12, 16, 24, 34].into_iter();
    let sized = |base| {
        page_log2(base, entry & first::L != 0, second & form.address).map(|size| (base, size))
    };
    let (base_log2, page_log2) = sizes.filter_map(sized).next()?;
    let low = first::AVA_OMITS_LOG2;
    let virtual_high = (entry & form.abbreviated) >> first::AVA_SHIFT;
    let vsid = virtual_high >> (log2 - low);
    let high = (virtual_high & ((1 << (log2 - low)) - 1)) << low;
    let group = (place - first) as u64 >> GROUP_LOG2;
    let hashed = if entry & first::H == 0 { group } else { !group };
    let omitted = (1u64 << low.saturating_sub(base_log2)) - 1;
    let page = (hashed ^ hash::hash(vsid, log2, base_log2, 0)) & omitted;
    let offset = (high | page << base_log2) >> page_log2 << page_log2;
    Some(Page { segment: Segment { lpid, vsid, log2, base_log2 }, offset, log2: page_log2 })
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
    use super::{Page, Searched, abbreviated, compared, page_at, page_log2, search};
    use crate::state::memory::{Memory, Region};
    use crate::state::tlb::Segment;
    use arch::address::RealAddress;
    use arch::hash::{self, EntryForm, LARGE_PAGES, PageSize, Table, first};
    use proptest::prelude::*;

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

    proptest! {
        /// Whoever finds an entry by an address finds that address's page in the entry.
        #[test]
        fn an_entry_says_where_its_page_is(
            size in prop::sample::select(LARGE_PAGES.to_vec()),
            is_small: bool,
            is_old: bool,
            is_large_segment: bool,
            is_secondary: bool,
            vsid: u64,
            offset: u64,
            slot in 0usize..8,
        ) {
            let small = PageSize { base_log2: 12, actual_log2: 12, code: 0 };
            let size = if is_small { small } else { size };
            let log2 = if is_large_segment || size.base_log2 == 34 { 40 } else { 28 };
            let (form, bits) = if is_old { (EntryForm::V2, 78) } else { (EntryForm::V3, 68) };
            // An entry has so many bits of the virtual address.
            let vsid = vsid & ((1 << (bits - log2)) - 1);
            let segment = Segment { lpid: 3, vsid, log2, base_log2: size.base_log2 };
            let offset = offset & ((1 << log2) - 1);
            let table = Table { base: RealAddress(0), bytes_log2: 20 };
            let mut memory = Memory::new(vec![Region { base: 0, bytes: 1 << 20, node: 0 }]);
            let hashed = hash::hash(vsid, log2, size.base_log2, offset);
            let hashed = if is_secondary { !hashed } else { hashed };
            let place = table.group(hashed).0 as usize + 16 * slot;
            let flags = if is_small { 0 } else { first::L } | if is_secondary { first::H } else { 0 };
            let first = abbreviated(segment, offset) & form.abbreviated & compared(segment) | flags | first::V;
            let mut entry = [first, size.code << 12];
            let large = u64::from(log2 == 40);
            entry[form.segment_size_in] = form.segment_size.set(entry[form.segment_size_in], large);
            memory.write(place, entry[0].to_be_bytes());
            memory.write(place + 8, entry[1].to_be_bytes());
            let start = offset >> size.actual_log2 << size.actual_log2;
            let page = Page { segment, offset: start, log2: size.actual_log2 };
            prop_assert_eq!(page_at(&memory, form, 0, place, 3), Some(page));
            let searched = Searched { table, form, segment, offset, is_primary_only: false };
            let found = search(&memory, searched, &mut Vec::new());
            let found = found.ok().flatten().expect("it is in one of the two groups");
            prop_assert_eq!(found.page_log2, size.actual_log2);
        }
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
