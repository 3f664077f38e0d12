//! The processors that the project knows.

use core::fmt;

/// A processor generation. It is not ordered: ask for the feature, not for "at least".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Processor {
    /// POWER8, Power ISA 2.07.
    Power8,
    /// POWER9, Power ISA 3.0B.
    Power9,
}

impl Processor {
    /// The generation that a processor version register names, if it is one of ours.
    ///
    /// The upper halfword is the processor: 0x004B, 0x004C and 0x004D are POWER8, 0x004E is POWER9.
    /// Source: `docs/facts/special-registers.md#processor-version`.
    #[must_use]
    pub const fn from_pvr(pvr: u32) -> Option<Self> {
        match pvr >> 16 {
            0x4B..=0x4D => Some(Self::Power8),
            0x4E => Some(Self::Power9),
            _ => None,
        }
    }

    /// The name that machine descriptions and device trees use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Power8 => "POWER8",
            Self::Power9 => "POWER9",
        }
    }
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::Processor;
    use std::string::ToString;

    #[test]
    fn the_upper_halfword_of_the_version_names_the_processor() {
        let name = |pvr| Processor::from_pvr(pvr).map(|processor| processor.to_string());
        for pvr in [0x004B_0201, 0x004C_0100, 0x004D_0200] {
            assert_eq!(name(pvr).as_deref(), Some("POWER8"));
        }
        assert_eq!(name(0x004E_1203).as_deref(), Some("POWER9"));
        // POWER7+, POWER10, and POWER9's number in the wrong half.
        for pvr in [0x004A_0201, 0x0080_0200, 0x0000_004E] {
            assert_eq!(name(pvr), None);
        }
    }
}
