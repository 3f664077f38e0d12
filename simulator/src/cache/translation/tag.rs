//! Tags of pages: the number of the space, the size, and the page.

/// The bits of an address that a space translates, as radix has them: the longest that this machine knows.
const ADDRESS_LOG2: u32 = arch::radix::SPACE_LOG2;
/// Bits of a tag below the size: pages of the smallest size in a space.
const SIZE_LOG2: u32 = 40;
/// Bits of a tag below the space.
const SPACE_LOG2: u32 = 42;

/// The tag of the page of 2^`sizes_log2[size]` bytes of `address`; the quadrant is in the space.
#[inline]
pub(super) fn tag(space: u64, sizes_log2: [u32; 4], size: usize, address: u64) -> u64 {
    let page = (address & ((1 << ADDRESS_LOG2) - 1)) >> sizes_log2[size];
    space << SPACE_LOG2 | (size as u64) << SIZE_LOG2 | page
}

/// The space of a tag.
pub(super) fn space(tag: u64) -> u64 {
    tag >> SPACE_LOG2
}

/// The page's size and its first address, of a tag of a space with these sizes.
pub(super) fn page(tag: u64, sizes_log2: [u32; 4]) -> (u32, u64) {
    let page_log2 = sizes_log2[(tag >> SIZE_LOG2 & 3) as usize];
    (page_log2, (tag & ((1 << SIZE_LOG2) - 1)) << page_log2)
}
