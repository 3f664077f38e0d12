//! Classes of instructions: how long the result of one takes, and what it waits for.
//!
//! `table` says which instruction is of which class, `cost` what a class costs. Latencies are parameters.

mod cost;
mod table;

use arch::instruction::{Mnemonic, Word};

use crate::ledger::Cause;

/// What an instruction is to the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing to execute: hints, marks.
    Nothing,
    /// Simple fixed-point.
    Fixed,
    /// Counting bits.
    Count,
    /// Fixed-point product.
    Multiply,
    /// Quotients of words and doublewords, and extended.
    DivideWord,
    #[expect(missing_docs, reason = "see above")]
    DivideDoubleword,
    #[expect(missing_docs, reason = "see above")]
    DivideExtended,
    /// CR logic, and moves to CR.
    Condition,
    /// Moves of one field from CR, and of carries from XER.
    FieldRead,
    /// `mfcr`.
    ConditionRead,
    /// Moves to LR, CTR, TAR and XER.
    RenamedWrite,
    /// Moves from LR, CTR and TAR.
    RenamedRead,
    /// Moves from XER.
    XerRead,
    /// Floating-point arithmetic.
    Floating,
    /// Moves between floating-point registers, and changes of the sign.
    FloatingMove,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingDivideSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingDivide,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingRootSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingRoot,
    /// Decimal floating-point arithmetic.
    Decimal,
    /// Vector logic, moves, sign extension.
    VectorLogical,
    /// Simple vector arithmetic, vector comparisons.
    VectorSimple,
    /// Vector permutation, sums of decimal integers, comparisons of quad precision.
    VectorPermute,
    /// Vector floating point.
    VectorFloating,
    /// Vector products and sums across elements.
    VectorComplex,
    #[expect(missing_docs, reason = "named for the instructions")]
    VectorDivideSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    VectorDivide,
    #[expect(missing_docs, reason = "named for the instructions")]
    VectorRootSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    VectorRoot,
    /// Ciphers, hashes and carry-less products.
    Crypto,
    /// Sums and conversions of quad precision.
    Quad,
    /// Products of quad precision, and conversions of decimal integers.
    QuadMultiply,
    #[expect(missing_docs, reason = "named for the instructions")]
    QuadDivide,
    /// Moves between GPRs and VSRs.
    VectorMove,
    /// Moves to and from VSCR, which is not renamed and gathers what all before it saturated.
    VectorStatus,
    /// A branch.
    Branch,
    /// A load into GPRs.
    Load,
    /// A load into GPRs that extends the sign: two operations.
    LoadAlgebraic,
    /// A load of a single into an FPR.
    LoadSingle,
    /// A load of a double into an FPR.
    LoadDouble,
    /// A load into a whole VSR.
    LoadVector,
    /// A store.
    Store,
    /// A whole line of zeros.
    StoreLine,
    /// Load and reserve.
    LoadReserve,
    /// Store conditional.
    StoreConditional,
    /// An atomic memory operation.
    Atomic,
    /// A touch: the line comes to the core, and nothing waits for it. `icbt` brings none.
    Touch,
    /// A touch of what the thread is going to store to: the line comes to the core alone.
    TouchForStore,
    /// `mfspr` of a register that is not renamed.
    SprRead,
    /// `mtspr` of a register that is not renamed.
    SprWrite,
    /// `mtspr` of a register that changes the context.
    ContextWrite,
    /// A read of a register that counts time.
    TimeBaseRead,
    /// `mfmsr`.
    MsrRead,
    /// `mtmsrd` with L=1: EE and RI.
    MsrEnable,
    /// `mtmsr`, `mtmsrd` with L=0.
    MsrWrite,
    /// `isync`.
    Isync,
    /// `hwsync`.
    Hwsync,
    /// `lwsync`.
    Lwsync,
    /// `ptesync`.
    Ptesync,
    /// `eieio`.
    Eieio,
    /// `tlbsync`.
    Tlbsync,
    /// `tlbie`.
    Tlbie,
    /// `tlbiel`.
    Tlbiel,
    /// SLB management.
    Segment,
    /// `dcbf`: takes a line out of every cache.
    FlushLine,
    /// `mtspr` of TRIG2: empties the L1 data cache.
    FlushData,
    /// `bcctr 2,0,0`: empties the count cache.
    FlushTargets,
    /// `ori 31,31,0`: nothing behind it begins before it is done.
    SpeculationBarrier,
    /// Other cache management, messages, transactions, `darn`.
    Management,
    /// `rfid`, `hrfid`, `rfscv`, `rfebb`.
    Return,
    /// `scv`: an interrupt by another way.
    VectoredCall,
    /// `sc`, `stop`, `wait`, and words that nothing is: what they cost comes after them.
    ChargedLater,
}

