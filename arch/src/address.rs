//! Addresses of the different spaces, each a type of its own.
//!
//! A number is an address of one space only; the function that translates is the one that converts.
//! Plain arithmetic is refused: an offset is added checked, or with [`wrapping_add`] where the
//! architecture wraps.
//!
//! [`wrapping_add`]: EffectiveAddress::wrapping_add

use core::fmt;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The address `bytes` further, or `None` past the end of the space.
            #[must_use]
            pub const fn checked_add(self, bytes: u64) -> Option<Self> {
                match self.0.checked_add(bytes) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }

            /// The address `bytes` further, modulo 2^64.
            #[must_use]
            pub const fn wrapping_add(self, bytes: u64) -> Self {
                Self(self.0.wrapping_add(bytes))
            }

            /// The address rounded down to a multiple of `1 << log2`.
            #[must_use]
            pub const fn align_down(self, log2: u32) -> Self {
                Self(self.0 >> log2 << log2)
            }

            /// The offset within a page of `1 << log2` bytes.
            #[must_use]
            pub const fn offset(self, log2: u32) -> u64 {
                self.0 & ((1 << log2) - 1)
            }

            /// Whether the address is a multiple of `1 << log2`.
            #[must_use]
            pub const fn is_aligned(self, log2: u32) -> bool {
                self.offset(log2) == 0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#018x}", self.0)
            }
        }
    };
}

address! {
    /// What an instruction computes: the address before any translation.
    EffectiveAddress
}
address! {
    /// What a partition takes for real memory: the address between the two stages of translation.
    GuestRealAddress
}
address! {
    /// An address of the machine's memory.
    RealAddress
}
