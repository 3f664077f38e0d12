//! TFMR, the timer facility management register: how a core gets the time base from the chip's clock.
//! Source: `docs/facts/special-registers.md#tfmr`.

use crate::bits::{Field, bit};

/// What software writes: settings and commands.
pub const CONTROL: u64 = !0 << (63 - 24);
/// The time base follows the chip's clock.
pub const FOLLOWS_CLOCK: u64 = bit(14);
/// Command: forget the time base.
pub const LOAD_MODULUS: u64 = bit(16);
/// Command: take the time from the chip's clock.
pub const MOVE_CLOCK: u64 = bit(18);
/// Command: leave the state of an error.
pub const CLEAR_ERRORS: u64 = bit(24);
/// Where the core is on the way to a time base: [`state`].
pub const STATE: Field = Field::new(28, 31);
/// Where it was before.
pub const LAST_STATE: Field = Field::new(32, 35);
/// The time base is enabled.
pub const ENABLED: u64 = bit(40);
/// The time base has the time.
pub const VALID: u64 = bit(41);
/// The clock has sent a pulse since the register was written.
pub const PULSE: u64 = bit(42);
/// Software asked for what the state does not allow; writing a one clears it.
pub const SOFTWARE_ERROR: u64 = bit(46);

/// Values of [`STATE`].
pub mod state {
    /// Errors were cleared.
    pub const RESET: u64 = 0;
    /// The clock has been told.
    pub const SEND_MODULUS: u64 = 1;
    /// The time base waits to be set.
    pub const NOT_SET: u64 = 2;
    /// It waits for the clock's pulse.
    pub const WAIT_FOR_PULSE: u64 = 6;
    /// It waits for the clock's time.
    pub const GET_TIME: u64 = 7;
    /// It runs.
    pub const RUNNING: u64 = 8;
    /// Something went wrong.
    pub const ERROR: u64 = 9;
}

/// As firmware leaves it, without the settings of rates that only firmware knows.
pub const AT_POWER_ON: u64 = STATE.set(0, state::RUNNING)
    | LAST_STATE.set(0, state::GET_TIME)
    | FOLLOWS_CLOCK
    | ENABLED
    | VALID
    | PULSE;
