//! How POWER8 cracks instructions, and which begin a group or have one for themselves. Source: GCC8.

use arch::instruction::{Mnemonic, Word};

use super::Grouping;
use crate::pipeline::class::Class;
use crate::pipeline::effects::Effects;
use crate::pipeline::units;

/// Internal operations.
pub(super) fn operations(
    mnemonic: Option<Mnemonic>,
    word: Word,
    class: Class,
    effects: Effects,
) -> u64 {
    use Mnemonic as M;
    let registers = |count: u32| u64::from(count.max(1));
    let is_update = !effects.base.is_empty();
    match mnemonic {
        Some(M::Lmw | M::Stmw) => registers(32 - word.rt() as u32),
        Some(M::Lswi | M::Stswi) => registers(word.nb().div_ceil(4)),
        Some(M::Lswx | M::Stswx) => registers(32),
        Some(M::Mtcrf) => registers(word.fxm().count_ones()),
        Some(M::Lq | M::Stq | M::Lqarx | M::Stqcx | M::Lfdp | M::Lfdpx | M::Stfdp | M::Stfdpx) => 2,
        Some(mnemonic) => {
            let is_cracked = match class {
                Class::Store => match units::power8::stores_vector(mnemonic) {
                    Some(is_whole) => is_whole,
                    // The address of a displacement is there with the store's own.
                    None => is_update && word.0 >> 26 == INDEXED,
                },
                Class::Fixed | Class::Multiply => is_cracked_by_record(mnemonic) && word.rc(),
                class => is_update && class.is_load(),
            };
            1 + u64::from(is_cracked) + u64::from(class == Class::LoadAlgebraic)
        }
        None => 1,
    }
}

/// The primary opcode of X forms.
const INDEXED: u32 = 31;

/// Record forms that compare in an operation of their own: sums and logic do it at once.
fn is_cracked_by_record(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Rlwinm
            | M::Rlwnm
            | M::Rlwimi
            | M::Rldicl
            | M::Rldicr
            | M::Rldic
            | M::Rldimi
            | M::Rldcl
            | M::Rldcr
            | M::Slw
            | M::Srw
            | M::Srawi
            | M::Sraw
            | M::Sld
            | M::Srd
            | M::Sradi
            | M::Srad
            | M::Extsb
            | M::Extsh
            | M::Extsw
            | M::Mullw
            | M::Mulhw
            | M::Mulhwu
            | M::Mulld
            | M::Mulhd
            | M::Mulhdu
    )
}

/// Where it may be in a group.
pub(super) fn grouping(mnemonic: Option<Mnemonic>, class: Class, effects: Effects) -> Grouping {
    match class {
        Class::LoadAlgebraic if !effects.base.is_empty() => Grouping::Alone,
        Class::LoadReserve
        | Class::StoreConditional
        | Class::ConditionRead
        | Class::Isync
        | Class::Hwsync
        | Class::Lwsync
        | Class::Ptesync => Grouping::Alone,
        Class::Condition if mnemonic == Some(Mnemonic::Mtcrf) => Grouping::Alone,
        Class::Condition | Class::FieldRead | Class::RenamedRead | Class::RenamedWrite => {
            Grouping::First
        }
        _ => Grouping::Any,
    }
}
