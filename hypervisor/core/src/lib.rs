//! What the hypervisor decides, without touching anything.
//!
//! Nothing here holds a pointer to memory that is not its own, executes a privileged instruction or
//! is unsafe. The machine is reached through [`hal::Hal`], which the bare-metal `hal` crate
//! implements and the tests fake. A reading path: [`run`] from firmware's device tree to power-off,
//! [`partition::load`] for a partition's birth, [`thread_loop`], [`dispatch`], [`hypercall`] and [`exit`] for its life,
//! [`report`] for its end.

#![no_std]

extern crate alloc;
#[cfg(any(test, loom))]
extern crate std;

pub mod boot;
pub mod calendar;
pub mod console;
pub mod devices;
pub mod dispatch;
pub mod exit;
pub mod facilities;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod guest_memory;
pub mod hal;
pub mod hash_table;
pub mod hypercall;
pub mod interrupts;
pub mod life;
pub mod map_cache;
pub mod memory;
pub mod partition;
pub mod prefetch;
pub mod report;
pub mod run;
pub mod scheduling;
pub mod sync;
pub mod system;
pub mod thread_loop;
pub mod vcpu;
pub mod vcpu_id;

#[cfg(all(test, loom))]
mod models;
