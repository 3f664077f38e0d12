//! A moment of a run as people write it: `250us`, so long after the partitions start.

use std::fmt;
use std::str::FromStr;

/// Nanoseconds after the partitions start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment(pub u64);

const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// The text is not a moment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is not a moment; it must be a whole number with ns, us, ms or s behind it, such as 250us"
)]
pub struct MomentError(String);

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = text[..text.len() - unit.len()].parse::<u64>().ok();
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let moment = number.zip(unit).and_then(|(number, (_, unit))| number.checked_mul(*unit));
        moment.map(Self).ok_or_else(|| MomentError(text.to_owned()))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn a_moment_is_a_number_with_a_unit() {
        for (text, nanoseconds) in
            [("0ns", 0), ("7us", 7000), ("12ms", 12_000_000), ("1s", 1_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Moment(nanoseconds)));
        }
        for text in
            ["", "7", "us", "-1us", "1.5us", "1 us", "1h", "99999999999999999999s", "18446744074s"]
        {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
