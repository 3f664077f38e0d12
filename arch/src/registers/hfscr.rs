//! Facility status and control, hypervisor's (HFSCR) and operating system's (FSCR).
//! Source: `docs/facts/special-registers.md#facilities`. Bit `63 - cause` switches the facility with that cause, but
//! for `stop`.

use crate::bits::Field;

/// Which facility was refused: set by the interrupt.
pub const INTERRUPT_CAUSE: Field = Field::new(0, 7);

macro_rules! facilities {
    ($($(#[$doc:meta])* $name:ident = $cause:literal;)*) => {
        /// A facility by its interrupt cause.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Facility { $($(#[$doc])* $name = $cause,)* }

        impl Facility {
            /// Every facility.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The facility with this cause.
            #[must_use]
            pub const fn from_cause(cause: u64) -> Option<Self> {
                match cause { $($cause => Some(Self::$name),)* _ => None }
            }
        }
    };
}

facilities! {
    /// Floating point (HFSCR only).
    Fp = 0;
    /// Vector and VSX (HFSCR only).
    VecVsx = 1;
    /// Data stream control register.
    Dscr = 2;
    /// Performance monitor (HFSCR only).
    Pm = 3;
    /// Branch history rolling buffer (HFSCR only).
    Bhrb = 4;
    /// Transactional memory.
    Tm = 5;
    /// Event-based branching.
    Ebb = 7;
    /// Target address register.
    Tar = 8;
    /// `stop`, which PSSCR withholds: HFSCR has no bit for it, and the cause alone.
    Stop = 9;
    /// `msgsndp`, `msgclrp`, TIR and DPDES (HFSCR only).
    Msgp = 10;
    /// `scv` (FSCR only).
    Scv = 12;
}

impl Facility {
    /// The bit that switches the facility on.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << (self as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::{Facility, INTERRUPT_CAUSE};

    #[test]
    fn the_cause_is_the_number_of_the_bit_from_the_right() {
        for &facility in Facility::ALL {
            let cause = u64::from(facility.bit().trailing_zeros());
            assert_eq!(Facility::from_cause(cause), Some(facility));
            assert!(facility.bit().is_power_of_two());
            assert_eq!(facility.bit() & INTERRUPT_CAUSE.mask(), 0);
        }
        assert_eq!(Facility::Tar.bit(), 0x100);
        assert_eq!(Facility::from_cause(6), None);
    }
}
