//! Operands: which bits hold one, what values it takes, how it is written.

use super::Word;

/// An operand of an instruction, named as in the Power ISA's assembler syntax.
///
/// The value of an operand is what the field means, not its raw bits: displacements and branch
/// targets are in bytes, SPR numbers have their halves in order, the byte count NB runs from 1 to 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(
    missing_docs,
    reason = "the names are those of the Power ISA; fields are documented at Word"
)]
#[allow(non_camel_case_types, reason = "one letter stands for several fields")]
pub enum Operand {
    RT,
    RS,
    RA,
    /// RA, where 0 means the value zero.
    RA0,
    RB,
    RC,
    /// Even-odd pair of target registers.
    RTp,
    /// Even-odd pair of source registers.
    RSp,
    FRT,
    FRS,
    FRA,
    FRB,
    FRC,
    /// Even-odd pair of target FPRs.
    FRTp,
    /// Even-odd pair of source FPRs.
    FRSp,
    /// Even-odd pair of source FPRs.
    FRAp,
    /// Even-odd pair of source FPRs.
    FRBp,
    VRT,
    VRS,
    VRA,
    VRB,
    VRC,
    XT,
    XS,
    XA,
    XB,
    XC,
    /// Target VSR of the DQ form, which has TX elsewhere.
    XT_dq,
    /// Source VSR of the DQ form, which has SX elsewhere.
    XS_dq,
    BF,
    BFA,
    /// FPSCR field, target of `mtfsfi`.
    BF_fpscr,
    BT,
    /// FPSCR bit.
    BT_fpscr,
    BA,
    BB,
    BC,
    BI,
    BO,
    BH,
    SI,
    SI5,
    SIM,
    UI,
    D,
    DS,
    DQ,
    D_split,
    LI,
    BD,
    /// Written as the suffix `a` of the mnemonic.
    AA,
    /// Written as the suffix `l` of the mnemonic.
    LK,
    SH,
    SH6,
    /// Digits to shift by, of the decimal shifts.
    SH_decimal,
    MB,
    ME,
    MB6,
    ME6,
    SPR,
    TBR,
    FXM,
    FLM,
    U,
    RM,
    DRM,
    RMC,
    TE,
    SP,
    DCM,
    DGM,
    /// Classes that the vector tests for a data class ask for.
    DCMX,
    /// The same, in three parts.
    DCMX_split,
    UIM,
    /// UIM of two bits: a word.
    UIM2,
    /// UIM of three bits: a halfword.
    UIM3,
    /// UIM of four bits: a byte.
    UIM4,
    /// UIM of five bits.
    UIM5,
    IMM8,
    SHB,
    SHW,
    DM,
    PS,
    ST,
    SIX,
    STRM,
    W,
    TO,
    NB,
    EH,
    FC,
    CY,
    LEV,
    TH,
    CT,
    WC,
    BHRBE,
    IH,
    RIC,
    PRS,
    R,
    L_cmp,
    L_sync,
    L_dcbf,
    L_darn,
    L_mtmsr,
    L_slb,
    L_tsr,
    L_mtfsf,
    A_tend,
    R_tbegin,
    S_rfebb,
    S_denbcd,
}

/// How an operand is written in assembly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Notation {
    Gpr,
    /// A GPR, or 0 for the value zero.
    GprOrZero,
    Fpr,
    Vr,
    Vsr,
    CrField,
    CrBit,
    Number,
    /// A number followed by the base register, the next operand, in parentheses.
    Displacement,
    BranchTarget,
    Suffix(char),
}

/// Where an operand sits: its value is the concatenation of `parts` (first and last bit, most
/// significant part first), then `scale` zero bits.
#[derive(Clone, Copy)]
struct Field {
    parts: &'static [(u32, u32)],
    scale: u32,
    signed: bool,
}

impl Field {
    const fn unsigned(parts: &'static [(u32, u32)]) -> Self {
        Self { parts, scale: 0, signed: false }
    }

