//! Which vCPU runs where and when, who pays for it, and how hardware threads wake each other.

pub mod doorbell;
pub mod meter;
pub mod queue;
pub mod schedule;
pub mod secondaries;
