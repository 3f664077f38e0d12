//! The lock by which hardware threads share data.
//!
//! Tickets make it fair: whoever came first goes on first. Locks are taken in this order: a partition's,
//! the schedule's, the console's, the hal's own.

pub use spin::mutex::TicketMutex as Lock;
