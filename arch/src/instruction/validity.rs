//! Operands that the ISA calls an invalid form of an instruction that is otherwise valid.
//!
//! Register pairs begin at an even register wherever they are an operand; the others are listed here.
//! Only what the instruction word alone decides. A register range that depends on XER (`lswx`), an
//! undefined SPR number, a function code that raises an interrupt, and the combinations of RIC, PRS,
//! R and IS that `tlbie` refuses (in which R counts in hypervisor state only) belong to execution.
//! FXM with other than one bit set in `mtocrf` and `mfocrf` makes the result undefined, not the form
//! invalid; so do reserved values of BO and BH.

use super::Word;

/// What must not be, named for the words it forbids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constraint {
    /// Every combination of operands is valid.
    None,
    /// Update forms: RA is 0.
    BaseIsZero,
    /// Load with update: RA is 0 or the target.
    BaseIsZeroOrTarget,
    /// `lmw`: RA is among the registers loaded.
    BaseInMultiple,
    /// `lswi`: RA is among the registers loaded.
    BaseInString,
    /// `lswx`, `lqarx`: RA or RB is the first register loaded.
    AddressIsTarget,
    /// `lq`: RA is the first register loaded.
    BaseIsTarget,
    /// `bcctr`: would decrement the register it branches to. One such form empties the count cache.
    DecrementsCount,
    /// `sync`: L = 3 is reserved.
    SyncKind,
    /// `dcbf`: L = 2 is reserved.
    FlushKind,
    /// `wait`: only WC = 0 is defined.
    WaitCondition,
    /// `sc`: LEV above 1 is reserved.
    Level,
    /// `addex`: only CY = 0 is defined.
    CarrySource,
    /// `mftb`: TBR is neither 268 (TB) nor 269 (TBU).
    TimeBaseNumber,
    /// `tlbie`, `tlbiel`: RIC = 3 is for hashed translation alone.
    GroupInvalidation,
}

impl Constraint {
    /// Whether `word` is forbidden.
    pub(super) const fn violated_by(self, word: Word) -> bool {
        let (rt, ra, rb) = (word.rt(), word.ra(), word.rb());
        match self {
            Self::None => false,
            Self::BaseIsZero => ra == 0,
            Self::BaseIsZeroOrTarget => ra == 0 || ra == rt,
            Self::BaseInMultiple => ra >= rt,
            Self::BaseInString => {
                let registers = word.nb().div_ceil(4) as usize;
                (ra + 32 - rt) % 32 < registers
            }
            Self::AddressIsTarget => rt == ra || rt == rb,
            Self::BaseIsTarget => rt == ra,
            Self::DecrementsCount => word.bo() & 0b00100 == 0 && word.0 != Word::TARGET_FLUSH.0,
            Self::SyncKind => word.l_sync() == 3,
            Self::FlushKind => word.l_dcbf() == 2,
            Self::WaitCondition => word.wc() != 0,
            Self::Level => word.lev() > 1,
            Self::CarrySource => word.cy() != 0,
            Self::TimeBaseNumber => !matches!(word.spr(), 268 | 269),
            Self::GroupInvalidation => word.ric() == 3 && word.r(),
        }
    }
}
