//! POWER9: PSSCR says what `stop` gave up and what it reached.

use arch::registers::psscr;
use arch::registers::spr::Spr;

use crate::pipeline::parameters::WakeParameters;
use crate::state::thread::Thread;

/// From what wakes `thread` to its first instruction, ns.
pub(super) fn wake(wake: &WakeParameters, thread: &Thread) -> u64 {
    let psscr = thread.spr(Spr::Psscr);
    match psscr::PLS.get(psscr) {
        _ if psscr & psscr::EC == 0 => wake.lite,
        0 => wake.level_0,
        1 => wake.level_1,
        2 | 3 => wake.level_2,
        _ => wake.deep,
    }
}
