//! Classes of instructions: what a class occupies, how long its result takes, what it waits for.
//!
//! [`class`] is the table from instruction to class. Latencies are parameters.

use arch::instruction::{Mnemonic, Word};
use arch::registers::spr::{Spr, SprRow};

use super::parameters::Parameters;
use super::registers::{changes_context, renamed_spr};
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
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingDivideSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingDivide,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingRootSingle,
    #[expect(missing_docs, reason = "named for the instructions")]
    FloatingRoot,
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
    /// A touch: nothing waits for it.
    Touch,
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
    /// Cache management, messages, transactions, `darn`.
    Management,
    /// `rfid`, `hrfid`, `rfscv`, `rfebb`.
    Return,
    /// `scv`: an interrupt by another way.
    VectoredCall,
    /// `sc`, `stop`, and words that nothing is: what they cost comes after them.
    Leave,
}

/// Which units of a core an operation occupies for a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// None.
    None,
    /// An execution slice.
    Slice,
    /// An address generator.
    Address,
    /// The branch unit.
    Branch,
}

impl Class {
    /// The unit that it occupies.
    #[must_use]
    pub fn port(self) -> Port {
        match self {
            Self::Nothing
            | Self::Leave
            | Self::Isync
            | Self::Hwsync
            | Self::Lwsync
            | Self::Ptesync
            | Self::Eieio
            | Self::Tlbsync
            | Self::Return
            | Self::VectoredCall => Port::None,
            Self::Branch => Port::Branch,
            _ if self.is_access() || matches!(self, Self::Tlbie | Self::Tlbiel | Self::Touch) => {
                Port::Address
            }
            _ => Port::Slice,
        }
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
                | Self::LoadReserve
                | Self::Atomic
        )
    }

    /// Whether it stores.
    #[must_use]
    pub fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::StoreLine | Self::StoreConditional)
    }

    /// Whether it accesses memory and waits for it.
    #[must_use]
    pub fn is_access(self) -> bool {
        self.is_load() || self.is_store()
    }

    /// Whether it executes only when everything before it has completed: it cannot be undone, or it is
    /// there to wait.
    #[must_use]
    pub fn waits_to_be_next(self) -> bool {
        matches!(
            self,
            Self::StoreConditional
                | Self::Atomic
                | Self::SprWrite
                | Self::ContextWrite
                | Self::TimeBaseRead
                | Self::MsrEnable
                | Self::MsrWrite
                | Self::Hwsync
                | Self::Lwsync
                | Self::Ptesync
                | Self::Eieio
                | Self::Tlbsync
                | Self::Tlbie
                | Self::Tlbiel
                | Self::Segment
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
        )
    }

    /// Why its result takes as long as it does.
    #[must_use]
    pub fn cause(self) -> Cause {
        match self {
            Self::Nothing | Self::Leave | Self::Touch => Cause::DispatchWidth,
            Self::Fixed | Self::Count => Cause::LatencyFixed,
            Self::Multiply => Cause::LatencyMultiply,
            Self::DivideWord | Self::DivideDoubleword | Self::DivideExtended => {
                Cause::LatencyDivide
            }
            Self::Condition | Self::ConditionRead => Cause::LatencyCondition,
            Self::RenamedWrite | Self::RenamedRead | Self::XerRead => Cause::LatencyMove,
            Self::Floating
            | Self::FloatingDivideSingle
            | Self::FloatingDivide
            | Self::FloatingRootSingle
            | Self::FloatingRoot => Cause::LatencyFloating,
            Self::Branch => Cause::LatencyBranch,
            Self::Load | Self::LoadAlgebraic | Self::LoadSingle | Self::LoadDouble => Cause::LoadL1,
            Self::Store | Self::StoreLine => Cause::StoreDrain,
            Self::LoadReserve | Self::StoreConditional | Self::Atomic => Cause::Reservation,
            Self::SprRead | Self::SprWrite => Cause::SprLatency,
            Self::ContextWrite => Cause::SprContext,
            Self::TimeBaseRead => Cause::SprTimeBase,
            Self::MsrRead | Self::MsrEnable | Self::MsrWrite => Cause::SprMsr,
            Self::Isync => Cause::SyncIsync,
            Self::Hwsync => Cause::SyncHwsync,
            Self::Lwsync => Cause::SyncLwsync,
            Self::Ptesync => Cause::SyncPtesync,
            Self::Eieio => Cause::SyncEieio,
            Self::Tlbsync => Cause::SyncTlbsync,
            Self::Tlbie => Cause::TlbInvalidate,
            Self::Tlbiel => Cause::TlbInvalidateLocal,
            Self::Segment => Cause::Segment,
            Self::Management => Cause::Management,
            Self::Return => Cause::FlushReturn,
            Self::VectoredCall => Cause::FlushInterrupt,
        }
    }

    /// From its issue to the use of its result, cycles. For a load, beyond the L1's own latency.
    #[must_use]
    pub fn latency(self, parameters: &Parameters) -> u64 {
        let latency = &parameters.latency;
        let special = &parameters.special;
        match self {
            Self::Nothing | Self::Leave | Self::Touch | Self::Isync => 0,
            Self::Fixed => latency.fixed,
            Self::Count => latency.count,
            Self::Multiply => latency.multiply,
            Self::DivideWord => latency.divide_word,
            Self::DivideDoubleword => latency.divide_doubleword,
            Self::DivideExtended => latency.divide_extended,
            Self::Condition => latency.condition,
            Self::ConditionRead => latency.condition_read,
            Self::RenamedWrite => latency.renamed_write,
            Self::RenamedRead => latency.renamed_read,
            Self::XerRead => latency.xer_read,
            Self::Floating => latency.floating,
            Self::FloatingDivideSingle => latency.floating_divide_single,
            Self::FloatingDivide => latency.floating_divide,
            Self::FloatingRootSingle => latency.floating_root_single,
            Self::FloatingRoot => latency.floating_root,
            Self::Branch => latency.branch,
            Self::Load => 0,
            Self::LoadAlgebraic => latency.load_algebraic,
            Self::LoadSingle => latency.load_single,
            Self::LoadDouble => latency.load_double,
            Self::LoadReserve => 0,
            Self::Store | Self::StoreLine => latency.store,
            Self::StoreConditional | Self::Atomic => special.reservation,
            Self::SprRead | Self::SprWrite | Self::MsrRead => special.spr,
            Self::ContextWrite => special.context_write,
            Self::TimeBaseRead => special.time_base,
            Self::MsrEnable => special.msr_enable,
            Self::MsrWrite => special.msr_write,
            Self::Hwsync => special.hwsync,
            Self::Lwsync => special.lwsync,
            Self::Ptesync => special.ptesync,
            Self::Eieio => special.eieio,
            Self::Tlbsync => special.tlbsync,
            Self::Tlbie | Self::Tlbiel => special.tlbiel,
            Self::Segment => special.segment,
            Self::Management => special.management,
            Self::Return => special.return_from_interrupt,
            Self::VectoredCall => special.interrupt,
        }
    }
}

