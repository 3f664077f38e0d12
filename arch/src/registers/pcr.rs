//! PCR, the processor compatibility register: what problem state does without.
//! Source: `docs/facts/special-registers.md#pcr`.

use crate::bits::bit;

/// No transactions.
pub const TM: u64 = bit(2);
/// Nothing that is newer than ISA 2.07.
pub const V2_07: u64 = bit(60);
/// Nothing that is newer than ISA 2.06.
pub const V2_06: u64 = bit(61);
/// Nothing that is newer than ISA 2.05.
pub const V2_05: u64 = bit(62);

/// A level of the architecture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// ISA 2.05 or earlier.
    V2_05,
    /// ISA 2.06.
    V2_06,
    /// ISA 2.07.
    V2_07,
    /// ISA 3.0.
    V3_0,
}

impl Level {
    /// The latest level that a value of PCR leaves to problem state.
    #[must_use]
    pub const fn left_by(pcr: u64) -> Self {
        if pcr & V2_05 != 0 {
            Self::V2_05
        } else if pcr & V2_06 != 0 {
            Self::V2_06
        } else if pcr & V2_07 != 0 {
            Self::V2_07
        } else {
            Self::V3_0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, TM};

    #[test]
    fn the_earliest_of_several_levels_counts() {
        let levels = [0, TM, 0x8, 0xC, 0xE, 0x2].map(Level::left_by);
        let [all, without_transactions, one, two, three, last] = levels;
        assert_eq!([all, without_transactions], [Level::V3_0; 2]);
        assert_eq!([one, two], [Level::V2_07, Level::V2_06]);
        assert_eq!([three, last], [Level::V2_05; 2]);
    }
}