impl Class {
    /// Whether it computes with vectors, quad precision or decimal integers.
    #[must_use]
    pub fn is_vector(self) -> bool {
        self.cause() == Cause::LatencyVector
    }

    /// Whether it has to do with renamed registers only.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.is_vector()
            || matches!(
                self,
                Self::Fixed
                    | Self::Count
                    | Self::Multiply
                    | Self::DivideWord
                    | Self::DivideDoubleword
                    | Self::DivideExtended
                    | Self::Condition
                    | Self::FieldRead
                    | Self::ConditionRead
                    | Self::RenamedWrite
                    | Self::RenamedRead
                    | Self::XerRead
                    | Self::Floating
                    | Self::FloatingMove
                    | Self::FloatingDivideSingle
                    | Self::FloatingDivide
                    | Self::FloatingRootSingle
                    | Self::FloatingRoot
                    | Self::Decimal
                    | Self::VectorMove
                    | Self::Branch
            )
    }

    /// Whether it loads.
    #[must_use]
    pub fn is_load(self) -> bool {
        matches!(
            self,
            Self::Load
                | Self::LoadAlgebraic
                | Self::LoadSingle
                | Self::LoadDouble
                | Self::LoadVector
                | Self::LoadReserve
                | Self::Atomic
        )
    }

    /// Whether it stores.
    #[must_use]
    pub fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::StoreLine | Self::StoreConditional)
    }

    /// Whether it fetches a line for those behind it.
    #[must_use]
    pub fn is_touch(self) -> bool {
        matches!(self, Self::Touch | Self::TouchForStore)
    }

    /// Whether it accesses memory and waits for it.
    #[must_use]
    pub fn is_access(self) -> bool {
        self.is_load() || self.is_store()
    }

    /// Whether it is dispatched only when everything before it has completed: it cannot be undone, or it is
    /// there to wait.
    #[must_use]
    pub fn waits_to_be_next(self) -> bool {
        matches!(
            self,
            Self::StoreConditional
                | Self::Atomic
                | Self::VectorStatus
                | Self::SprWrite
                | Self::ContextWrite
                | Self::TimeBaseRead
                | Self::MsrEnable
                | Self::MsrWrite
                | Self::Eieio
                | Self::Tlbsync
                | Self::Tlbie
                | Self::Tlbiel
                | Self::Segment
                | Self::FlushData
                | Self::FlushTargets
                | Self::SpeculationBarrier
                | Self::Management
                | Self::Return
                | Self::VectoredCall
        )
    }

    /// Whether other threads must have come as far in time before it executes: what they did is seen by
    /// it, or seen to come before it.
    #[must_use]
    pub fn orders_threads(self) -> bool {
        matches!(
            self,
            Self::LoadReserve
                | Self::StoreConditional
                | Self::Atomic
                | Self::TimeBaseRead
                | Self::Hwsync
                | Self::Lwsync
                | Self::Ptesync
                | Self::Eieio
                | Self::Tlbsync
                | Self::Tlbie
        )
    }
}

/// The class of an instruction; a word that no instruction has is left to an interrupt.
#[must_use]
pub fn class(mnemonic: Option<Mnemonic>, word: Word) -> Class {
    mnemonic.map_or(Class::ChargedLater, |mnemonic| table::class(mnemonic, word))
}

#[cfg(test)]
mod tests {
    use super::{Class, class};
    use arch::instruction::{Mnemonic, TABLE, Word};

    #[test]
    fn only_loads_begin_with_l_and_only_stores_with_st() {
        for row in TABLE {
            let class = class(Some(row.mnemonic), Word(row.value));
            let is_other = matches!(class, Class::Atomic | Class::StoreLine);
            // Those two make indices of an address.
            let is_index = matches!(row.mnemonic, Mnemonic::Lvsl | Mnemonic::Lvsr);
            // The prefetch engine's work, not the thread's.
            let is_log = row.mnemonic == Mnemonic::Logmpp;
            let is_l = row.name.starts_with('l') && !is_index && !is_log;
            let is_st = row.name.starts_with("st") && row.mnemonic != Mnemonic::Stop;
            assert!(is_other || class.is_load() == is_l, "{}", row.name);
            assert!(is_other || class.is_store() == is_st, "{}", row.name);
        }
    }
}
