//! The hypervisor's own translation, whichever processor walks it.
//!
//! Which piece of the window area is free, [`windows`], is ordinary Rust and is tested on the host. `map` is the
//! tree that POWER9 walks, with its tables; `memory` has the tables and the heap.

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub(crate) mod domain;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub(crate) mod map;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub(crate) mod memory;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub(crate) mod region;
pub mod windows;
