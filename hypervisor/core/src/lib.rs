//! What the hypervisor decides, without touching anything.
//!
//! Nothing here holds a pointer to memory that is not its own, executes a privileged instruction or
//! is unsafe. The machine is reached through [`hal::Hal`], which the bare-metal `hal` crate
//! implements and the tests fake. A reading path: [`run`] from firmware's device tree to power-off,
//! [`load`] for a partition's birth, [`system`], [`dispatch`], [`hypercall`] and [`exit`] for its life,
//! [`report`] for its end.

#![no_std]

extern crate alloc;
#[cfg(any(test, loom))]
extern crate std;

pub mod areas;
pub mod bundle;
pub mod calendar;
pub mod console;
pub mod crew;
pub mod dispatch;
pub mod doorbell;
pub mod exit;
pub mod facilities;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod firmware;
pub mod flat_tree;
pub mod guest_tree;
pub mod hal;
pub mod hypercall;
pub mod interrupt;
pub mod life;
pub mod load;
pub mod memory;
pub mod meter;
#[cfg(all(test, loom))]
mod models;
pub mod partition;
pub mod presentation;
pub mod registers;
pub mod report;
pub mod run;
pub mod schedule;
pub mod second_stage;
pub mod sync;
pub mod system;
pub mod threads;
pub mod vcpu;
