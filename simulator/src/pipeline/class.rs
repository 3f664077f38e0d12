//! Classes of instructions: how long the result of one takes, and what it waits for.
//!
//! `classes` is the table from instruction to class. Latencies are parameters.

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
    /// `dcbf`: takes a line out of every cache.
    FlushLine,
    /// Other cache management, messages, transactions, `darn`.
    Management,
    /// `rfid`, `hrfid`, `rfscv`, `rfebb`.
    Return,
    /// `scv`: an interrupt by another way.
    VectoredCall,
    /// `sc`, `stop`, `wait`, and words that nothing is: what they cost comes after them.
    Leave,
}

impl Class {
    /// Whether it computes with vectors, quad precision or decimal integers.
    #[must_use]
    pub fn is_vector(self) -> bool {
        matches!(
            self,
            Self::VectorLogical
                | Self::VectorSimple
                | Self::VectorPermute
                | Self::VectorFloating
                | Self::VectorComplex
                | Self::VectorDivideSingle
                | Self::VectorDivide
                | Self::Crypto
                | Self::Quad
                | Self::QuadMultiply
                | Self::QuadDivide
        )
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
            Self::Condition | Self::FieldRead | Self::ConditionRead => Cause::LatencyCondition,
            Self::RenamedWrite
            | Self::RenamedRead
            | Self::XerRead
            | Self::VectorMove
            | Self::VectorStatus => Cause::LatencyMove,
            Self::Floating
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
            Self::FieldRead => latency.field_read,
            Self::ConditionRead => latency.condition_read,
            Self::RenamedWrite => latency.renamed_write,
            Self::RenamedRead => latency.renamed_read,
            Self::XerRead => latency.xer_read,
            Self::Floating => latency.floating,
            Self::FloatingDivideSingle => latency.floating_divide_single,
            Self::FloatingDivide => latency.floating_divide,
            Self::FloatingRootSingle => latency.floating_root_single,
            Self::FloatingRoot => latency.floating_root,
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
            Self::Return => special.return_from_interrupt(),
            Self::VectoredCall => special.interrupt,
        }
    }
}

macro_rules! classes {
    ($($class:ident: $($mnemonic:ident)+;)+) => {
        /// The class of an instruction, as far as its operands do not matter.
        fn by_mnemonic(mnemonic: Mnemonic) -> Class {
            match mnemonic { $($(Mnemonic::$mnemonic)|+ => Class::$class,)+ }
        }
    };
}

