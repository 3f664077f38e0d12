//! Sizes of memory as people write them: `64 MiB`, `1 GiB`, or a number of bytes.
//!
//! No library's, because a size must be exact and mean one thing: `bytesize` and `parse-size` also take `64
//! MB`, which is another number, and fractions; the first prints a rounded number, and the second prints none.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size(pub u64);

const EXPECTED: &str =
    "a whole number of KiB, MiB, GiB or TiB such as \"64 MiB\", or a number of bytes";
const UNITS: [(&str, u64); 5] =
    [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// The text is not a size that fits 64 bits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a size; it must be {EXPECTED}")]
pub struct SizeError(String);

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let digits = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = text[..text.len() - digits.len()].parse::<u64>();
        let unit = UNITS.iter().find(|(name, _)| *name == digits.trim());
        match (number, unit) {
            (Ok(number), Some((_, factor))) => number.checked_mul(*factor).map(Self),
            _ => None,
        }
        .ok_or_else(|| SizeError(text.to_owned()))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fitting = |(_, factor): &&(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*factor);
        match UNITS.iter().rev().find(fitting) {
            Some((unit, factor)) if *factor > 1 => write!(formatter, "{} {unit}", self.0 / factor),
            _ => write!(formatter, "{} bytes", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(EXPECTED)
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Size, E> {
                u64::try_from(value)
                    .map(Size)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Size, E> {
                Ok(Size(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Size, E> {
                value.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(value), &self))
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        for (text, bytes) in [
            ("65536", 65_536),
            ("64 KiB", 65_536),
            ("64KiB", 65_536),
            ("64 MiB", 64 << 20),
            ("1 GiB", 1 << 30),
            ("1 TiB", 1 << 40),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_size_is_refused() {
        for text in
            ["", "MiB", "64 MB", "64 mib", "-1", "1.5 GiB", "1 GiB extra", "99999999999 GiB"]
        {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_printed_in_their_largest_whole_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1000, "1000 bytes"),
            (65_536, "64 KiB"),
            (3 << 29, "1536 MiB"),
            (2 << 30, "2 GiB"),
            (1 << 40, "1 TiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
