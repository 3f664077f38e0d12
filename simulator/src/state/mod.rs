//! What a machine is: plain data, the ground floor. Nothing here knows who changes it.

pub mod invalidation;
pub mod memory;
pub mod shared;
pub mod thread;
pub mod tlb;
pub mod walk_cache;