classes! {
    Fixed: Addi Addis Addpcis Add Addic AddicRc Addc Adde Addme Addze Addex Subfic Subf Subfc
        Subfe Subfme Subfze Neg Cmpi Cmpli Cmp Cmpl Cmprb Cmpeqb Twi Tdi Tw Td Isel AndiRc
        AndisRc Ori Oris Xori Xoris And Andc Or Orc Xor Eqv Nand Nor Extsb Extsh Extsw Cmpb
        Rlwinm Rlwnm Rlwimi Rldicl Rldicr Rldic Rldimi Rldcl Rldcr Slw Srw Srawi Sraw Sld Srd
        Sradi Srad Extswsli Cdtbcd Cbcdtd Addg6s;
    Count: Cntlzw Cntlzd Cnttzw Cnttzd Popcntb Popcntw Popcntd Prtyw Prtyd Bpermd;
    Multiply: Mulli Mullw Mulhw Mulhwu Mulld Mulhd Mulhdu Maddhd Maddhdu Maddld;
    DivideWord: Divw Divwu Modsw Moduw;
    DivideDoubleword: Divd Divdu Modsd Modud Divwe Divweu;
    DivideExtended: Divde Divdeu;
    Condition: Crand Crandc Cror Crorc Crxor Creqv Crnand Crnor Mcrf Mtcrf Mtocrf Setb;
    FieldRead: Mfocrf Mcrxrx;
    ConditionRead: Mfcr;
    Floating: Fadd Fadds Fsub Fsubs Fmul Fmuls Fre Fres Frsqrte Frsqrtes Ftdiv Ftsqrt Fmadd
        Fmadds Fmsub Fmsubs Fnmadd Fnmadds Fnmsub Fnmsubs Frsp Fctid Fctidz Fctidu Fctiduz Fctiw
        Fctiwz Fctiwu Fctiwuz Fcfid Fcfidu Fcfids Fcfidus Frin Friz Frip Frim Fcmpu Fcmpo Fsel
        Fmr Fneg Fabs Fnabs Fcpsgn Fmrgew Fmrgow Mffs Mffsce Mffscdrn Mffscdrni Mffscrn Mffscrni
        Mffsl Mcrfs Mtfsfi Mtfsf Mtfsb0 Mtfsb1 Xscvhpdp Xscvdphp Xsadddp Xsaddsp Xssubdp Xssubsp
        Xsmuldp Xsmulsp Xsredp Xsresp Xsrsqrtedp Xsrsqrtesp Xstdivdp Xstsqrtdp Xsmaddadp
        Xsmaddmdp Xsmsubadp Xsmsubmdp Xsnmaddadp Xsnmaddmdp Xsnmsubadp Xsnmsubmdp Xsmaddasp
        Xsmaddmsp Xsmsubasp Xsmsubmsp Xsnmaddasp Xsnmaddmsp Xsnmsubasp Xsnmsubmsp Xscmpodp
        Xscmpudp Xscmpexpdp Xscmpeqdp Xscmpgtdp Xscmpgedp Xsmaxdp Xsmindp Xsmaxcdp Xsmincdp
        Xsmaxjdp Xsminjdp Xststdcdp Xststdcsp Xsrsp Xsrdpi Xsrdpic Xsrdpim Xsrdpip Xsrdpiz
        Xscvdpsp Xscvspdp Xscvdpsxds Xscvdpsxws Xscvdpuxds Xscvdpuxws Xscvsxddp Xscvsxdsp
        Xscvuxddp Xscvuxdsp;
    FloatingDivideSingle: Fdivs Xsdivsp;
    FloatingDivide: Fdiv Xsdivdp;
    FloatingRootSingle: Fsqrts Xssqrtsp;
    FloatingRoot: Fsqrt Xssqrtdp;
    Decimal: Dadd Daddq Dsub Dsubq Dmul Dmulq Ddiv Ddivq Dcmpo Dcmpoq Dcmpu Dcmpuq Dtstdc
        Dtstdcq Dtstdg Dtstdgq Dtstex Dtstexq Dtstsf Dtstsfq Dtstsfi Dtstsfiq Dquai Dquaiq Dqua
        Dquaq Drrnd Drrndq Drintx Drintxq Drintn Drintnq Dctdp Dctqpq Drsp Drdpq Dcffix Dcffixq
        Dctfix Dctfixq Ddedpd Ddedpdq Denbcd Denbcdq Dxex Dxexq Diex Diexq Dscli Dscliq Dscri
        Dscriq;
    VectorLogical: Xxlor Xxland Xxlandc Xxlxor Xxlnor Xxlorc Xxlnand Xxleqv Xxsel Xsabsdp
        Xsnabsdp Xsnegdp Xscpsgndp Xvabsdp Xvnabsdp Xvnegdp Xvcpsgndp Xvabssp Xvnabssp Xvnegsp
        Xvcpsgnsp Xscpsgnqp Xsabsqp Xsnabsqp Xsnegqp Vsel Vand Vandc Veqv Vnand Vor Vorc Vnor
        Vxor Vnegw Vnegd Vextsb2w Vextsh2w Vextsb2d Vextsh2d Vextsw2d;
    VectorSimple: Vaddubm Vcmpequb Xviexpdp Xviexpsp Xvxexpdp Xvxsigdp Xvxexpsp Xvxsigsp
        Xvcmpeqdp Xvcmpgtdp Xvcmpgedp Xvcmpeqsp Xvcmpgtsp Xvcmpgesp Xvmaxdp Xvmindp Xvmaxsp
        Xvminsp Xvtstdcdp Xvtstdcsp Vrlb Vrlh Vrlw Vrld Vslb Vslh Vslw Vsld Vsrb Vsrh Vsrw Vsrd
        Vsrab Vsrah Vsraw Vsrad Vrlwnm Vrlwmi Vrldnm Vrldmi Vadduhm Vadduwm Vaddudm Vadduqm
        Vaddcuw Vaddcuq Vaddubs Vadduhs Vadduws Vaddsbs Vaddshs Vaddsws Vaddeuqm Vaddecuq
        Vsububm Vsubuhm Vsubuwm Vsubudm Vsubuqm Vsubcuw Vsubcuq Vsububs Vsubuhs Vsubuws Vsubsbs
        Vsubshs Vsubsws Vsubeuqm Vsubecuq Vavgub Vavguh Vavguw Vavgsb Vavgsh Vavgsw Vabsdub
        Vabsduh Vabsduw Vmaxub Vmaxuh Vmaxuw Vmaxud Vmaxsb Vmaxsh Vmaxsw Vmaxsd Vminub Vminuh
        Vminuw Vminud Vminsb Vminsh Vminsw Vminsd Vcmpequh Vcmpequw Vcmpequd Vcmpgtub Vcmpgtuh
        Vcmpgtuw Vcmpgtud Vcmpgtsb Vcmpgtsh Vcmpgtsw Vcmpgtsd Vcmpneb Vcmpneh Vcmpnew Vcmpnezb
        Vcmpnezh Vcmpnezw Vclzb Vclzh Vclzw Vclzd Vpopcntb Vpopcnth Vpopcntw Vpopcntd Vclzlsbb
        Vctzlsbb Vprtybw Vprtybd Vprtybq Vctzb Vctzh Vctzw Vctzd Vmaxfp Vminfp Vcmpeqfp
        Vcmpgefp Vcmpgtfp Vcmpbfp Vshasigmaw Vshasigmad;
    VectorPermute: Vperm Xxpermdi Xxsldwi Xxmrghw Xxmrglw Xxspltw Xxspltib Xxextractuw
        Xxinsertw Xxperm Xxpermr Xxbrh Xxbrw Xxbrd Xxbrq Xscvdpspn Xscvspdpn Xsiexpqp Xsxexpqp
        Xsxsigqp Lvsl Lvsr Vpkuhum Vpkuwum Vpkudum Vpkuhus Vpkuwus Vpkudus Vpkshus Vpkswus
        Vpksdus Vpkshss Vpkswss Vpksdss Vpkpx Vupkhsb Vupkhsh Vupkhsw Vupklsb Vupklsh Vupklsw
        Vupkhpx Vupklpx Vmrghb Vmrghh Vmrghw Vmrglb Vmrglh Vmrglw Vmrgew Vmrgow Vspltb Vsplth
        Vspltw Vspltisb Vspltish Vspltisw Vpermr Vpermxor Vsldoi Vextractub Vextractuh
        Vextractuw Vextractd Vinsertb Vinserth Vinsertw Vinsertd Vextublx Vextuhlx Vextuwlx
        Vextubrx Vextuhrx Vextuwrx Vsl Vslo Vsr Vsro Vslv Vsrv Vgbbd Vbpermq Vbpermd Xscmpoqp
        Xscmpuqp Xscmpexpqp Xststdcqp Vmul10uq Vmul10cuq Vmul10euq Vmul10ecuq Bcdadd Bcdsub
        Bcdcpsgn Bcdus Bcdutrunc Bcds Bcdtrunc Bcdctz Bcdctn Bcdcfz Bcdcfn Bcdsetsgn;
    VectorFloating: Xvcvhpsp Xvcvsphp Xvadddp Xvaddsp Xvsubdp Xvsubsp Xvmuldp Xvmulsp Xvredp
        Xvresp Xvrsqrtedp Xvrsqrtesp Xvtdivdp Xvtdivsp Xvtsqrtdp Xvtsqrtsp Xvmaddadp Xvmaddmdp
        Xvmsubadp Xvmsubmdp Xvnmaddadp Xvnmaddmdp Xvnmsubadp Xvnmsubmdp Xvmaddasp Xvmaddmsp
        Xvmsubasp Xvmsubmsp Xvnmaddasp Xvnmaddmsp Xvnmsubasp Xvnmsubmsp Xvrdpi Xvrdpic Xvrdpim
        Xvrdpip Xvrdpiz Xvrspi Xvrspic Xvrspim Xvrspip Xvrspiz Xvcvdpsp Xvcvspdp Xvcvdpsxds
        Xvcvdpsxws Xvcvdpuxds Xvcvdpuxws Xvcvspsxds Xvcvspsxws Xvcvspuxds Xvcvspuxws Xvcvsxddp
        Xvcvsxdsp Xvcvsxwdp Xvcvsxwsp Xvcvuxddp Xvcvuxdsp Xvcvuxwdp Xvcvuxwsp Vaddfp Vsubfp
        Vmaddfp Vnmsubfp Vrefp Vrsqrtefp Vexptefp Vlogefp Vrfin Vrfiz Vrfip Vrfim Vcfux Vcfsx
        Vctuxs Vctsxs;
    VectorDivide: Xvdivdp Xvsqrtdp;
    VectorDivideSingle: Xvdivsp Xvsqrtsp;
    Quad: Xsaddqp Xsaddqpo Xssubqp Xssubqpo Xscvqpdp Xscvqpuwz Xscvudqp Xscvqpswz Xscvsdqp
        Xscvqpudz Xscvdpqp Xscvqpsdz Xscvqpdpo Xsrqpi Xsrqpix Xsrqpxp Bcdsr;
    QuadMultiply: Bcdctsq Bcdcfsq Xsmulqp Xsmulqpo Xsmaddqp Xsmaddqpo Xsmsubqp Xsmsubqpo Xsnmaddqp Xsnmaddqpo
        Xsnmsubqp Xsnmsubqpo;
    QuadDivide: Xsdivqp Xsdivqpo Xssqrtqp Xssqrtqpo;
    VectorMove: Mfvsrd Mtvsrd Mfvsrwz Mtvsrwa Mtvsrwz Mfvsrld Mtvsrws Mtvsrdd Xsiexpdp Xsxexpdp
        Xsxsigdp;
    VectorComplex: Vmuleub Vmuleuh Vmuleuw Vmulesb Vmulesh Vmulesw Vmuloub Vmulouh Vmulouw
        Vmulosb Vmulosh Vmulosw Vmuluwm Vmhaddshs Vmhraddshs Vmladduhm Vmsumubm Vmsummbm
        Vmsumuhm Vmsumuhs Vmsumshm Vmsumshs Vmsumudm Vsumsws Vsum2sws Vsum4ubs Vsum4sbs
        Vsum4shs;
    Crypto: Vcipher Vcipherlast Vncipher Vncipherlast Vsbox Vpmsumb Vpmsumh Vpmsumw Vpmsumd;
    VectorStatus: Mfvscr Mtvscr;
    Branch: B Bc Bclr Bcctr Bctar;
    Load: Lbz Lbzu Lbzx Lbzux Lhz Lhzu Lhzx Lhzux Lwz Lwzu Lwzx Lwzux Ld Ldu Ldx Ldux Lq Lhbrx
        Lwbrx Ldbrx Lmw Lswi Lswx Lbzcix Lhzcix Lwzcix Ldcix;
    LoadAlgebraic: Lha Lhau Lhax Lhaux Lwa Lwax Lwaux;
    LoadSingle: Lfs Lfsu Lfsx Lfsux Lxsspx Lxssp;
    LoadDouble: Lfd Lfdu Lfdx Lfdux Lfiwax Lfiwzx Lfdp Lfdpx Lxsiwzx Lxsiwax Lxsdx Lxsibzx
        Lxsihzx Lxsd;
    LoadVector: Lvx Lxvd2x Lxvx Lxvl Lxvll Lxvdsx Lxvwsx Lxvw4x Lxvh8x Lxvb16x Lxv Lvebx Lvehx
        Lvewx Lvxl;
    Store: Stb Stbu Stbx Stbux Sth Sthu Sthx Sthux Stw Stwu Stwx Stwux Std Stdu Stq Stdx Stdux
        Sthbrx Stwbrx Stdbrx Stmw Stswi Stswx Stfs Stfsu Stfsx Stfsux Stfd Stfdu Stfdx Stfdux
        Stfiwx Stfdp Stfdpx Stbcix Sthcix Stwcix Stdcix Stvx Stxvd2x Stxsiwx Stxvx Stxvl Stxvll
        Stxsspx Stxsdx Stxvw4x Stxsibx Stxvh8x Stxsihx Stxvb16x Stxsd Stxssp Stxv Stvebx Stvehx
        Stvewx Stvxl;
    StoreLine: Dcbz;
    LoadReserve: Lbarx Lharx Lwarx Ldarx Lqarx;
    StoreConditional: Stbcx Sthcx Stwcx Stdcx Stqcx;
    Atomic: Lwat Ldat Stwat Stdat;
    Touch: Dcbt Dcbtst Icbt;
    FlushLine: Dcbf;
    MsrRead: Mfmsr;
    Isync: Isync;
    Eieio: Eieio;
    Tlbsync: Tlbsync;
    Tlbie: Tlbie;
    Tlbiel: Tlbiel;
    Segment: Slbie Slbieg Slbia Slbiag Slbmte Slbmfev Slbmfee Slbfee Slbsync;
    Management: Dcbst Icbi Darn Clrbhrb Mfbhrbe Msgsnd Msgclr Msgsndp Msgclrp Msgsync Copy
        Paste Cpabort Tbegin Tend Tcheck Tsr Tabort Tabortwc Tabortdc Tabortwci Tabortdci
        Treclaim Trechkpt;
    Return: Rfid Hrfid Rfscv Rfebb;
    VectoredCall: Scv;
    Leave: Sc Stop Wait Doze Nap Sleep Rvwinkle;
    // What POWER9 ignores; and by their operands, in `class`.
    Nothing: Dst Dstt Dstst Dststt Dss Dssall Mfspr Mftb Mtspr Mtmsr Mtmsrd Sync;
}

