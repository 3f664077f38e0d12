//! The table from instruction to class, a file per family as in `arch/src/instruction/table/`.
//!
//! A line is `Class: Mnemonic ...;` or, where operands decide, `(function): Mnemonic ...;`. Each family file is a
//! macro that appends its lines to those it is given and calls the next; the last, `classes`, makes one `match` out
//! of all of them, so that the compiler asks for the class of a new instruction and refuses a second one.

#[macro_use]
mod branch;
#[macro_use]
mod decimal;
#[macro_use]
mod fixed_point;
#[macro_use]
mod floating_point;
mod spr;
#[macro_use]
mod storage;
#[macro_use]
mod system;
#[macro_use]
mod vector;
#[macro_use]
mod vector_scalar;

use arch::instruction::{Mnemonic, Word};

use super::Class;

/// What stands before the colon of a line, for `$word`.
macro_rules! class {
    ($word:ident, ($($function:tt)+)) => { $($function)+($word) };
    ($word:ident, $class:ident) => { Class::$class };
}

macro_rules! classes {
    (=> $($class:tt: $($mnemonic:ident)+;)+) => {
        /// The class of the instruction `word`, which `mnemonic` names.
        #[deny(unreachable_patterns, reason = "an instruction has one class")]
        pub(super) fn class(mnemonic: Mnemonic, word: Word) -> Class {
            match mnemonic { $($(Mnemonic::$mnemonic)|+ => class!(word, $class),)+ }
        }
    };
}

branch! { fixed_point storage floating_point decimal vector vector_scalar system classes => }
