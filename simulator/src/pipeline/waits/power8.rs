//! POWER8: each instruction of power saving has its level.

use crate::pipeline::parameters::WakeParameters;
use crate::state::power_saving::level;
use crate::state::thread::Thread;

/// From what wakes `thread` to its first instruction, ns.
pub(super) fn wake(wake: &WakeParameters, thread: &Thread) -> u64 {
    match thread.reached.level {
        level::DOZE => wake.doze,
        level::NAP => wake.nap,
        level::SLEEP => wake.sleep,
        _ => wake.winkle,
    }
}
