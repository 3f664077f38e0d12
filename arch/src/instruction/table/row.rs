//! One row of the table: everything that is known about an instruction without executing it.

use super::Mnemonic;
use crate::instruction::form::{Form, Opcode};
use crate::instruction::operand::Operand;
use crate::instruction::validity::Constraint;
use crate::instruction::word::Word;
use crate::processor::{Processor, Processors};
use crate::registers::pcr::Level;

/// The least privileged state that may execute an instruction. Where it depends on an operand (the
/// SPR of `mtspr`, L of `sync`) or on LPCR (`tlbie`), the row has the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Privilege {
    /// Any state.
    Problem,
    /// `MSR[PR]` = 0.
    Privileged,
    /// `MSR[PR]` = 0 and `MSR[HV]` = 1.
    Hypervisor,
}

/// The book of the Power ISA that defines an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Book {
    /// User instruction set.
    I,
    /// Virtual environment.
    II,
    /// Operating environment.
    III,
}

/// One instruction. Variants by Rc and OE share a row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which instruction it is; also the position in [`TABLE`](super::TABLE).
    pub mnemonic: Mnemonic,
    /// Base mnemonic in assembly, without the suffixes for OE, Rc, LK and AA.
    pub name: &'static str,
    /// Instruction form.
    pub form: Form,
    /// Bits that tell this instruction from others.
    pub mask: u32,
    /// What `word & mask` is for this instruction.
    pub value: u32,
    /// Bits that are neither opcode nor operand (`/` in the ISA): processors ignore them.
    pub reserved: u32,
    /// Operand bits that are still reserved in ISA 2.07, as RIC, PRS and R of `tlbie`.
    pub reserved_power8: u32,
    /// Reserved bits that POWER9 takes as a hint.
    pub power9_hint: u32,
    /// Operands in the order of the assembler.
    pub operands: &'static [Operand],
    /// There is a variant with Rc = 1.
    pub has_rc: bool,
    /// The bit that is Rc: bit 31, or bit 21 of the vector comparisons; 0 if there is none.
    pub rc_bit: u32,
    /// Bit 21 is OE.
    pub has_oe: bool,
    /// Processors that have it.
    pub processors: Processors,
    /// The level of the architecture that it is new in, as far as PCR can tell them apart.
    pub level: Level,
    /// State that may execute it.
    pub privilege: Privilege,
    /// Book that defines it.
    pub book: Book,
    /// The lowest bits of the register pairs, which begin at even registers.
    odd_pairs: u32,
    /// What else makes a form invalid.
    pub(super) constraint: Constraint,
}

/// Bit 31.
const RC: u32 = 1;
/// Bit 21, where vector comparisons have Rc.
const RC21: u32 = 1 << 10;
/// Bit 21.
pub(in crate::instruction) const OE: u32 = 1 << 10;

/// Building of rows; `table` is the only user.
impl Row {
    pub(super) const fn new(
        mnemonic: Mnemonic,
        name: &'static str,
        opcode: Opcode,
        operands: &'static [Operand],
    ) -> Self {
        Self {
            mnemonic,
            name,
            form: opcode.form,
            mask: opcode.mask,
            value: opcode.value,
            reserved: 0,
            reserved_power8: 0,
            power9_hint: 0,
            operands,
            has_rc: false,
            rc_bit: 0,
            has_oe: false,
            processors: Processors::Both,
            level: Level::V2_05,
            privilege: Privilege::Problem,
            book: Book::I,
            odd_pairs: 0,
            constraint: Constraint::None,
        }
    }

    /// There is a recording variant.
    pub(super) const fn rc(mut self) -> Self {
        self.has_rc = true;
        self.rc_bit = RC;
        self
    }

    /// There is a recording variant, with Rc in bit 21.
    pub(super) const fn rc21(mut self) -> Self {
        self.has_rc = true;
        self.rc_bit = RC21;
        self
    }

    /// There is an overflow-recording variant.
    pub(super) const fn oe(mut self) -> Self {
        self.has_oe = true;
        self
    }

    /// Bits `first..=last` must hold `content`.
    pub(super) const fn fixed(mut self, first: u32, last: u32, content: u32) -> Self {
        let opcode = Opcode { form: self.form, mask: self.mask, value: self.value }
            .fixed(first, last, content);
        self.mask = opcode.mask;
        self.value = opcode.value;
        self
    }

