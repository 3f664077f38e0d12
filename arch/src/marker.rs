//! Marks: how a payload tells the machine that a region begins or ends.
//!
//! A mark is `tdi 0,r0,IMMEDIATE`: a trap whose condition mask is empty, so it never traps and does
//! nothing on any real machine or on QEMU. The immediate carries which end of a region it is and the
//! region's number; which thread and which partition executed it, the machine knows.

use crate::instruction::Word;

/// The word of `tdi 0,r0,0`.
const TDI_NEVER: u32 = 2 << 26;

/// The immediate of the endian fix-up `tdi 0,r0,0x48`, the first word of every kernel that may be
/// entered in either endianness. It is never a mark.
pub const ENDIAN_FIXUP: u16 = 0x48;

/// Immediates from here on are marks: below lies the endian fix-up.
const FIRST: u16 = 0x4000;
const END: u16 = 0x0800;

/// A region's number, 0 to [`Region::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Region(u16);

impl Region {
    /// The largest region number that fits a mark.
    pub const MAX: u16 = END - 1;

    /// What the hypervisor itself marks: its work for the start of a partition.
    pub const PARTITION_START: Self = Self(0x7F0);
    /// The same: while it zeroes and copies memory for that, which is no part of the other.
    pub const PARTITION_FILL: Self = Self(0x7F1);

    /// The region with this number, or `None` above [`Region::MAX`].
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number <= Self::MAX { Some(Self(number)) } else { None }
    }

    /// The region's number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// One end of a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Mark {
    /// What follows belongs to the region.
    Begin(Region),
    /// The region is over.
    End(Region),
}

impl Mark {
    /// The instruction that leaves this mark.
    #[must_use]
    pub const fn word(self) -> Word {
        let immediate = match self {
            Self::Begin(region) => FIRST | region.0,
            Self::End(region) => FIRST | END | region.0,
        };
        Word(TDI_NEVER | immediate as u32)
    }

    /// The mark with this immediate of `tdi 0,r0,IMMEDIATE`, or `None` if it is not one.
    #[must_use]
    pub const fn from_immediate(immediate: u16) -> Option<Self> {
        Self::from_word(Word(TDI_NEVER | immediate as u32))
    }

    /// The mark that `word` leaves, or `None` if it is not one.
    #[must_use]
    pub const fn from_word(word: Word) -> Option<Self> {
        let immediate = (word.0 & 0xFFFF) as u16;
        if word.0 & 0xFFFF_0000 != TDI_NEVER || immediate & !(END | Region::MAX) != FIRST {
            return None;
        }
        let region = Region(immediate & Region::MAX);
        Some(if immediate & END == 0 { Self::Begin(region) } else { Self::End(region) })
    }
}

#[cfg(test)]
mod tests {
    use super::{ENDIAN_FIXUP, Mark, Region};
    use crate::instruction::Word;

    #[test]
    fn every_mark_is_read_back() {
        for number in 0..=Region::MAX {
            let region = Region::new(number).unwrap();
            for mark in [Mark::Begin(region), Mark::End(region)] {
                assert_eq!(Mark::from_word(mark.word()), Some(mark));
                assert_eq!(Mark::from_immediate(mark.word().0 as u16), Some(mark));
            }
        }
        assert_eq!(Region::new(Region::MAX + 1), None);
    }

    #[test]
    fn a_mark_is_a_trap_doubleword_immediate_with_its_region_in_the_low_bits() {
        let region = Region::new(5).unwrap();
        assert_eq!(Mark::Begin(region).word(), Word(0x0800_4005));
        assert_eq!(Mark::End(region).word(), Word(0x0800_4805));
        // Another immediate, and another register or condition.
        for word in [0x0800_5005, 0x0800_C005, 0x0801_4005, 0x0820_4005, 0x0C00_4005] {
            assert_eq!(Mark::from_word(Word(word)), None, "{word:#x}");
        }
    }

    #[test]
    fn the_endian_fixup_is_not_a_mark() {
        assert_eq!(Mark::from_immediate(ENDIAN_FIXUP), None);
    }
}
