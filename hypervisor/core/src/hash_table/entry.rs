//! An entry as a partition writes it, and as the processor reads it.
//!
//! A partition writes ISA 2.07's form whatever the processor is, with pages by their guest real addresses; ISA 3.0 has
//! another form, with real addresses. Source: `docs/facts/hashed-translation.md#entry-form`,
//! `docs/facts/papr.md#hashed-page-table`.

use arch::address::{GuestRealAddress, RealAddress};
use arch::hash::{
    self, EntryForm, GROUP_ENTRIES, LARGE_PAGES, PageSize, VirtualPage, first, second, segment,
};

/// log2 of the bytes of the smallest page.
pub(super) const SMALL_LOG2: u32 = 12;
/// Both of 4 KiB.
const SMALL: PageSize = PageSize { base_log2: SMALL_LOG2, actual_log2: SMALL_LOG2, code: 0 };

/// Bits of the first doubleword that a partition has to itself; the other two of software's are the hypervisor's.
pub(super) const GUESTS_OWN: u64 = 0x18;
/// The segment size in a partition's first doubleword.
const SEGMENT_SIZE: u64 = 0xC000_0000_0000_0000;
/// All that a partition may write into its first doubleword, but for the two bits that are ignored, where the
/// processor has this form.
const fn guests_first(form: EntryForm) -> u64 {
    SEGMENT_SIZE | form.abbreviated | GUESTS_OWN | first::L | first::H | first::V
}
/// What is ignored there, and read as 0.
const IGNORED_FIRST: u64 = 0x60;
/// Bit 1 of a partition's second doubleword, which has no meaning.
pub(super) const RESERVED_SECOND: u64 = 1 << 62;
/// What both forms of the second doubleword have in the same place, but for the address.
const COMMON_SECOND: u64 = second::PP0
    | second::KEY_HIGH.mask()
    | second::KEY_LOW.mask()
    | second::R
    | second::C
    | second::WIMG
    | second::N
    | second::PP.mask();

/// An entry that a partition may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The first doubleword in the processor's form, valid.
    pub(super) first: u64,
    /// The second.
    pub(super) second: u64,
    /// The second as the partition wrote it, without R and C.
    pub(super) kept: u64,
}

/// The page size that an entry's L and address name, if there is such a one.
fn size_of(first_doubleword: u64, second_doubleword: u64) -> Option<PageSize> {
    let address = second_doubleword & EntryForm::V2.address;
    if first_doubleword & first::L == 0 {
        return Some(SMALL);
    }
    let is_named = |page: &&PageSize| {
        address & ((1 << page.actual_log2) - 1) == page.code << SMALL.actual_log2
    };
    LARGE_PAGES.iter().find(is_named).copied()
}

/// The same for calls that take long anyway: those in a hurry have it inlined.
#[inline(never)]
pub(super) fn size([first_doubleword, second_doubleword]: [u64; 2]) -> Option<PageSize> {
    size_of(first_doubleword, second_doubleword)
}

impl Checked {
    /// What a partition wrote, in the processor's form, if every bit of it is one that it may write, and the page is
    /// its own: `find` says where so many bytes of its memory are, if all of them are.
    #[must_use]
    #[inline(always)]
    pub fn new(
        form: EntryForm,
        first_doubleword: u64,
        second_doubleword: u64,
        find: impl Fn(GuestRealAddress, u64) -> Option<RealAddress>,
    ) -> Option<Self> {
        let written = first_doubleword & !IGNORED_FIRST;
        let is_normal_memory = second_doubleword & second::WIMG == second::M;
        if written & !guests_first(form) != 0
            || written & first::V == 0
            || second_doubleword & RESERVED_SECOND != 0
            || !is_normal_memory
        {
            return None;
        }
        let size = size_of(written, second_doubleword)?;
        let segment_size = EntryForm::V2.segment_size.get(written);
        let fits = match segment_size {
            0 => size.actual_log2 <= 28,
            1 => true,
            _ => false,
        };
        // Bits of the address inside the base page: the architecture ignores them, and no software sets them.
        let inside = (1 << size.base_log2.max(first::AVA_OMITS_LOG2)) - 1;
        let inside = inside >> first::AVA_OMITS_LOG2 << first::AVA_SHIFT;
        if !fits || written & inside != 0 {
            return None;
        }
        let below = (1 << size.actual_log2) - 1;
        let page = GuestRealAddress(second_doubleword & EntryForm::V2.address & !below);
        let real = find(page, 1 << size.actual_log2)?;
        if !real.is_aligned(size.actual_log2) || real.0 & !form.address != 0 {
            return None;
        }
        let code = second_doubleword & EntryForm::V2.address & below;
        let second = second_doubleword & COMMON_SECOND | real.0 | code;
        let [first, second] =
            form.with_segment_size([written & !SEGMENT_SIZE, second], segment_size);
        let marks = second::R | second::C;
        Some(Self { first, second, kept: second_doubleword & !marks })
    }
}

