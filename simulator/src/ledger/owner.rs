//! Who a cycle is charged to.

use serde::{Deserialize, Serialize};

/// Which side uses an entry of a cache: see [`Owner::side`].
pub type Side = Option<u32>;

/// Who executed, and on whose behalf.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Owner {
    /// A partition's own code.
    Partition {
        /// LPIDR.
        lpid: u32,
    },
    /// The hypervisor (MSR\[HV\]=1), from an exit of a partition until it enters one again.
    Serving {
        /// LPIDR when the partition left.
        lpid: u32,
        /// The vector's offset of the interrupt that took the thread out of it.
        vector: u64,
    },
    /// The hypervisor, or a bare-metal kernel, on its own account.
    Host,
    /// A program of a kernel that runs bare on the machine (MSR\[HV\]=1, MSR\[PR\]=1).
    Program,
    /// Firmware.
    Firmware,
    /// Nobody: the thread waits in `stop` or in firmware.
    Idle,
}

impl Owner {
    /// The partition that executes or is served, if any.
    #[must_use]
    pub fn lpid(self) -> Option<u32> {
        match self {
            Self::Partition { lpid } | Self::Serving { lpid, .. } => Some(lpid),
            Self::Host | Self::Program | Self::Firmware | Self::Idle => None,
        }
    }

    /// The partition, or `None` for the hypervisor and firmware whomever they serve. A line that one side lost
    /// to another is an indirect cost.
    #[must_use]
    pub fn side(self) -> Side {
        match self {
            Self::Partition { lpid } => Some(lpid),
            Self::Serving { .. } | Self::Host | Self::Program | Self::Firmware | Self::Idle => None,
        }
    }
}
