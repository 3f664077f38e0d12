//! How long the result of an instruction of a class takes, and on what account.

use super::Class;
use crate::ledger::Cause;
use crate::pipeline::parameters::Parameters;

impl Class {
    /// Why its result takes as long as it does.
    #[must_use]
    pub fn cause(self) -> Cause {
        match self {
            Self::Nothing | Self::ChargedLater | Self::Touch | Self::TouchForStore => {
                Cause::DispatchWidth
            }
            Self::Fixed | Self::Count => Cause::LatencyFixed,
            Self::Multiply => Cause::LatencyMultiply,
            Self::DivideWord | Self::DivideDoubleword | Self::DivideExtended => {
                Cause::LatencyDivide
            }
            Self::Condition | Self::FieldRead | Self::ConditionRead => Cause::LatencyCondition,
            Self::RenamedWrite
            | Self::RenamedRead
            | Self::XerRead
            | Self::VectorMove
            | Self::VectorStatus => Cause::LatencyMove,
            Self::Floating
            | Self::FloatingMove
            | Self::FloatingDivideSingle
            | Self::FloatingDivide
            | Self::FloatingRootSingle
            | Self::FloatingRoot => Cause::LatencyFloating,
            Self::Decimal => Cause::LatencyDecimal,
            Self::VectorLogical
            | Self::VectorSimple
            | Self::VectorPermute
            | Self::VectorFloating
            | Self::VectorComplex
            | Self::VectorDivideSingle
            | Self::VectorDivide
            | Self::VectorRootSingle
            | Self::VectorRoot
            | Self::Crypto
            | Self::Quad
            | Self::QuadMultiply
            | Self::QuadDivide => Cause::LatencyVector,
            Self::Branch => Cause::LatencyBranch,
            Self::Load
            | Self::LoadAlgebraic
            | Self::LoadSingle
            | Self::LoadDouble
            | Self::LoadVector => Cause::LoadL1,
            Self::Store | Self::StoreLine => Cause::StoreDrain,
            Self::LoadReserve | Self::StoreConditional | Self::Atomic => Cause::Reservation,
            Self::SprRead => Cause::SprRead,
            Self::SprWrite => Cause::SprWrite,
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
            Self::FlushLine | Self::Management => Cause::Management,
            Self::FlushData | Self::FlushTargets | Self::SpeculationBarrier => {
                Cause::FlushSpeculation
            }
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
            Self::Nothing
            | Self::ChargedLater
            | Self::Touch
            | Self::TouchForStore
            | Self::Isync => 0,
            Self::Fixed => latency.fixed,
            Self::Count => latency.count,
            Self::Multiply => latency.multiply,
            Self::DivideWord => latency.divide_word,
            Self::DivideDoubleword => latency.divide_doubleword,
            Self::DivideExtended => latency.divide_extended,
            Self::Condition => latency.condition,
            Self::FieldRead => latency.field_read,
            Self::ConditionRead => latency.condition_read,
            Self::RenamedWrite => latency.renamed_write,
            Self::RenamedRead => latency.renamed_read,
            Self::XerRead => latency.xer_read,
            Self::Floating => latency.floating,
            Self::FloatingMove => latency.floating_move,
            Self::FloatingDivideSingle => latency.floating_divide_single,
            Self::FloatingDivide => latency.floating_divide,
            Self::FloatingRootSingle | Self::VectorRootSingle => latency.floating_root_single,
            Self::FloatingRoot | Self::VectorRoot => latency.floating_root,
            Self::Decimal => latency.decimal,
            Self::VectorLogical => latency.vector_logical,
            Self::VectorSimple => latency.vector_simple,
            Self::VectorPermute => latency.vector_permute,
            Self::VectorFloating => latency.vector_floating,
            Self::VectorComplex => latency.vector_complex,
            Self::VectorDivideSingle => latency.vector_divide_single,
            Self::VectorDivide => latency.vector_divide,
            Self::Crypto => latency.crypto,
            Self::Quad => latency.quad,
            Self::QuadMultiply => latency.quad_multiply,
            Self::QuadDivide => latency.quad_divide,
            Self::VectorMove => latency.vector_move,
            Self::VectorStatus => latency.vector_status,
            Self::Branch => latency.branch,
            Self::Load => 0,
            Self::LoadAlgebraic => latency.load_algebraic,
            Self::LoadSingle => latency.load_single,
            Self::LoadDouble => latency.load_double,
            Self::LoadVector => latency.load_vector,
            Self::LoadReserve => 0,
            Self::Store | Self::StoreLine => latency.store,
            Self::StoreConditional | Self::Atomic => special.reservation,
            Self::SprRead | Self::MsrRead => special.spr_read,
            Self::SprWrite => special.spr_write,
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
            Self::FlushLine | Self::Management => special.management,
            Self::FlushData => special.data_flush,
            Self::FlushTargets => special.target_flush,
            Self::SpeculationBarrier => special.speculation_barrier,
            Self::Return => special.return_from_interrupt(),
            Self::VectoredCall => special.interrupt,
        }
    }
}