/// The class of an instruction.
#[must_use]
pub fn class(mnemonic: Option<Mnemonic>, word: Word) -> Class {
    use Mnemonic as M;
    let Some(mnemonic) = mnemonic else { return Class::Leave };
    match mnemonic {
        M::B | M::Bc | M::Bclr | M::Bcctr | M::Bctar => Class::Branch,
        M::Sc | M::Stop => Class::Leave,
        M::Scv => Class::VectoredCall,
        M::Rfid | M::Hrfid | M::Rfscv | M::Rfebb => Class::Return,

        M::Tdi | M::Twi | M::Td | M::Tw if word.to() == 0 => Class::Nothing,
        M::Or if word.rs() == word.ra() && word.ra() == word.rb() && !word.rc() => Class::Nothing,
        M::Ori if word.0 == 0x6000_0000 => Class::Nothing,
        M::Cntlzw
        | M::Cntlzd
        | M::Cnttzw
        | M::Cnttzd
        | M::Popcntb
        | M::Popcntw
        | M::Popcntd
        | M::Prtyw
        | M::Prtyd
        | M::Bpermd => Class::Count,
        M::Mulli
        | M::Mullw
        | M::Mulhw
        | M::Mulhwu
        | M::Mulld
        | M::Mulhd
        | M::Mulhdu
        | M::Maddhd
        | M::Maddhdu
        | M::Maddld => Class::Multiply,
        M::Divw | M::Divwu | M::Modsw | M::Moduw => Class::DivideWord,
        M::Divd | M::Divdu | M::Modsd | M::Modud | M::Divwe | M::Divweu => Class::DivideDoubleword,
        M::Divde | M::Divdeu => Class::DivideExtended,
        M::Crand
        | M::Crandc
        | M::Cror
        | M::Crorc
        | M::Crxor
        | M::Creqv
        | M::Crnand
        | M::Crnor
        | M::Mcrf
        | M::Mtcrf
        | M::Mtocrf
        | M::Mfocrf
        | M::Setb
        | M::Mcrxrx => Class::Condition,
        M::Mfcr => Class::ConditionRead,

        M::Mfspr | M::Mftb => spr_read(mnemonic, word.spr()),
        M::Mtspr => spr_write(word.spr()),
        M::Mfmsr => Class::MsrRead,
        M::Mtmsr | M::Mtmsrd if word.l_mtmsr() == 1 => Class::MsrEnable,
        M::Mtmsr | M::Mtmsrd => Class::MsrWrite,

        M::Isync => Class::Isync,
        M::Sync => match word.l_sync() {
            0 => Class::Hwsync,
            1 => Class::Lwsync,
            _ => Class::Ptesync,
        },
        M::Eieio => Class::Eieio,
        M::Tlbsync => Class::Tlbsync,
        M::Tlbie => Class::Tlbie,
        M::Tlbiel => Class::Tlbiel,
        M::Slbie
        | M::Slbieg
        | M::Slbia
        | M::Slbiag
        | M::Slbmte
        | M::Slbmfev
        | M::Slbmfee
        | M::Slbfee
        | M::Slbsync => Class::Segment,
        M::Dcbt | M::Dcbtst | M::Icbt => Class::Touch,
        M::Dcbz => Class::StoreLine,
        M::Dcbst
        | M::Dcbf
        | M::Icbi
        | M::Darn
        | M::Wait
        | M::Clrbhrb
        | M::Mfbhrbe
        | M::Msgsnd
        | M::Msgclr
        | M::Msgsndp
        | M::Msgclrp
        | M::Msgsync
        | M::Copy
        | M::Paste
        | M::Cpabort
        | M::Tbegin
        | M::Tend
        | M::Tcheck
        | M::Tsr
        | M::Tabort
        | M::Tabortwc
        | M::Tabortdc
        | M::Tabortwci
        | M::Tabortdci
        | M::Treclaim
        | M::Trechkpt => Class::Management,

        M::Lbarx | M::Lharx | M::Lwarx | M::Ldarx | M::Lqarx => Class::LoadReserve,
        M::Stbcx | M::Sthcx | M::Stwcx | M::Stdcx | M::Stqcx => Class::StoreConditional,
        M::Lwat | M::Ldat | M::Stwat | M::Stdat => Class::Atomic,
        M::Lha | M::Lhau | M::Lhax | M::Lhaux | M::Lwa | M::Lwax | M::Lwaux => Class::LoadAlgebraic,
        M::Lfs | M::Lfsu | M::Lfsx | M::Lfsux => Class::LoadSingle,
        M::Lfd | M::Lfdu | M::Lfdx | M::Lfdux | M::Lfiwax | M::Lfiwzx | M::Lfdp | M::Lfdpx => {
            Class::LoadDouble
        }
        M::Fdivs => Class::FloatingDivideSingle,
        M::Fdiv => Class::FloatingDivide,
        M::Fsqrts => Class::FloatingRootSingle,
        M::Fsqrt => Class::FloatingRoot,
        _ => by_name(mnemonic.row().name),
    }
}

