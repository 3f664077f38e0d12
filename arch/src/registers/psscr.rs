//! Processor stop status and control register. Source: `docs/facts/special-registers.md#psscr`.

use crate::bits::{Field, bit};

/// Power-saving level that was reached since the last `stop`.
pub const PLS: Field = Field::new(0, 3);
/// Status disable.
pub const SD: u64 = bit(41);
/// Enable state loss.
pub const ESL: u64 = bit(42);
/// Exit criterion.
pub const EC: u64 = bit(43);
/// Level limit for a `stop` that is not the hypervisor's.
pub const PSLL: Field = Field::new(44, 47);
/// Transition rate.
pub const TR: Field = Field::new(54, 55);
/// Maximum transition level.
pub const MTL: Field = Field::new(56, 59);
/// Requested level.
pub const RL: Field = Field::new(60, 63);

/// What the privileged number 823 shows and changes: PLS, TR, MTL and RL.
pub const PRIVILEGED: u64 = PLS.mask() | TR.mask() | MTL.mask() | RL.mask();

/// What withholds `stop` from a guest: its `stop` goes to the hypervisor. HFSCR has no bit for it.
pub const WITHHELD: u64 = EC;
