//! Who makes vector and vector-scalar instructions available: bits of the MSR, which HFSCR may withhold.
//!
//! Most need the bit of the facility that their registers belong to. Some that move one VSR between storage or
//! GPRs ask by its number. It follows QEMU, which for lxsd, lxssp and their stores has changed its mind:
//! MSR\[VEC\] is what older versions ask for, 7.2 lets them pass without it.

use super::{Mnemonic as M, Operand, Row, Word, decode};

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

/// Primary opcode of quad precision, among scalar floating point.
const QUAD: u32 = 63;

/// The facility that makes `word` available, if it is a vector or vector-scalar instruction.
#[must_use]
pub fn vector_facility(word: Word) -> Option<VectorFacility> {
    decode(word).and_then(|row| facility(row, word))
}

fn facility(row: &Row, word: Word) -> Option<VectorFacility> {
    use Operand as O;
    use VectorFacility::{FloatingPoint, Vector, Vsx};
    let moved = |operand: &&O| matches!(operand, O::XT | O::XS | O::XT_dq | O::XS_dq);
    let is_vr = row.operands.iter().find(moved).is_some_and(|vsr| vsr.extract(word) >= 32);
    match row.mnemonic {
        M::Mfvsrd | M::Mfvsrwz | M::Mtvsrd | M::Mtvsrwa | M::Mtvsrwz => {
            return Some(if is_vr { Vector } else { FloatingPoint });
        }
        M::Lxv
        | M::Lxvx
        | M::Lxvl
        | M::Lxvll
        | M::Lxvwsx
        | M::Mtvsrws
        | M::Mtvsrdd
        | M::Stxv
        | M::Stxvx
        | M::Stxvl
        | M::Stxvll
        | M::Mfvsrld => {
            return Some(if is_vr { Vector } else { Vsx });
        }
        _ => {}
    }
    row.operands.iter().find_map(|operand| match operand {
        O::VRT | O::VRS | O::VRA | O::VRB | O::VRC if word.primary() == QUAD => Some(Vsx),
        O::VRT | O::VRS | O::VRA | O::VRB | O::VRC => Some(Vector),
        O::XT | O::XS | O::XA | O::XB | O::XC => Some(Vsx),
        _ => None,
    })
}
