//! Power-saving levels: what the machine knows about each, and the one that a thread has reached.

use arch::registers::spr::Spr;
use serde::{Deserialize, Serialize};

/// The number under which `OPAL_SLW_SET_REG` knows the MSR.
pub const MSR_NUMBER: u16 = 2000;

/// What the description says of power-saving levels, see `[power_saving]` there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PowerSaving {
    /// Levels from this one on are the core's: reached when all its threads ask for them.
    pub core_from: u64,
    /// The first level that loses the hypervisor's state.
    pub hypervisor_lost_from: u64,
    /// The first level at which time base and decrementers stand still.
    pub time_base_stops_from: u64,
    /// Registers that survive.
    pub kept: Vec<Spr>,
    /// Registers that hold their values of power-on.
    pub reset: Vec<Spr>,
    /// Numbers that `OPAL_SLW_SET_REG` accepts, [`MSR_NUMBER`] among them.
    pub restorable: Vec<u16>,
}

/// The levels of what POWER8 has instead of `stop`.
pub mod level {
    /// `doze`: nothing is lost.
    pub const DOZE: u64 = 0;
    /// `nap`.
    pub const NAP: u64 = 1;
    /// `sleep`.
    pub const SLEEP: u64 = 2;
    /// `rvwinkle`.
    pub const RVWINKLE: u64 = 3;
}

/// What the thread asked for when it entered power saving.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Asked {
    /// The level, at most.
    pub level: u64,
    /// The thread's own registers may be lost.
    pub loses_state: bool,
    /// Only what LPCR\[PECE\] names ends it, by a system reset.
    pub has_criterion: bool,
}

/// The level that a waiting thread or a sleeping core has reached, and the cycle at which it did. A thread's is the
/// deepest since it stopped: its core may have been awake in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Reached {
    /// The level, as PSSCR\[PLS\] reports it.
    pub level: u64,
    /// The cycle.
    pub since: u64,
}
