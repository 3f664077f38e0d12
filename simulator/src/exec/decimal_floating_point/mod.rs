//! Decimal floating point: Power ISA 3.0B Book I chapter 5.
//!
//! | module | what it is |
//! |---|---|
//! | `format` | DFP Short, Long and Extended: between the bits and [`number::Decimal`] |
//! | `number` | a datum taken apart, and the NaN rules |
//! | `operand` | datums in registers and register pairs, and the delivery of results |
//! | `round` | from an exact result to a format: rounding, overflow, underflow, the form of the result |
//! | `arithmetic`, `quantize`, `convert`, `digits`, `exponent` | the instructions that give a number |
//! | `compare`, `test` | those that give a condition |
//!
//! FPSCR, its exceptions and their interrupt are those of binary floating point
//! (`exec/floating_point`); `exec/declet.rs` is the code of the digits.
//!
//! What the architecture leaves undefined, or no source at hand settles, and what is done here:
//! - FR and FI of instructions that leave them undefined (`dctdp`, `dctqpq`, `dcffixq`) become 0; FPRF
//!   of `dctfix` stays.
//! - A NaN that a narrower format cannot hold keeps the low digits of its payload, as in what Valgrind's
//!   tests expect on hardware.
//! - `diex` writes the digits in the preferred declets; a special datum's significand is its trailing
//!   digits, an infinity's as well.
//! - `drsp` and `drdpq` with an enabled overflow or underflow stop the machine: by how much the result
//!   is scaled there is in no source at hand.

mod arithmetic;
mod compare;
mod convert;
mod digits;
mod exponent;
mod format;
mod number;
mod operand;
mod quantize;
mod round;
mod test;

use arch::instruction::{Mnemonic, Word};

use super::{Handler, Mode, floating_point};

/// The handler of a decimal floating-point instruction; with MSR\[FP\]=0 the one that interrupts.
pub fn handler(mnemonic: Mnemonic, _: Word, mode: Mode) -> Option<Handler> {
    let families = [
        arithmetic::handler,
        quantize::handler,
        convert::handler,
        digits::handler,
        exponent::handler,
        compare::handler,
        test::handler,
    ];
    let handler = families.iter().find_map(|family| family(mnemonic))?;
    Some(if mode.has_floating_point() { handler } else { floating_point::unavailable })
}

#[cfg(test)]
mod tests;
