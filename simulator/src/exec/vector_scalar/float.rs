//! Floating-point numbers as elements. All arithmetic is done on doubles, which hold the numbers of the
//! narrower formats exactly.

use crate::exec::floating_point::load::double_from_single;
use crate::exec::floating_point::round::{Double, Format, Half, Single};
use crate::exec::floating_point::store::single_from_double;
use crate::exec::vector::lane::Lane;

/// An element that is a floating-point number.
pub(super) trait Float: Lane {
    /// Its format.
    type Format: Format;

    /// The same number as a double. A NaN keeps its payload and stays signalling if it is.
    fn double(self) -> u64;

    /// The element that is `double`, which the format holds.
    fn of(double: u64) -> Self;
}

impl Float for u64 {
    type Format = Double;

    #[inline(always)]
    fn double(self) -> u64 {
        self
    }

    #[inline(always)]
    fn of(double: u64) -> Self {
        double
    }
}

impl Float for u32 {
    type Format = Single;

    #[inline(always)]
    fn double(self) -> u64 {
        double_from_single(self)
    }

    #[inline(always)]
    fn of(double: u64) -> Self {
        single_from_double(double)
    }
}

impl Float for u16 {
    type Format = Half;

    fn double(self) -> u64 {
        // As the bits of a single, which has a wider exponent, they are the number times 2^-112.
        let magnitude = u32::from(self & 0x7FFF) << 13;
        let sign = u64::from(self >> 15) << 63;
        let double = double_from_single(magnitude);
        sign | match self & 0x7C00 {
            0x7C00 => 0x7FF << 52 | double & FRACTION,
            _ if magnitude == 0 => 0,
            _ => double + (112 << 52),
        }
    }

    fn of(double: u64) -> Self {
        let sign = (double >> 48) as u16 & 0x8000;
        let fraction = double & FRACTION;
        let magnitude = match (double >> 52 & 0x7FF) as u32 {
            0x7FF => 0x7C00 | (fraction >> 42) as u16,
            // The greatest exponent of a denormal half is 1008.
            exponent @ 1009.. => ((exponent - 1008) << 10) as u16 | (fraction >> 42) as u16,
            exponent => (fraction | 1 << 52).checked_shr(42 + 1009 - exponent).unwrap_or(0) as u16,
        };
        sign | magnitude
    }
}

const FRACTION: u64 = 0x000F_FFFF_FFFF_FFFF;

#[cfg(test)]
mod tests {
    use super::Float;

    #[test]
    fn a_half_is_the_number_that_its_fields_say() {
        for half in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(half >> 10 & 0x1F), f64::from(half & 0x3FF));
            let magnitude = match exponent {
                0 => fraction * 2_f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
            };
            let expected = if half >> 15 != 0 { -magnitude } else { magnitude };
            let double = f64::from_bits(half.double());
            assert!(double == expected || double.is_nan() && expected.is_nan(), "{half:#x}");
            assert_eq!(double.is_sign_negative(), half >> 15 != 0);
            assert_eq!(u16::of(half.double()), half);
        }
    }
}