/// The rest of the loads, stores and floating-point instructions are told by their names: only loads
/// begin with `l`, only stores with `st`, only floating-point arithmetic with `f`, and moves to and from
/// FPSCR with `mf`, `mtf` and `mcrfs`.
fn by_name(name: &str) -> Class {
    match name {
        _ if name.starts_with("st") => Class::Store,
        _ if name.starts_with('l') => Class::Load,
        _ if name.starts_with('f') => Class::Floating,
        _ if name.starts_with("mff") || name.starts_with("mtf") || name == "mcrfs" => {
            Class::Floating
        }
        _ => Class::Fixed,
    }
}

fn spr_read(mnemonic: Mnemonic, number: u16) -> Class {
    const XER: u16 = 1;
    let spr = row(number);
    let counts_time = matches!(spr, Some(Spr::Tb | Spr::Vtb | Spr::Purr | Spr::Spurr));
    if mnemonic == Mnemonic::Mftb || counts_time {
        Class::TimeBaseRead
    } else if number == XER {
        Class::XerRead
    } else if renamed_spr(number).is_empty() {
        Class::SprRead
    } else {
        Class::RenamedRead
    }
}

fn spr_write(number: u16) -> Class {
    if !renamed_spr(number).is_empty() {
        Class::RenamedWrite
    } else if row(number).is_some_and(changes_context) {
        Class::ContextWrite
    } else {
        Class::SprWrite
    }
}

fn row(number: u16) -> Option<Spr> {
    SprRow::find(number, arch::processor::Processor::Power9).map(|row| row.spr)
}

#[cfg(test)]
mod tests {
    use super::{Class, class};
    use arch::instruction::{Mnemonic, TABLE, Word};

    #[test]
    fn loads_and_stores_are_told_by_their_names() {
        for row in TABLE {
            let class = class(Some(row.mnemonic), Word(row.value));
            let is_l = row.name.starts_with('l');
            let is_st = row.name.starts_with("st") && row.mnemonic != Mnemonic::Stop;
            assert_eq!(class.is_load(), is_l || class == Class::Atomic, "{}", row.name);
            assert_eq!(
                class.is_store() && class != Class::StoreLine,
                is_st && class != Class::Atomic,
                "{}",
                row.name
            );
        }
    }
}