/// The first doubleword of an entry as a partition reads it.
#[inline(always)]
pub(super) const fn as_written(form: EntryForm, entry: [u64; 2]) -> u64 {
    let segment_size = form.segment_size_of(entry);
    let rest = entry[0] & guests_first(form) & !SEGMENT_SIZE;
    EntryForm::V2.segment_size.set(rest, segment_size)
}

/// Whether pp lets anybody store.
pub(super) const fn is_writable(second_doubleword: u64) -> bool {
    const ALL_READ: u64 = 3;
    second_doubleword & second::PP0 == 0 && second::PP.get(second_doubleword) != ALL_READ
}

/// The page that the entry in `slot` translates.
#[inline(always)]
pub(super) fn page_of(form: EntryForm, entry: [u64; 2], slot: u64) -> VirtualPage {
    // One of 4 KiB needs little of what is below.
    if entry[0] & first::L == 0 {
        return page_with(SMALL, form, entry, slot);
    }
    page_with(size(entry).expect("only checked entries are there"), form, entry, slot)
}

#[inline(always)]
fn page_with(size: PageSize, form: EntryForm, entry: [u64; 2], slot: u64) -> VirtualPage {
    let [first_doubleword, _] = entry;
    let segment_size = form.segment_size_of(entry);
    let segment_log2 = if segment_size == 0 { 28 } else { 40 };
    let high = (first_doubleword & form.abbreviated) >> first::AVA_SHIFT;
    // The bits that an entry leaves out are in its group's number.
    let group = slot / GROUP_ENTRIES as u64;
    let hashed = if first_doubleword & first::H == 0 { group } else { !group };
    let vsid = high >> (segment_log2 - first::AVA_OMITS_LOG2);
    let missing = hashed ^ hash::hash(vsid, segment_log2, size.base_log2, 0);
    let bits = first::AVA_OMITS_LOG2.saturating_sub(size.base_log2);
    let low = (missing & ((1 << bits) - 1)) << size.base_log2;
    VirtualPage { address: high << first::AVA_OMITS_LOG2 | low, segment_size, size }
}

/// The entry for the page of 4 KiB at `address` of the virtual real mode area, with all rights, R and C, and the hash
/// under which it lies.
#[inline(always)]
pub(super) fn of_real_mode(
    form: EntryForm,
    address: GuestRealAddress,
    real: RealAddress,
) -> (Checked, u64) {
    const MARKS: u64 = second::R | second::C;
    const SEGMENT_LOG2: u32 = 40;
    let vsid = segment::LARGE_VSID.get(segment::VIRTUAL_REAL_MODE);
    let hashed = hash::hash(vsid, SEGMENT_LOG2, SMALL.base_log2, address.0);
    let low = first::AVA_OMITS_LOG2;
    let high = vsid << (SEGMENT_LOG2 - low) | address.0 >> low;
    let page = !((1 << SMALL.actual_log2) - 1);
    let first = high << first::AVA_SHIFT & form.abbreviated | first::V;
    let [first, second] = form.with_segment_size([first, real.0 & page | MARKS | second::M], 1);
    (Checked { first, second, kept: address.0 & page | second::M }, hashed)
}
