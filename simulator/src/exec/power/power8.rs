//! `doze`, `nap`, `sleep` and `rvwinkle`: Power ISA 2.07 Book III, Power-Saving Mode;
//! `docs/facts/power8.md#power-saving`.

use arch::instruction::{Mnemonic, Word};

use super::save;
use crate::exec::{Handler, Outcome};
use crate::state::power_saving::{Asked, level};
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// The handler of an instruction that only POWER8 has.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Doze => |thread, shared, _: Word| enter(thread, shared, level::DOZE),
        Mnemonic::Nap => |thread, shared, _: Word| enter(thread, shared, level::NAP),
        Mnemonic::Sleep => |thread, shared, _: Word| enter(thread, shared, level::SLEEP),
        Mnemonic::Rvwinkle => |thread, shared, _: Word| enter(thread, shared, level::RVWINKLE),
        _ => return None,
    })
}

/// What LPCR\[PECE\] names ends each of them, by a system reset.
fn enter(thread: &mut Thread, shared: &mut Shared, level: u64) -> Outcome {
    let loses_state = level != level::DOZE;
    save(thread, shared, Asked { level, loses_state, has_criterion: true })
}
