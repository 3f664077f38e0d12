//! Ranges of real memory, and the search for a free one.
//!
//! The search needs no allocation, since it finds the memory that the heap is made of.

use arch::address::RealAddress;

/// A range of real memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First byte.
    pub start: RealAddress,
    /// Length.
    pub bytes: u64,
}

impl Range {
    /// The range from `start`, `bytes` long.
    #[must_use]
    pub const fn new(start: u64, bytes: u64) -> Self {
        Self { start: RealAddress(start), bytes }
    }

    /// One past the last byte; a range that would wrap ends with the address space.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.start.0.saturating_add(self.bytes)
    }

    /// Whether the two have a byte in common.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.bytes != 0
            && other.bytes != 0
            && self.start.0 < other.end()
            && other.start.0 < self.end()
    }
}

/// The lowest range of `bytes` bytes, aligned to `1 << alignment_log2`, inside one of `memory` and
/// clear of all of `reserved`, a list that is walked several times. The lists may be in any order
/// and overlap.
pub fn find_free<R: Iterator<Item = Range>>(
    memory: impl Iterator<Item = Range>,
    reserved: impl Fn() -> R,
    bytes: u64,
    alignment_log2: u32,
) -> Option<Range> {
    let align = |address: u64| {
        address
            .checked_add((1 << alignment_log2) - 1)
            .map(|end| RealAddress(end).align_down(alignment_log2))
    };
    memory
        .filter_map(|block| {
            let mut start = align(block.start.0)?;
            // Each round moves past one reservation, so there are at most as many as reservations.
            loop {
                let candidate = Range { start, bytes };
                if start.checked_add(bytes)?.0 > block.end() {
                    return None;
                }
                match reserved().find(|taken| taken.overlaps(candidate)) {
                    None => return Some(candidate),
                    Some(taken) => start = align(taken.end())?,
                }
            }
        })
        .min_by_key(|found| found.start)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Range, find_free};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use std::vec::Vec;

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        assert!(!Range::new(0, 16).overlaps(Range::new(16, 16)));
        assert!(Range::new(0, 17).overlaps(Range::new(16, 16)));
        assert!(!Range::new(8, 0).overlaps(Range::new(0, 16)));
    }

    #[test]
    fn a_reservation_at_the_end_of_the_address_space_does_not_wrap() {
        let reserved = [Range::new(u64::MAX - 10, 100), Range::new(0, 0x1000)];
        let found =
            find_free([Range::new(0, 0x4000)].into_iter(), || reserved.into_iter(), 0x1000, 12);
        assert_eq!(found, Some(Range::new(0x1000, 0x1000)));
        let all = [Range::new(0, u64::MAX)];
        assert_eq!(find_free([Range::new(0, 0x4000)].into_iter(), || all.into_iter(), 1, 12), None);
    }

    proptest! {
        /// Against a search that tries every aligned address.
        #[test]
        fn the_lowest_free_range_is_found(
            memory in proptest::collection::vec((0u64..64, 0u64..40), 1..3),
            reserved in proptest::collection::vec((0u64..100, 0u64..20), 0..8),
            units in 1u64..12,
            alignment_log2 in 0u32..3,
        ) {
            let ranges = |list: &[(u64, u64)]| -> Vec<Range> {
                list.iter().map(|&(start, bytes)| Range::new(start, bytes)).collect()
            };
            let (memory, reserved) = (ranges(&memory), ranges(&reserved));
            let naive = (0u64..128).step_by(1 << alignment_log2).map(|start| Range::new(start, units)).find(|candidate| {
                memory.iter().any(|block| block.start <= candidate.start && candidate.end() <= block.end())
                    && !reserved.iter().any(|taken| taken.overlaps(*candidate))
            });
            let found = find_free(memory.iter().copied(), || reserved.iter().copied(), units, alignment_log2);
            prop_assert_eq!(found, naive);
            prop_assert!(found.is_none_or(|range| range.start.is_aligned(alignment_log2)));
        }
    }
}
