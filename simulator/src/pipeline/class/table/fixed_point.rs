//! The classes of the instructions of `arch/src/instruction/table/fixed_point.rs`.

use arch::instruction::Word;

use crate::pipeline::class::Class;

macro_rules! fixed_point {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Fixed: Addi Addis Addpcis Add Addic AddicRc Addc Adde Addme Addze Addex Subfic Subf Subfc
        Subfe Subfme Subfze Neg Cmpi Cmpli Cmp Cmpl Cmprb Cmpeqb Isel AndiRc AndisRc Oris Xori
        Xoris And Andc Orc Xor Eqv Nand Nor Extsb Extsh Extsw Cmpb Rlwinm Rlwnm Rlwimi Rldicl
        Rldicr Rldic Rldimi Rldcl Rldcr Slw Srw Srawi Sraw Sld Srd Sradi Srad Extswsli Cdtbcd
        Cbcdtd Addg6s;
    Count: Cntlzw Cntlzd Cnttzw Cnttzd Popcntb Popcntw Popcntd Prtyw Prtyd Bpermd;
    Multiply: Mulli Mullw Mulhw Mulhwu Mulld Mulhd Mulhdu Maddhd Maddhdu Maddld;
    DivideWord: Divw Divwu Modsw Moduw;
    DivideDoubleword: Divwe Divweu Divd Divdu Modsd Modud;
    DivideExtended: Divde Divdeu;
    Condition: Setb Mtcrf Mtocrf;
    FieldRead: Mfocrf Mcrxrx;
    ConditionRead: Mfcr;
    Management: Darn;
    (fixed_point::trap): Twi Tdi Tw Td;
    (fixed_point::or_immediate): Ori;
    (fixed_point::or): Or;
    (spr::write): Mtspr;
    (spr::read): Mfspr;

    }};
}

/// A trap that never traps is a mark.
pub(super) fn trap(word: Word) -> Class {
    if word.to() == 0 { Class::Nothing } else { Class::Fixed }
}

/// Priorities and other hints are moves of a register to itself.
pub(super) fn or(word: Word) -> Class {
    let is_same_register = word.rs() == word.ra() && word.ra() == word.rb();
    if is_same_register && !word.rc() { Class::Nothing } else { Class::Fixed }
}

/// The preferred no-operation is one, and another is a barrier.
pub(super) fn or_immediate(word: Word) -> Class {
    match word {
        Word(0x6000_0000) => Class::Nothing,
        Word::SPECULATION_BARRIER => Class::SpeculationBarrier,
        _ => Class::Fixed,
    }
}
