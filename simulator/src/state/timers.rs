//! What the machine remembers about the decrementers between two instructions.

use serde::{Deserialize, Serialize};

/// What HDEC's sign has brought so far. It changes where HDEC is written and where its interrupt is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Underflow {
    /// The exception is there, whatever HDEC's sign is now.
    pub(crate) is_kept: bool,
    /// The sign bit that is set now has had its interrupt, or has brought none.
    pub(crate) is_over: bool,
}

impl Underflow {
    /// Whether the exception is there at this value of HDEC.
    pub(crate) fn is_there(self, hdec: i64) -> bool {
        self.is_kept || hdec < 0 && !self.is_over
    }
}

/// What the decrementers ask for. It was computed once and holds until a known time, as long as nobody
/// writes a register that it depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Timers {
    pub(crate) is_dec_negative: bool,
    pub(crate) has_hdec_exception: bool,
    /// The first cycle of the thread's time at which one of the signs is another.
    pub(crate) until: u64,
    pub(crate) inputs: TimerInputs,
}

/// DEC and HDEC as they are kept, the ticks that the core has slept for, and LPCR\[LD\].
pub(crate) type TimerInputs = (u64, u64, u64, bool);
