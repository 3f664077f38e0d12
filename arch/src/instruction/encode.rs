//! From a mnemonic and its operands to a word.

use core::fmt;

use super::table::row::OE;
use super::{Mnemonic, Operand, Word};

/// Why there is no such instruction word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// The number of values is not that of [`Row::operands`](super::Row::operands).
    OperandCount {
        /// Number of operands of the instruction.
        expected: usize,
        /// Number of values given.
        given: usize,
    },
    /// The operand cannot hold the value.
    OutOfRange {
        /// Which operand.
        operand: Operand,
        /// The value given.
        value: i64,
    },
    /// The instruction has no variant with Rc = 1.
    NoRecord,
    /// The instruction has no variant with OE = 1.
    NoOverflow,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OperandCount { expected, given } => {
                write!(f, "{given} operands given, {expected} expected")
            }
            Self::OutOfRange { operand, value } => {
                let (lowest, highest) = operand.range();
                write!(f, "{operand:?} = {value}, must be from {lowest} to {highest}")?;
                match operand.multiple_of() {
                    1 => Ok(()),
                    multiple => write!(f, " and a multiple of {multiple}"),
                }
            }
            Self::NoRecord => f.write_str("no variant with Rc = 1"),
            Self::NoOverflow => f.write_str("no variant with OE = 1"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// The word of `mnemonic` with the values of its operands, in the order of
/// [`Row::operands`](super::Row::operands) and with the meaning that [`Operand`] describes; `rc` and
/// `oe` choose the variant.
///
/// Invalid forms can be encoded: see [`Row::is_invalid_form`](super::Row::is_invalid_form).
///
/// # Errors
///
/// When there is no such variant, or the values do not fit the operands in number or range.
pub fn encode(
    mnemonic: Mnemonic,
    operands: &[i64],
    rc: bool,
    oe: bool,
) -> Result<Word, EncodeError> {
    let row = mnemonic.row();
    if rc && !row.has_rc {
        return Err(EncodeError::NoRecord);
    }
    if oe && !row.has_oe {
        return Err(EncodeError::NoOverflow);
    }
    if operands.len() != row.operands.len() {
        return Err(EncodeError::OperandCount {
            expected: row.operands.len(),
            given: operands.len(),
        });
    }
    let mut word = row.value;
    if rc {
        word |= row.rc_bit;
    }
    if oe {
        word |= OE;
    }
    for (&operand, &value) in row.operands.iter().zip(operands) {
        word |= operand.insert(value).ok_or(EncodeError::OutOfRange { operand, value })?;
    }
    Ok(Word(word))
}
