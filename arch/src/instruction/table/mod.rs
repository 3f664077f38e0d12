//! The table: one line per instruction, a file per family.
//!
//! A line is `Mnemonic "name" form(opcodes) [operands] properties;`. Form constructors are those of
//! `form`, operands those of [`Operand`], properties the building methods of [`Row`]. Rows that
//! share an extended opcode stand next to each other; `decode` relies on it and the compiler checks.
//!
//! Each family file is a macro that appends its lines to those it is given and calls the next; the
//! last, `instructions`, makes the enumeration and the rows out of all of them.

use super::form::{
    A, B, D, DQ, DQX, DS, DX, I, M, MD, MDS, SC, VA, VC, VX, VXD, X, XFL, XFX, XL, XO, XS, XX1,
    XX2, XX2D, XX3, XX3C, XX3D, XX4, Z22, Z23,
};
use super::operand::Operand;
use super::validity::Constraint;
use row::Row;

pub(super) mod row;

#[macro_use]
mod branch;
#[macro_use]
mod decimal;
#[macro_use]
mod fixed_point;
#[macro_use]
mod floating_point;
#[macro_use]
mod storage;
#[macro_use]
mod system;
#[macro_use]
mod vector;
#[macro_use]
mod vector_scalar;

macro_rules! instructions {
    (=> $(
        $mnemonic:ident $name:literal $form:ident ( $($opcode:literal),+ ) [ $($operand:ident)* ]
        $($property:ident $(( $($argument:expr),+ ))?)*;
    )+) => {
        /// An instruction; variants by Rc, OE, LK and AA are one.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum Mnemonic {
            $(#[doc = concat!("`", $name, "`")] $mnemonic,)+
        }

        pub(super) const ROWS: &[Row] = &[
            $(
                Row::new(
                    Mnemonic::$mnemonic,
                    $name,
                    $form($($opcode),+),
                    &[$(Operand::$operand),*],
                )
                $(.$property($($($argument),+)?))*
                .finish(),
            )+
        ];
    };
}

branch! { fixed_point storage floating_point decimal vector vector_scalar system instructions => }

/// All instructions, each at the index that is its [`Mnemonic`].
pub static TABLE: &[Row] = ROWS;

impl Mnemonic {
    /// What is known about this instruction.
    #[inline]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}
