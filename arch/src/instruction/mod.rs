//! Instructions: one table from which decoder, encoder, disassembler and test generators come.
//!
//! The table holds the Power ISA as POWER8 (ISA 2.07) and POWER9 (ISA 3.0B) have it. [`decode`] finds the [`Row`]
//! of a [`Word`]; [`encode`] goes the other way; [`disassemble`] writes the word as `objdump -M raw` does. What an
//! instruction *does* is the simulator's business.
//!
//! The encodings are compared with binutils, in both directions, by `tests/objdump.rs`.

mod decode;
mod disassemble;
mod encode;
mod form;
mod operand;
mod table;
mod validity;
mod vector;
mod word;

pub use decode::decode;
pub use disassemble::{Disassembly, disassemble};
pub use encode::{EncodeError, encode};
pub use form::Form;
pub use operand::Operand;
pub use table::row::{Book, Privilege, Row};
pub use table::{Mnemonic, TABLE};
pub use vector::{VectorFacility, vector_facility};
pub use word::Word;

#[cfg(test)]
mod tests;