/// The class of an instruction; a word that no instruction has is left to an interrupt.
#[must_use]
pub fn class(mnemonic: Option<Mnemonic>, word: Word) -> Class {
    use Mnemonic as M;
    let Some(mnemonic) = mnemonic else { return Class::Leave };
    let is_same_register = word.rs() == word.ra() && word.ra() == word.rb();
    match mnemonic {
        // Marks; priorities and other hints; the preferred no-operation.
        M::Tdi | M::Twi | M::Td | M::Tw if word.to() == 0 => Class::Nothing,
        M::Or if is_same_register && !word.rc() => Class::Nothing,
        M::Ori if word == Word(0x6000_0000) => Class::Nothing,
        M::Mfspr | M::Mftb => spr_read(mnemonic, word.spr()),
        M::Mtspr => spr_write(word.spr()),
        M::Mtmsr | M::Mtmsrd if word.l_mtmsr() == 1 => Class::MsrEnable,
        M::Mtmsr | M::Mtmsrd => Class::MsrWrite,
        M::Sync => match word.l_sync() {
            0 => Class::Hwsync,
            1 => Class::Lwsync,
            _ => Class::Ptesync,
        },
        _ => by_mnemonic(mnemonic),
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
    SprRow::of_number(number).map(|row| row.spr)
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
            let is_l = row.name.starts_with('l') && !is_index;
            let is_st = row.name.starts_with("st") && row.mnemonic != Mnemonic::Stop;
            assert!(is_other || class.is_load() == is_l, "{}", row.name);
            assert!(is_other || class.is_store() == is_st, "{}", row.name);
        }
    }
}
