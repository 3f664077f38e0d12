//! Interrupts of guests: how one is taken, and which external ones wait.

pub mod doorbell;
pub mod handler;
pub mod presentation;
pub mod source;
