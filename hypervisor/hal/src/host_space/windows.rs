//! The hypervisor's own tree, the windows in it that stay open, and what no window shows.
//!
//! A window that stays open has a place of its own in quadrant 3. It seldom ends, and its place may be used
//! again at once, so that the hardware has to forget its translation then. The architecture leaves undefined
//! what invalidating a single page outside of quadrant 0 does; all translations of the hypervisor's own are
//! invalidated instead. Windows that come and go are in `region`.

use arch::address::RealAddress;
use arch::radix::{Leaf, rights};
use hypervisor_core::hal::HalError;
use hypervisor_core::map_cache::{FRAME_LOG2, Frame};
use hypervisor_core::memory::Range;

use crate::radix::{MapError, PAGE_64K, TableMemory, Tree};

const _: () = assert!(FRAME_LOG2 == PAGE_64K, "a frame is a page");

/// What is the hypervisor's, and what it relies on to stay as it is: no window and no partition gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved([Range; 3]);

impl Reserved {
    /// These ranges.
    #[must_use]
    pub const fn new(ranges: [Range; 3]) -> Self {
        Self(ranges)
    }

    /// Refuses what has a byte in common with it.
    ///
    /// # Errors
    /// [`HalError::Reserved`].
    pub fn refuse(&self, range: Range) -> Result<(), HalError> {
        if self.0.iter().any(|taken| taken.overlaps(range)) {
            Err(HalError::Reserved)
        } else {
            Ok(())
        }
    }
}

/// A page of the hypervisor's own trees.
#[must_use]
pub const fn leaf(base: RealAddress, rights: u64) -> Leaf {
    // POWER9 raises an interrupt where it would have to set R or C.
    Leaf { base, rights, attributes: 0, referenced: true, changed: true }
}

/// Rights of what the hypervisor reads and writes.
pub const RIGHTS_DATA: u64 = rights::PRIVILEGED | rights::READ | rights::WRITE;

/// The frame that a range lies in.
///
/// # Errors
/// [`HalError::BadRange`] if it is empty or in none alone.
pub fn frame_of(range: Range) -> Result<Frame, HalError> {
    let frame = Frame::of(range.start);
    let room = (1 << FRAME_LOG2) - (range.start.0 - frame.start().0);
    if range.bytes == 0 || range.bytes > room || range.start.0 >> 52 != 0 {
        return Err(HalError::BadRange);
    }
    Ok(frame)
}

impl From<MapError> for HalError {
    fn from(error: MapError) -> Self {
        match error {
            MapError::OutOfTables => Self::OutOfTables,
            MapError::Conflict | MapError::Unaligned | MapError::AcrossTables => Self::MapConflict,
        }
    }
}

/// Maps the frame of a range at a place, `base`: where the range is.
///
/// # Errors
/// [`HalError`]; nothing is mapped then.
pub fn pin(
    tree: &mut Tree,
    memory: &mut impl TableMemory,
    base: u64,
    range: Range,
) -> Result<u64, HalError> {
    let frame = frame_of(range)?;
    tree.map(memory, base, PAGE_64K, leaf(frame.start(), RIGHTS_DATA))?;
    Ok(base + (range.start.0 - frame.start().0))
}

#[cfg(test)]
mod tests {
    use super::{HalError, Range, Reserved, pin};
    use crate::radix::sparse::tree;

    const AREA: u64 = 0xC000_0000_2000_0000;
    const MIB: u64 = 1 << 20;

    #[test]
    fn what_is_the_hypervisors_own_is_refused_to_the_byte() {
        let range = Range::new;
        let reserved = Reserved::new([range(0, 5 * MIB), range(64 * MIB, MIB), range(0, 0)]);
        for (start, bytes) in
            [(0, 1), (5 * MIB - 1, 1), (4 * MIB, 2 * MIB), (64 * MIB - 1, 2), (0, u64::MAX)]
        {
            assert_eq!(reserved.refuse(range(start, bytes)), Err(HalError::Reserved), "{start:#x}");
        }
        for (start, bytes) in [(5 * MIB, 59 * MIB), (65 * MIB, u64::MAX)] {
            assert_eq!(reserved.refuse(range(start, bytes)), Ok(()), "{start:#x}");
        }
    }

    #[test]
    fn a_place_that_is_taken_is_left_as_it_is() {
        let (mut memory, mut tree) = tree(100);
        let at = pin(&mut tree, &mut memory, AREA, Range::new(MIB + 640, 640));
        assert_eq!(at, Ok(AREA + 640));
        let again = pin(&mut tree, &mut memory, AREA, Range::new(2 * MIB, 640));
        assert_eq!(again, Err(HalError::MapConflict));
        assert_eq!(tree.walk(&memory, AREA).unwrap().0.base.0, MIB);
        for (start, bytes) in
            [(0, 0), (0xFFFF, 2), (u64::MAX, 2), ((1 << 52) - 1, 2), (1 << 52, 1), (1, 0x1_0000)]
        {
            let wrong = pin(&mut tree, &mut memory, AREA + MIB, Range::new(start, bytes));
            assert_eq!(wrong, Err(HalError::BadRange), "{start:#x}");
        }
    }
}
