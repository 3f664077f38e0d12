//! What firmware's device tree and the bundle say.

pub mod bundle;
pub mod characteristics;
pub mod firmware;
pub mod flat_tree;
pub mod mitigations;