    const fn signed(parts: &'static [(u32, u32)], scale: u32) -> Self {
        Self { parts, scale, signed: true }
    }

    const fn width(self) -> u32 {
        let mut width = 0;
        let mut index = 0;
        while index < self.parts.len() {
            let (first, last) = self.parts[index];
            width += last - first + 1;
            index += 1;
        }
        width
    }
}

impl Operand {
    const fn field(self) -> Field {
        use Operand::*;
        match self {
            RT | RS | RTp | RSp | FRT | FRS | FRTp | FRSp | VRT | VRS | BT | BT_fpscr | BO | TO
            | TH => Field::unsigned(&[(6, 10)]),
            RA | RA0 | FRA | FRAp | VRA | BA | BI | UIM5 => Field::unsigned(&[(11, 15)]),
            RB | FRB | FRBp | VRB | BB | SH | NB | FC => Field::unsigned(&[(16, 20)]),
            RC | FRC | VRC | BC | MB => Field::unsigned(&[(21, 25)]),
            XT | XS => Field::unsigned(&[(31, 31), (6, 10)]),
            XA => Field::unsigned(&[(29, 29), (11, 15)]),
            XB => Field::unsigned(&[(30, 30), (16, 20)]),
            XC => Field::unsigned(&[(28, 28), (21, 25)]),
            XT_dq | XS_dq => Field::unsigned(&[(28, 28), (6, 10)]),
            ME => Field::unsigned(&[(26, 30)]),
            BF | BF_fpscr => Field::unsigned(&[(6, 8)]),
            BFA => Field::unsigned(&[(11, 13)]),
            BH => Field::unsigned(&[(19, 20)]),
            SI | D => Field::signed(&[(16, 31)], 0),
            SI5 => Field::signed(&[(16, 20)], 0),
            UI => Field::unsigned(&[(16, 31)]),
            DS | BD => Field::signed(&[(16, 29)], 2),
            DQ => Field::signed(&[(16, 27)], 4),
            D_split => Field::signed(&[(16, 25), (11, 15), (31, 31)], 0),
            LI => Field::signed(&[(6, 29)], 2),
            AA => Field::unsigned(&[(30, 30)]),
            LK | EH => Field::unsigned(&[(31, 31)]),
            SH6 => Field::unsigned(&[(30, 30), (16, 20)]),
            MB6 | ME6 => Field::unsigned(&[(26, 26), (21, 25)]),
            SPR | TBR => Field::unsigned(&[(16, 20), (11, 15)]),
            FXM => Field::unsigned(&[(12, 19)]),
            FLM => Field::unsigned(&[(7, 14)]),
            U => Field::unsigned(&[(16, 19)]),
            RM => Field::unsigned(&[(19, 20)]),
            DRM => Field::unsigned(&[(18, 20)]),
            RMC => Field::unsigned(&[(21, 22)]),
            TE | SIM => Field::signed(&[(11, 15)], 0),
            SP => Field::unsigned(&[(11, 12)]),
            S_denbcd => Field::unsigned(&[(11, 11)]),
            DCM | DGM | SH_decimal => Field::unsigned(&[(16, 21)]),
            DCMX => Field::unsigned(&[(9, 15)]),
            DCMX_split => Field::unsigned(&[(25, 25), (29, 29), (11, 15)]),
            UIM => Field::unsigned(&[(10, 15)]),
            UIM2 => Field::unsigned(&[(14, 15)]),
            UIM3 => Field::unsigned(&[(13, 15)]),
            UIM4 => Field::unsigned(&[(12, 15)]),
            IMM8 => Field::unsigned(&[(13, 20)]),
            SHB => Field::unsigned(&[(22, 25)]),
            SHW | DM => Field::unsigned(&[(22, 23)]),
            PS => Field::unsigned(&[(22, 22)]),
            ST => Field::unsigned(&[(16, 16)]),
            SIX => Field::unsigned(&[(17, 20)]),
            W | R | L_mtmsr | L_slb => Field::unsigned(&[(15, 15)]),
            CY => Field::unsigned(&[(21, 22)]),
            LEV => Field::unsigned(&[(20, 26)]),
            CT => Field::unsigned(&[(7, 10)]),
            WC | STRM | L_sync | L_dcbf => Field::unsigned(&[(9, 10)]),
            BHRBE => Field::unsigned(&[(11, 20)]),
            IH => Field::unsigned(&[(8, 10)]),
            RIC => Field::unsigned(&[(12, 13)]),
            PRS => Field::unsigned(&[(14, 14)]),
            L_darn => Field::unsigned(&[(14, 15)]),
            L_cmp | L_tsr | R_tbegin => Field::unsigned(&[(10, 10)]),
            L_mtfsf | A_tend => Field::unsigned(&[(6, 6)]),
            S_rfebb => Field::unsigned(&[(20, 20)]),
        }
    }