    /// The recording variant is the only one: bit 31 is part of the opcode.
    pub(super) const fn dot(self) -> Self {
        self.fixed(31, 31, 1)
    }

    pub(super) const fn power8(mut self) -> Self {
        self.processors = Processors::Power8;
        self
    }

    pub(super) const fn power9(mut self) -> Self {
        self.processors = Processors::Power9;
        self.level = Level::V3_0;
        self
    }

    /// New in ISA 2.06.
    pub(super) const fn v206(mut self) -> Self {
        self.level = Level::V2_06;
        self
    }

    /// New in ISA 2.07.
    pub(super) const fn v207(mut self) -> Self {
        self.level = Level::V2_07;
        self
    }

    /// Operand bits `first..=last` are reserved on POWER8.
    pub(super) const fn power8_reserves(mut self, first: u32, last: u32) -> Self {
        self.reserved_power8 |= (u32::MAX >> (31 - last + first)) << (31 - last);
        self
    }

    /// Reserved bit `number` is a hint to POWER9.
    pub(super) const fn hint(mut self, number: u32) -> Self {
        self.power9_hint |= 1 << (31 - number);
        self
    }

    pub(super) const fn book2(mut self) -> Self {
        self.book = Book::II;
        self
    }

    pub(super) const fn privileged(mut self) -> Self {
        self.privilege = Privilege::Privileged;
        self.book = Book::III;
        self
    }

    pub(super) const fn hypervisor(mut self) -> Self {
        self.privilege = Privilege::Hypervisor;
        self.book = Book::III;
        self
    }

    /// Some values of the operands make an invalid form.
    pub(super) const fn unless(mut self, constraint: Constraint) -> Self {
        self.constraint = constraint;
        self
    }

    /// Finishes a row: whatever is neither opcode nor operand is reserved.
    pub(super) const fn finish(mut self) -> Self {
        self.reserved = !(self.mask | self.operand_bits());
        let mut index = 0;
        while index < self.operands.len() {
            let operand = self.operands[index];
            if operand.is_pair() {
                self.odd_pairs |= operand.bits() & operand.bits().wrapping_neg();
            }
            index += 1;
        }
        self
    }

    /// All bits that differ between valid words of this row.
    pub(super) const fn operand_bits(&self) -> u32 {
        let mut bits = self.rc_bit;
        if self.has_oe {
            bits |= OE;
        }
        let mut index = 0;
        while index < self.operands.len() {
            bits |= self.operands[index].bits();
            index += 1;
        }
        bits
    }
}

impl Row {
    /// Whether `word` is this instruction, reserved bits aside.
    #[inline]
    pub const fn matches(&self, word: Word) -> bool {
        word.0 & self.mask == self.value
    }

    /// Whether `word`, which this row matches, is the recording variant. Where that is the only one, it is
    /// none.
    #[inline]
    pub const fn is_record(&self, word: Word) -> bool {
        word.0 & self.rc_bit != 0
    }

    /// The reserved bits that are set in `word`. For POWER8 add [`Row::reserved_power8`].
    #[inline]
    pub const fn reserved_bits_set(&self, word: Word) -> u32 {
        word.0 & self.reserved
    }

    /// The bits that `processor` ignores (Power ISA, Book I, 1.3.3): those that are reserved there, and no hint.
    #[inline]
    #[must_use]
    pub const fn ignored(&self, processor: Processor) -> u32 {
        match processor {
            Processor::Power8 => self.reserved | self.reserved_power8,
            Processor::Power9 => self.reserved & !self.power9_hint,
        }
    }

    /// `word`, which this row matches, as `processor` reads it: bits that it ignores are 0.
    #[inline]
    #[must_use]
    pub const fn as_read(&self, word: Word, processor: Processor) -> Word {
        Word(word.0 & !self.ignored(processor))
    }

    /// Whether `word`, which this row matches, is an invalid form of it on `processor`: a register pair is odd, or the
    /// operands are a combination that the ISA calls invalid.
    pub const fn is_invalid_form(&self, word: Word, processor: Processor) -> bool {
        let word = self.as_read(word, processor);
        word.0 & self.odd_pairs != 0 || self.constraint.violated_by(word)
    }
}
