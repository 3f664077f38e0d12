//! The classes of `mfspr` and `mtspr`, by the register.

use arch::instruction::Word;
use arch::registers::spr::{Spr, SprRow};

use crate::pipeline::class::Class;
use crate::pipeline::registers::{changes_context, renamed_spr};

pub(super) fn read(word: Word) -> Class {
    const XER: u16 = Spr::Xer.number_to_read();
    let number = word.spr();
    match row(number) {
        Some(Spr::Tb | Spr::Vtb | Spr::Purr | Spr::Spurr) => Class::TimeBaseRead,
        _ if number == XER => Class::XerRead,
        _ if renamed_spr(number).is_empty() => Class::SprRead,
        _ => Class::RenamedRead,
    }
}

pub(super) fn write(word: Word) -> Class {
    let number = word.spr();
    if !renamed_spr(number).is_empty() {
        Class::RenamedWrite
    } else if row(number) == Some(Spr::Trig2) {
        Class::FlushData
    } else if row(number).is_some_and(changes_context) {
        Class::ContextWrite
    } else {
        Class::SprWrite
    }
}

fn row(number: u16) -> Option<Spr> {
    SprRow::of_number(number).map(|row| row.spr)
}
