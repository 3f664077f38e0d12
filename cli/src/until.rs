//! What a run is to stop at, and what a region is, as people write them: a mark by the immediate of its `tdi`, or a
//! function by its name.

use std::fmt;
use std::str::FromStr;

use arch::marker::{Mark, Region};

/// What a run stops at: behind a mark, or before a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// This mark.
    Mark(Mark),
    /// A function, or `PARTITION:FUNCTION`.
    Function(String),
}

/// A part of a run: between two marks, or from a function's entry to its return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// This region.
    Marked(Region),
    /// A function, or `PARTITION:FUNCTION`.
    Function(String),
}

/// The text is neither a mark nor a name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is neither a mark nor a function; a mark is a number from 0x4000 to 0x4fff, as in `tdi 0,r0,0x4000`, and \
     a function has a name"
)]
pub struct UntilError(String);

/// The text is neither the begin of a region nor a name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is neither a region's first mark nor a function; such a mark is a number from 0x4000 to 0x47ff, as in \
     `tdi 0,r0,0x4000`, and a function has a name"
)]
pub struct PartError(String);

/// The mark of this number, if the text is one; `Err` for a number that is none.
fn mark(text: &str) -> Result<Option<Mark>, ()> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || first == '-') && !text.is_empty() {
        return Ok(None);
    }
    let number = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.ok().and_then(Mark::from_immediate).map(Some).ok_or(())
}

fn immediate(mark: Mark) -> u32 {
    mark.word().0 & 0xFFFF
}

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Self, UntilError> {
        match mark(text) {
            Ok(Some(mark)) => Ok(Self::Mark(mark)),
            Ok(None) => Ok(Self::Function(text.to_owned())),
            Err(()) => Err(UntilError(text.to_owned())),
        }
    }
}

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        match mark(text) {
            Ok(Some(Mark::Begin(region))) => Ok(Self::Marked(region)),
            Ok(None) => Ok(Self::Function(text.to_owned())),
            Ok(Some(Mark::End(_))) | Err(()) => Err(PartError(text.to_owned())),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark(mark) => write!(f, "mark {:#x}", immediate(*mark)),
            Self::Function(name) => write!(f, "{name}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marked(region) => write!(f, "{:#x}", immediate(Mark::Begin(*region))),
            Self::Function(name) => write!(f, "{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Until};

    #[test]
    fn a_mark_is_read_in_both_ways_and_written_in_one() {
        for (text, shown) in [("0x4000", "0x4000"), ("18432", "0x4800"), ("0x4fff", "0x4fff")] {
            assert_eq!(text.parse::<Until>().unwrap().to_string(), format!("mark {shown}"));
        }
        for text in ["", "0x48", "0x3fff", "0x5000", "0x14000", "-1", "4k"] {
            assert!(text.parse::<Until>().is_err(), "{text}");
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_a_function() {
        assert_eq!("do_exit".parse(), Ok(Until::Function("do_exit".to_owned())));
        assert_eq!("a:b::c".parse(), Ok(Part::Function("a:b::c".to_owned())));
        assert_eq!("0x4003".parse::<Part>().unwrap().to_string(), "0x4003");
        assert!("0x4803".parse::<Part>().is_err(), "a region begins with its first mark");
    }
}
