//! The renamed registers: their numbers, sets of them, and which special-purpose registers are among them.

use arch::registers::spr::Spr;

/// A set of renamed registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Registers(u128);

/// How many renamed registers there are.
pub const COUNT: usize = 111;

/// No register: nothing is waited for there, and what is written is not read.
pub const UNREAD: usize = COUNT;
/// The same for results.
pub const UNWRITTEN: usize = COUNT + 1;

/// GPR `number`.
pub(super) const fn gpr(number: usize) -> usize {
    number & 31
}

/// FPR `number`.
pub(super) const fn fpr(number: usize) -> usize {
    32 + (number & 31)
}

/// VSR `number`: an FPR is a part of one of the first half.
pub(super) const fn vsr(number: usize) -> usize {
    if number < 32 { fpr(number) } else { 79 + (number & 31) }
}

/// VR `number`.
pub(super) const fn vr(number: usize) -> usize {
    vsr(32 + number)
}

/// CR field `number`.
pub(super) const fn cr(number: usize) -> usize {
    64 + (number & 7)
}

/// XER\[CA\].
pub(super) const CARRY: usize = 72;
/// XER\[SO, OV\].
pub(super) const OVERFLOW: usize = 73;
/// The rest of XER.
pub(super) const XER: usize = 74;
pub(super) const LR: usize = 75;
pub(super) const CTR: usize = 76;
pub(super) const TAR: usize = 77;
pub(super) const FPSCR: usize = 78;

impl Registers {
    /// The condition register.
    pub const CONDITION: Self = Self(0xFF << 64);
    /// XER\[CA\].
    pub const CARRY: Self = Self(1 << CARRY);

    /// Adds a register.
    pub(super) fn add(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    /// Adds an even register and the odd one after it.
    pub(super) fn pair(&mut self, number: usize) {
        self.add(number);
        self.add(number | 1);
    }

    /// What is in this set and in `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A set of registers, quick to walk where they are few.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Walk<const MOST: usize> {
    /// Filled up with a register that is none.
    Few([u8; MOST]),
    /// All of them.
    Many(Registers),
}

impl<const MOST: usize> Walk<MOST> {
    /// The walk through `registers`; `none` fills it up.
    #[must_use]
    pub fn new(registers: Registers, none: usize) -> Self {
        let mut few = [none as u8; MOST];
        if registers.0.count_ones() as usize > MOST {
            return Self::Many(registers);
        }
        for (place, register) in few.iter_mut().zip(registers) {
            *place = register as u8;
        }
        Self::Few(few)
    }
}

impl Iterator for Registers {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let number = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(number)
    }
}

/// The renamed parts of the SPR with this number; none if it is not renamed.
#[must_use]
pub fn renamed_spr(number: u16) -> &'static [usize] {
    const XER_NUMBER: u16 = Spr::Xer.number_to_read();
    const LR_NUMBER: u16 = Spr::Lr.number_to_read();
    const CTR_NUMBER: u16 = Spr::Ctr.number_to_read();
    const TAR_NUMBER: u16 = Spr::Tar.number_to_read();
    match number {
        XER_NUMBER => &[CARRY, OVERFLOW, XER],
        LR_NUMBER => &[LR],
        CTR_NUMBER => &[CTR],
        TAR_NUMBER => &[TAR],
        _ => &[],
    }
}

/// Registers that change the context of what follows: writing one serializes.
#[must_use]
pub fn changes_context(spr: Spr) -> bool {
    matches!(spr, Spr::Lpidr | Spr::Pidr | Spr::Lpcr | Spr::Ptcr | Spr::Hrmor | Spr::Hid0)
}
