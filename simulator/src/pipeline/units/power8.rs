//! POWER8's pipes: two each for any fixed-point operation, for loads and stores, for loads, and for vectors and
//! floating point, half of each kind in either half of the core; one for condition fields. Source: JRD8; GCC8 for who
//! takes which, LL8 for which fixed-point operations are simple.

use arch::instruction::Mnemonic;
use serde::{Deserialize, Serialize};

use super::Units;
use crate::pipeline::class::Class;
use crate::pipeline::effects::Effects;
use crate::pipeline::registers::Registers;

/// A set of pipes that an operation takes, one of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pipes(u8);

impl Pipes {
    /// None.
    pub const NONE: Self = Self(0);
    /// For any fixed-point operation.
    pub const FIXED: Self = Self(1 << 0);
    /// That, or one for loads or stores.
    pub const SIMPLE: Self = Self(1 << 1);
    /// For loads, or for loads and stores.
    pub const LOAD: Self = Self(1 << 2);
    /// For loads, which takes a store's data too.
    pub const LOAD_ONLY: Self = Self(1 << 3);
    /// For loads and stores.
    pub const STORE: Self = Self(1 << 4);
    /// For vectors and floating point.
    pub const VECTOR: Self = Self(1 << 5);
    /// For condition fields.
    pub const CONDITION: Self = Self(1 << 6);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `other`, of one kind, is among them.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Of a store from an FPR or a VSR, whether it stores a whole VSR; `None` of one from a GPR.
pub(in crate::pipeline) fn stores_vector(mnemonic: Mnemonic) -> Option<bool> {
    let name = mnemonic.row().name;
    let is_whole = name.starts_with("stv") || name.starts_with("stxv");
    (is_whole || name.starts_with("stf") || name.starts_with("stxs")).then_some(is_whole)
}

/// Whether any pipe but those of vectors takes a fixed-point operation.
fn is_simple(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Addi
            | M::Addis
            | M::Add
            | M::Neg
            | M::Ori
            | M::Oris
            | M::Xori
            | M::Xoris
            | M::And
            | M::Andc
            | M::Or
            | M::Orc
            | M::Xor
            | M::Eqv
            | M::Nand
            | M::Nor
            | M::Extsb
            | M::Extsh
            | M::Extsw
    )
}

/// What an instruction takes.
pub(super) fn units(mnemonic: Option<Mnemonic>, class: Class, effects: Effects) -> Units {
    let update = if effects.base.is_empty() { Pipes::default() } else { Pipes::FIXED };
    let has_condition = !effects.targets.and(Registers::CONDITION).is_empty();
    let pipes = match class {
        Class::Nothing
        | Class::ChargedLater
        | Class::Isync
        | Class::Hwsync
        | Class::Lwsync
        | Class::Ptesync
        | Class::Eieio
        | Class::Tlbsync
        | Class::SpeculationBarrier
        | Class::Return
        | Class::VectoredCall => Pipes::default(),
        Class::Branch | Class::FlushTargets => {
            return Units { branch: true, ..Units::default() };
        }
        Class::RenamedRead => Pipes::CONDITION.and(Pipes::FIXED),
        Class::FieldRead | Class::ConditionRead => Pipes::CONDITION,
        Class::Condition => match mnemonic {
            Some(Mnemonic::Mtcrf | Mnemonic::Mtocrf) => Pipes::FIXED,
            _ => Pipes::CONDITION,
        },
        Class::Store | Class::StoreConditional | Class::StoreLine => {
            let is_vector = mnemonic.and_then(stores_vector).is_some();
            let data = if is_vector { Pipes::VECTOR } else { Pipes::LOAD_ONLY };
            Pipes::STORE.and(data)
        }
        Class::LoadAlgebraic => Pipes::LOAD.and(Pipes::FIXED),
        Class::LoadSingle | Class::LoadDouble | Class::LoadVector => Pipes::LOAD_ONLY.and(update),
        class if class.is_access() => Pipes::LOAD.and(update),
        class if class.is_touch() => Pipes::LOAD,
        Class::Tlbie | Class::Tlbiel | Class::FlushLine => Pipes::STORE,
        Class::Fixed if !has_condition && mnemonic.is_some_and(is_simple) => Pipes::SIMPLE,
        Class::Floating
        | Class::FloatingMove
        | Class::FloatingDivideSingle
        | Class::FloatingDivide
        | Class::FloatingRootSingle
        | Class::FloatingRoot
        | Class::Decimal
        | Class::VectorMove
        | Class::VectorStatus => Pipes::VECTOR,
        class if class.is_vector() => Pipes::VECTOR,
        _ => Pipes::FIXED,
    };
    Units { pipes, ..Units::default() }
}

#[cfg(test)]
mod tests {
    use arch::instruction::{Mnemonic, Word};

    use super::{Pipes, units};
    use crate::pipeline::class::class;
    use crate::pipeline::effects::Effects;

    #[test]
    fn an_instruction_takes_the_pipes_of_its_kind() {
        use Mnemonic as M;
        for (mnemonic, pipes) in [
            (M::Add, Pipes::SIMPLE),
            (M::Rlwinm, Pipes::FIXED),
            (M::Mulld, Pipes::FIXED),
            (M::Ld, Pipes::LOAD),
            (M::Lfd, Pipes::LOAD_ONLY),
            (M::Ldux, Pipes::LOAD.and(Pipes::FIXED)),
            (M::Std, Pipes::STORE.and(Pipes::LOAD_ONLY)),
            (M::Stfd, Pipes::STORE.and(Pipes::VECTOR)),
            (M::Fadd, Pipes::VECTOR),
            (M::Xvadddp, Pipes::VECTOR),
            (M::Crand, Pipes::CONDITION),
            (M::Mfcr, Pipes::CONDITION),
        ] {
            let word = Word(mnemonic.row().value);
            let effects = Effects::of(mnemonic.row(), word);
            let of = units(Some(mnemonic), class(Some(mnemonic), word), effects);
            assert_eq!(of.pipes, pipes, "{mnemonic:?}");
        }
    }
}
