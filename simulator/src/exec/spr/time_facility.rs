//! TFMR: a core gets its time base from the chip's clock, step by step (`docs/facts/special-registers.md#tfmr`).
//!
//! The steps are QEMU's, which reads them from the processor's description. What a processor does some pulses later
//! is done at once; the chip's clock, which firmware reaches beside the core, is not there, so that nobody ends the
//! wait for its time. As on QEMU the time base goes on in every state: what a processor shows then no source says.

use arch::registers::spr::{Spr, SprRow};
use arch::registers::tfmr::{self, LAST_STATE, STATE, state};

use super::family::Family;
use super::kept;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

pub(super) static FAMILY: Family = Family { read: kept::read, write, synchronizes: |_, _| false };

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    if value & tfmr::FOLLOWS_CLOCK == 0 {
        let what = "a time base that does not follow the chip's clock";
        let register = row.spr.name();
        return Err(thread.stop(StopReason::SprNotModelled { register, value, what }));
    }
    let old = shared.cores[thread.core].spr(Spr::Tfmr);
    kept::write(thread, shared, row, after(old, value))
}

/// What the register is after a write of `value`.
fn after(old: u64, value: u64) -> u64 {
    let commands = value & (tfmr::LOAD_MODULUS | tfmr::MOVE_CLOCK | tfmr::CLEAR_ERRORS);
    let written = old & !tfmr::CONTROL & !(value & tfmr::SOFTWARE_ERROR)
        | value & tfmr::CONTROL
        | tfmr::PULSE;
    let done = written & !commands;
    match (commands, STATE.get(old)) {
        (0, state::ERROR) => written | tfmr::SOFTWARE_ERROR,
        (0, _) => written,
        (both, _) if both & tfmr::LOAD_MODULUS != 0 && both & tfmr::MOVE_CLOCK != 0 => {
            fail(written)
        }
        (clear, _) if clear & tfmr::CLEAR_ERRORS != 0 => {
            go_to(done & !tfmr::SOFTWARE_ERROR, state::RESET)
        }
        (_, state::ERROR) => written | tfmr::SOFTWARE_ERROR,
        (tfmr::LOAD_MODULUS, state::GET_TIME) => fail(done),
        (tfmr::LOAD_MODULUS, _) => go_to(go_to(done, state::SEND_MODULUS), state::NOT_SET),
        (_, state::NOT_SET) => go_to(go_to(written, state::WAIT_FOR_PULSE), state::GET_TIME),
        _ => fail(written),
    }
}

fn fail(value: u64) -> u64 {
    go_to(value | tfmr::SOFTWARE_ERROR, state::ERROR)
}

fn go_to(value: u64, next: u64) -> u64 {
    let value = STATE.set(LAST_STATE.set(value, STATE.get(value)), next);
    if next == state::RUNNING { value | tfmr::VALID } else { value & !tfmr::VALID }
}

#[cfg(test)]
mod tests {
    use super::after;
    use arch::registers::tfmr::{self, LAST_STATE, STATE, state};

    const SETTING: u64 = tfmr::FOLLOWS_CLOCK | 1 << 63;

    /// The states now and before, after these commands in turn.
    fn states(commands: &[u64]) -> (u64, u64) {
        let step = |old, command: &u64| after(old, SETTING | command);
        let end = commands.iter().fold(tfmr::AT_POWER_ON, step);
        assert_eq!(end & tfmr::VALID != 0, STATE.get(end) == state::RUNNING);
        assert_ne!(end & 1 << 63, 0, "settings are kept");
        (STATE.get(end), LAST_STATE.get(end))
    }

    #[test]
    fn commands_lead_from_state_to_state() {
        let (load, take, clear) = (tfmr::LOAD_MODULUS, tfmr::MOVE_CLOCK, tfmr::CLEAR_ERRORS);
        assert_eq!(states(&[0]), (state::RUNNING, state::GET_TIME));
        assert_eq!(states(&[load]), (state::NOT_SET, state::SEND_MODULUS));
        assert_eq!(states(&[load, take]), (state::GET_TIME, state::WAIT_FOR_PULSE));
        assert_eq!(states(&[take]), (state::ERROR, state::RUNNING));
        assert_eq!(states(&[load | take]), (state::ERROR, state::RUNNING));
        assert_eq!(states(&[load, take, load]), (state::ERROR, state::GET_TIME));
        assert_eq!(states(&[take, load]), (state::ERROR, state::RUNNING));
        assert_eq!(states(&[take, clear]), (state::RESET, state::ERROR));
        assert_eq!(states(&[take, clear, load]), (state::NOT_SET, state::SEND_MODULUS));
    }

    #[test]
    fn an_error_stays_until_software_clears_it() {
        let failed = after(tfmr::AT_POWER_ON, SETTING | tfmr::MOVE_CLOCK);
        assert_ne!(failed & tfmr::SOFTWARE_ERROR, 0);
        let cleared = after(failed, SETTING | tfmr::CLEAR_ERRORS);
        assert_eq!(cleared & tfmr::SOFTWARE_ERROR, 0);
    }
}
