//! What a machine is: plain data, the ground floor. Nothing here knows who changes it.

pub mod cores;
pub mod invalidation;
pub mod memory;
pub mod power_saving;
pub mod prefetch_engine;
pub mod shared;
pub mod slb;
pub mod switches;
pub mod thread;
pub mod timers;
pub mod tlb;
pub mod walk_cache;
pub mod xics;
