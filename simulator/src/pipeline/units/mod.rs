//! What an operation occupies of a core's units, and for how long.
//!
//! A core of POWER9 has two superslices of two slices each, and a slice has an address generator. An operation of 128
//! bits takes both slices of a superslice. Division, decimal arithmetic and ciphers have units of their own besides,
//! which the operation goes on to from its slice. POWER8's core has pipes of several kinds instead (`power8`).

pub mod power8;

use arch::instruction::Mnemonic;
use serde::{Deserialize, Serialize};

use super::class::Class;
use super::effects::Effects;
use super::parameters::Parameters;

/// Units that are taken for the cycle of issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Units {
    /// Execution slices, of one superslice.
    pub slices: u8,
    /// Address generators, of one superslice.
    pub addresses: u8,
    /// Whether the branch unit is one of them.
    pub branch: bool,
    /// Pipes, where a core has those.
    pub pipes: power8::Pipes,
}

/// A unit that an operation goes on to, of which there are fewer than slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Fixed-point division: one in each superslice.
    FixedDivide,
    /// Floating-point division and roots: one in each slice.
    FloatingDivide,
    /// The same of vectors: both of a superslice.
    VectorDivide,
    /// Decimal and quad-precision arithmetic: one in the core.
    Decimal,
    /// Ciphers and carry-less products: one in the core.
    Crypto,
}

impl Units {
    /// Whether nothing is taken, and nothing waits in an issue queue.
    #[inline]
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// What an instruction takes.
    #[must_use]
    pub fn of(mnemonic: Option<Mnemonic>, class: Class, effects: Effects, has_pipes: bool) -> Self {
        if has_pipes {
            return power8::units(mnemonic, class, effects);
        }
        let wide = u8::from(is_wide(mnemonic, class));
        let update = u8::from(!effects.base.is_empty());
        let (slices, addresses, branch) = match class {
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
            | Class::VectoredCall => (0, 0, false),
            Class::Branch | Class::FlushTargets => (0, 0, true),
            // The branch unit has LR and CTR, and a slice writes the result.
            Class::RenamedRead => (1, 0, true),
            // The address, and the data behind it.
            Class::Store | Class::StoreConditional => (1 + wide, 1 + wide, false),
            // Half of each is sign extension and conversion.
            Class::LoadAlgebraic | Class::LoadSingle => (1, 1, false),
            class if class.is_access() => (update, 1 + wide, false),
            class if class.is_touch() => (0, 1, false),
            Class::Tlbie | Class::Tlbiel | Class::FlushLine => (0, 1, false),
            _ => (1 + wide, 0, false),
        };
        Self { slices, addresses, branch, ..Self::default() }
    }
}

/// Whether an instruction works on 128 bits.
fn is_wide(mnemonic: Option<Mnemonic>, class: Class) -> bool {
    use Mnemonic as M;
    let Some(mnemonic) = mnemonic else { return false };
    match class {
        Class::VectorStatus => true,
        class if class.is_vector() => {
            let name = mnemonic.row().name;
            // Scalars, of which some do what vectors do.
            !name.starts_with("xs") || name.contains("qp")
        }
        Class::LoadVector => true,
        Class::VectorMove => matches!(mnemonic, M::Mtvsrdd | M::Mtvsrws | M::Mfvsrld),
        Class::Store => matches!(
            mnemonic,
            M::Stvx
                | M::Stvxl
                | M::Stvebx
                | M::Stvehx
                | M::Stvewx
                | M::Stxv
                | M::Stxvx
                | M::Stxvl
                | M::Stxvll
                | M::Stxvd2x
                | M::Stxvw4x
                | M::Stxvh8x
                | M::Stxvb16x
        ),
        _ => false,
    }
}

/// Which unit an instruction goes on to, and for how many cycles no other can begin there.
#[must_use]
pub fn engine(class: Class, parameters: &Parameters) -> Option<(Engine, u64)> {
    let core = &parameters.core;
    let (engine, busy) = match class {
        Class::DivideDoubleword | Class::DivideExtended if parameters.has_groups() => {
            (Engine::FixedDivide, parameters.groups.divide_doubleword_busy)
        }
        Class::DivideWord | Class::DivideDoubleword | Class::DivideExtended => {
            (Engine::FixedDivide, core.divider_busy)
        }
        Class::FloatingDivideSingle => (Engine::FloatingDivide, core.floating_divide_single_busy),
        Class::FloatingDivide => (Engine::FloatingDivide, core.floating_divide_busy),
        Class::FloatingRootSingle => (Engine::FloatingDivide, core.floating_root_single_busy),
        Class::FloatingRoot => (Engine::FloatingDivide, core.floating_root_busy),
        Class::VectorDivide | Class::VectorDivideSingle => {
            (Engine::VectorDivide, core.vector_divide_busy)
        }
        Class::VectorRoot | Class::VectorRootSingle => {
            (Engine::VectorDivide, core.floating_root_busy)
        }
        Class::Decimal => (Engine::Decimal, core.decimal_busy),
        Class::Quad => (Engine::Decimal, 1),
        Class::QuadMultiply => (Engine::Decimal, core.quad_multiply_busy),
        Class::QuadDivide => (Engine::Decimal, core.quad_divide_busy),
        Class::Crypto => (Engine::Crypto, 1),
        _ => return None,
    };
    Some((engine, busy))
}