    /// The bits of the instruction word that hold this operand.
    pub const fn bits(self) -> u32 {
        let parts = self.field().parts;
        let mut bits = 0;
        let mut index = 0;
        while index < parts.len() {
            let (first, last) = parts[index];
            bits |= (u32::MAX >> (31 - last + first)) << (31 - last);
            index += 1;
        }
        bits
    }

    /// Whether this operand names a pair of registers by the first, which must be even.
    pub(super) const fn is_pair(self) -> bool {
        use Operand::*;
        matches!(self, RTp | RSp | FRTp | FRSp | FRAp | FRBp)
    }

    /// The smallest and the largest value.
    pub const fn range(self) -> (i64, i64) {
        let field = self.field();
        let values = 1 << field.width();
        match self {
            Operand::NB => (1, 32),
            _ if field.signed => (-(values / 2) << field.scale, (values / 2 - 1) << field.scale),
            _ => (0, values - 1),
        }
    }

    /// Values are multiples of this: 4 for branch targets and the DS form, 16 for the DQ form.
    pub const fn multiple_of(self) -> i64 {
        1 << self.field().scale
    }

    /// The value of this operand in `word`.
    pub const fn extract(self, word: Word) -> i64 {
        if let Operand::NB = self {
            return word.nb() as i64;
        }
        let field = self.field();
        let mut value = 0;
        let mut index = 0;
        while index < field.parts.len() {
            let (first, last) = field.parts[index];
            value = value << (last - first + 1) | word.field(first, last) as i64;
            index += 1;
        }
        if field.signed {
            let unused = 64 - field.width();
            value = value << unused >> unused;
        }
        value << field.scale
    }

    /// The bits of `value` in their place; `None` if the operand cannot hold it.
    pub const fn insert(self, value: i64) -> Option<u32> {
        let (lowest, highest) = self.range();
        if value < lowest || value > highest || value % self.multiple_of() != 0 {
            return None;
        }
        let field = self.field();
        let mut rest = value >> field.scale;
        let mut bits = 0;
        let mut index = field.parts.len();
        while index > 0 {
            index -= 1;
            let (first, last) = field.parts[index];
            let ones = u32::MAX >> (31 - last + first);
            bits |= (rest as u32 & ones) << (31 - last);
            rest >>= last - first + 1;
        }
        Some(bits)
    }

    /// How this operand is written.
    pub(super) const fn notation(self) -> Notation {
        use Operand::*;
        match self {
            RT | RS | RA | RB | RC | RTp | RSp => Notation::Gpr,
            RA0 => Notation::GprOrZero,
            FRT | FRS | FRA | FRB | FRC | FRTp | FRSp | FRAp | FRBp => Notation::Fpr,
            VRT | VRS | VRA | VRB | VRC => Notation::Vr,
            XT | XS | XA | XB | XC | XT_dq | XS_dq => Notation::Vsr,
            BF | BFA => Notation::CrField,
            BT | BA | BB | BC | BI => Notation::CrBit,
            D | DS | DQ => Notation::Displacement,
            LI | BD => Notation::BranchTarget,
            AA => Notation::Suffix('a'),
            LK => Notation::Suffix('l'),
            _ => Notation::Number,
        }
    }
}
