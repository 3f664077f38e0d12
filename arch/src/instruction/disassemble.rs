//! From a word to text, in the words of `objdump -M raw`: base mnemonics only, every operand
//! written, branch targets as absolute addresses.

use core::fmt::{self, Write};

use super::operand::Notation;
use super::{Operand, Row, Word, decode};

/// An instruction word that is written as assembly by its `Display`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disassembly {
    word: Word,
    address: u64,
}

/// The assembly text of `word`, which is at effective address `address`. A word that is no
/// instruction, or that has reserved bits set, is written as `.long`.
pub const fn disassemble(word: Word, address: u64) -> Disassembly {
    Disassembly { word, address }
}

impl fmt::Display for Disassembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word;
        match decode(word) {
            Some(row) if row.reserved_bits_set(word) == 0 => self.instruction(row, f),
            _ => write!(f, ".long {:#x}", word.0),
        }
    }
}

impl Disassembly {
    fn instruction(&self, row: &Row, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffixes = suffixes(row, self.word);
        f.write_str(row.name)?;
        for suffix in suffixes.into_iter().flatten() {
            f.write_char(suffix)?;
        }
        let mut written = row.name.len() + suffixes.iter().flatten().count();
        let mut separator = ' ';
        let mut operands = row.operands.iter().filter(|operand| !is_suffix(**operand));
        while let Some(&operand) = operands.next() {
            if separator == ' ' {
                // Operands start in a column of their own.
                while written < 7 {
                    f.write_char(' ')?;
                    written += 1;
                }
            }
            f.write_char(separator)?;
            self.operand(operand, f)?;
            if operand.notation() == Notation::Displacement {
                f.write_char('(')?;
                if let Some(&base) = operands.next() {
                    self.operand(base, f)?;
                }
                f.write_char(')')?;
            }
            separator = ',';
        }
        Ok(())
    }

    fn operand(&self, operand: Operand, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = operand.extract(self.word);
        match operand.notation() {
            Notation::Gpr => write!(f, "r{value}"),
            Notation::GprOrZero if value == 0 => f.write_char('0'),
            Notation::GprOrZero => write!(f, "r{value}"),
            Notation::Fpr => write!(f, "f{value}"),
            Notation::Vr => write!(f, "v{value}"),
            Notation::Vsr => write!(f, "vs{value}"),
            Notation::CrField => write!(f, "cr{value}"),
            Notation::CrBit => {
                if value >= 4 {
                    write!(f, "4*cr{}+", value / 4)?;
                }
                f.write_str(["lt", "gt", "eq", "so"][value as usize % 4])
            }
            Notation::BranchTarget => {
                let base = if self.word.aa() { 0 } else { self.address };
                write!(f, "{:#x}", base.wrapping_add_signed(value))
            }
            Notation::Number | Notation::Displacement => write!(f, "{value}"),
            Notation::Suffix(_) => Ok(()),
        }
    }
}

const fn is_suffix(operand: Operand) -> bool {
    matches!(operand.notation(), Notation::Suffix(_))
}

/// What follows the base mnemonic, as in `bcla` and `addo.`.
fn suffixes(row: &Row, word: Word) -> [Option<char>; 4] {
    let written = |operand| row.operands.contains(&operand) && operand.extract(word) != 0;
    let suffix = |operand: Operand| match operand.notation() {
        Notation::Suffix(letter) if written(operand) => Some(letter),
        _ => None,
    };
    [
        (row.has_oe && word.oe()).then_some('o'),
        suffix(Operand::LK),
        suffix(Operand::AA),
        row.is_record(word).then_some('.'),
    ]
}
