//! Program priority: `docs/facts/power9-core.md#priorities`.

use crate::bits::Field;

/// The priority, from 1, very low.
pub const PRIORITY: Field = Field::new(11, 13);
/// Medium: the one at power-on.
pub const MEDIUM: u64 = PRIORITY.set(0, 4);
/// The priority that only a hypervisor gives itself.
pub const HYPERVISOR: u64 = 7;
