//! A mark as people write it: the immediate of its `tdi`.

use std::fmt;
use std::str::FromStr;

use arch::marker::Mark;

/// The mark behind which a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Until(pub Mark);

/// The text is not a mark.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a mark; it must be a number from 0x4000 to 0x4fff, as in `tdi 0,r0,0x4000`")]
pub struct UntilError(String);

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Self, UntilError> {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u16::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let mark = number.ok().and_then(Mark::from_immediate);
        mark.map(Self).ok_or_else(|| UntilError(text.to_owned()))
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0.word().0 & 0xFFFF)
    }
}

#[cfg(test)]
mod tests {
    use super::Until;

    #[test]
    fn a_mark_is_read_in_both_ways_and_written_in_one() {
        for (text, shown) in [("0x4000", "0x4000"), ("18432", "0x4800"), ("0x4fff", "0x4fff")] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), shown);
        }
        for text in ["", "0x48", "0x3fff", "0x5000", "0x14000", "-1", "begin"] {
            assert!(text.parse::<Until>().is_err(), "{text}");
        }
    }
}
