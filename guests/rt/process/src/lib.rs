//! For payloads with processes: problem state in an address space of its own, and for a manager of superpages the page
//! table, which the hypervisor keeps for a partition, and a kernel that runs bare (the feature `bare`) keeps itself.
//! Beside the run time, so that payloads without processes stay as they are.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod arena;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod counted;
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
mod hypercalls;
#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
mod native;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod user;

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub use self::arena::Arena;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub use self::counted::{Counted, Traffic};
#[cfg(all(target_arch = "powerpc64", target_os = "none", not(feature = "bare")))]
pub use self::hypercalls::Hypercalls as PageTable;
#[cfg(all(target_arch = "powerpc64", target_os = "none", feature = "bare"))]
pub use self::native::Native as PageTable;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub use self::user::{Context, Program, Work, switch};
