//! Vector and vector-scalar instructions of ISA 3.0: which words they are, and who makes them available.
//!
//! They have no rows in the table yet, so that only the opcode is decided here: the opcode maps have a
//! word of 32 bits per column, as the ISA's own maps do; the bit is the row. Reserved bits and invalid
//! forms do not matter. The maps are compared with binutils by `tests/objdump.rs`; which bit of the
//! MSR an instruction needs follows QEMU, which for lxsd, lxssp and their stores has changed its mind:
//! MSR\[VEC\] is what older versions ask for, 7.2 lets them pass without it.

use super::Word;

/// The bit of the MSR that a vector or vector-scalar instruction needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VectorFacility {
    /// MSR\[FP\]: moves between a GPR and one of the VSRs that the FPRs are part of.
    FloatingPoint,
    /// MSR\[VEC\].
    Vector,
    /// MSR\[VSX\].
    Vsx,
}

/// Primary opcode 4, a column per value of bits 26:31, a bit per value of bits 21:25. Above column 31 are
/// the four-operand instructions, without those of the fixed-point facility.
const VECTOR_MAP: [u32; 64] = {
    let mut map = [0; 64];
    let two_and_three_operands = [
        0x777F_777F,
        0xDBFF_2303,
        0xFD77_FFFF,
        0xF007_0000,
        0x3FFF_FFFF,
        0x0000_00CC,
        0xFF8F_FF8F,
        0x887F_887F,
        0x57BF_7777,
        0x0030_0004,
        0x0003_FFF3,
        0x0000_0000,
        0x44B3_7777,
        0x7700_FF00,
        0x0AAA_BFFF,
    ];
    let mut column = 0;
    while column < two_and_three_operands.len() {
        map[column] = two_and_three_operands[column];
        column += 1;
    }
    column = 32;
    while column < 64 {
        map[column] = match column {
            // vsldoi: bit 21 is reserved.
            44 => 0x0000_FFFF,
            48..=58 => 0,
            _ => 0xFFFF_FFFF,
        };
        column += 1;
    }
    map
};

/// Primary opcode 60, a column per value of bits 26:29, a bit per value of bits 21:25.
const VSX_MAP: [u32; 16] = [
    0xFF7F_FFFF,
    0xFF7F_FFFF,
    0xFFFF_FFFF,
    0xFFFF_FFFF,
    0x00FF_3FFF,
    0x00FF_3FFF,
    0x7700_77B7,
    0x7700_77B7,
    0xFFFC_FF30,
    0xFFF3_FFF0,
    0xCC44_FFF3,
    0xFC31_DDD1,
    0xFFFF_FFFF,
    0xFFFF_FFFF,
    0xFFFF_FFFF,
    0xFFFF_FFFF,
];

/// Opcodes that bits 11:15 tell apart further: primary opcode, extended opcode, a bit per value there is.
const FURTHER: [(u32, u32, u32); 6] = [
    (4, 1409, 0x8000_00F5),
    (4, 1538, 0xF703_07C3),
    (4, 1921, 0x8000_00D4),
    (60, 180, 0x0000_00FF),
    (60, 347, 0x0003_0003),
    (60, 475, 0x8380_8383),
];

/// The facility that makes `word` available, if it is a vector or vector-scalar instruction of ISA 3.0.
#[must_use]
pub const fn vector_facility(word: Word) -> Option<VectorFacility> {
    use VectorFacility::{FloatingPoint, Vector, Vsx};
    let extended = vector_extended_opcode(word);
    let row = word.field(21, 25);
    // TX or SX: the VSR is one that a VR is.
    let high = if word.primary() == 61 { word.field(28, 28) } else { word.field(31, 31) } != 0;
    let facility = match (word.primary(), extended) {
        (4, _) if VECTOR_MAP[word.field(26, 31) as usize] >> row & 1 != 0 => Vector,
        (60, _) if VSX_MAP[word.field(26, 29) as usize] >> row & 1 != 0 => Vsx,
        // lvsl, lvebx, lvsr, lvehx, lvewx, lvx, stvebx, stvehx, stvewx, stvx, lvxl, stvxl.
        (31, 6 | 7 | 38 | 39 | 71 | 103 | 135 | 167 | 199 | 231 | 359 | 487) => Vector,
        // lxsiwzx, lxsiwax, stxsiwx, lxvdsx, lxsspx, lxsdx, stxsspx, stxsdx.
        (31, 12 | 76 | 140 | 332 | 524 | 588 | 652 | 716) => Vsx,
        // lxvw4x, lxsibzx, lxvh8x, lxsihzx, lxvd2x, lxvb16x, and the stores.
        (31, 780 | 781 | 812 | 813 | 844 | 876 | 908 | 909 | 940 | 941 | 972 | 1004) => Vsx,
        // lxvx, lxvl, lxvll, lxvwsx, stxvx, stxvl, stxvll; mfvsrld, mtvsrws, mtvsrdd.
        (31, 268 | 269 | 301 | 364 | 396 | 397 | 429 | 307 | 403 | 435) if high => Vector,
        (31, 268 | 269 | 301 | 364 | 396 | 397 | 429 | 307 | 403 | 435) => Vsx,
        // mfvsrd, mfvsrwz, mtvsrd, mtvsrwa, mtvsrwz.
        (31, 51 | 115 | 179 | 211 | 243) if high => Vector,
        (31, 51 | 115 | 179 | 211 | 243) => FloatingPoint,
        // lxsd and lxssp, stxsd and stxssp.
        (57 | 61, 2 | 3 | 6 | 7) => Vector,
        // lxv and stxv.
        (61, 1 | 5) if high => Vector,
        (61, 1 | 5) => Vsx,
        // Quad precision: rounding, then arithmetic, comparisons and conversions.
        (63, 5 | 37 | 261 | 293 | 517 | 549 | 773 | 805) => Vsx,
        (63, 4 | 36 | 100 | 132 | 164 | 388 | 420 | 452 | 484) => Vsx,
        (63, 516 | 548 | 644 | 708 | 804 | 836 | 868) => Vsx,
        _ => return None,
    };
    let mut entry = 0;
    while entry < FURTHER.len() {
        let (primary, opcode, there) = FURTHER[entry];
        if word.primary() == primary && extended == opcode && there >> word.ra() & 1 == 0 {
            return None;
        }
        entry += 1;
    }
    Some(facility)
}

/// The extended opcode as the forms of these instructions have it: bits 21:31 in primary opcode 4,
/// 21:29 in 60, 29:31 in 57 and 61, 21:30 in the others.
#[must_use]
pub const fn vector_extended_opcode(word: Word) -> u32 {
    match word.primary() {
        4 => word.field(21, 31),
        60 => word.field(21, 29),
        57 | 61 => word.field(29, 31),
        _ => word.xo(),
    }
}
