//! How POWER9 cracks instructions.

use arch::instruction::{Mnemonic, Word};

use crate::pipeline::class::Class;
use crate::pipeline::effects::Effects;

/// Internal operations (`docs/facts/power9-core.md#cracking`).
pub(super) fn operations(
    mnemonic: Option<Mnemonic>,
    word: Word,
    class: Class,
    effects: Effects,
) -> u64 {
    use Mnemonic as M;
    let registers = |count: u32| u64::from(count.max(1));
    match mnemonic {
        Some(M::Lmw | M::Stmw) => registers(32 - word.rt() as u32),
        Some(M::Lswi | M::Stswi) => registers(word.nb().div_ceil(4)),
        Some(M::Lswx | M::Stswx) => registers(32),
        Some(M::Mtcrf) => registers(word.fxm().count_ones()),
        Some(M::Lq | M::Stq | M::Lqarx | M::Stqcx | M::Lfdp | M::Lfdpx | M::Stfdp | M::Stfdpx) => 2,
        _ => {
            let update = u64::from(!effects.base.is_empty());
            1 + update + u64::from(matches!(class, Class::LoadAlgebraic | Class::LoadSingle))
        }
    }
}
