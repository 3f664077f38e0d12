//! The classes of the instructions of `arch/src/instruction/table/branch.rs`.

use arch::instruction::Word;

use crate::pipeline::class::Class;

macro_rules! branch {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Condition: Crand Crandc Cror Crorc Crxor Creqv Crnand Crnor Mcrf;
    Branch: B Bc Bclr Bctar;
    (branch::to_count): Bcctr;
    Return: Rfebb;
    VectoredCall: Scv;
    ChargedLater: Sc;

    }};
}

pub(super) fn to_count(word: Word) -> Class {
    if word == Word::TARGET_FLUSH { Class::FlushTargets } else { Class::Branch }
}
