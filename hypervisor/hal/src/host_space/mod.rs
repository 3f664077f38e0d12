//! The hypervisor's own translation, whichever processor walks it.
//!
//! Which piece of the window area is free, [`windows`], is ordinary Rust and is tested on the host. `map` is the
//! tree that POWER9 walks, with its tables, and `region` the windows in it; `real` is in the place of both on
//! POWER8, where the hypervisor runs with relocation off. `memory` has the heap.

#[cfg(all(target_os = "none", not(feature = "power8")))]
pub(crate) mod domain;
#[cfg(all(target_os = "none", not(feature = "power8")))]
mod image_tables;
#[cfg(all(target_os = "none", not(feature = "power8")))]
mod layout;
#[cfg(all(target_os = "none", not(feature = "power8")))]
pub(crate) mod map;
#[cfg(target_os = "none")]
pub(crate) mod memory;
#[cfg(all(target_os = "none", feature = "power8"))]
pub(crate) mod real;
#[cfg(all(target_os = "none", not(feature = "power8")))]
pub(crate) mod region;
pub mod windows;

#[cfg(all(target_os = "none", feature = "power8"))]
pub(crate) use real::{self as map, self as region};
