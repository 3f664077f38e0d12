//! For payloads with processes: problem state in an address space of its own, and the page table that the hypervisor
//! keeps, for a manager of superpages. Beside the run time, so that payloads without processes stay as they are.

#![cfg_attr(target_os = "none", no_std)]

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod hypercalls;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod user;

#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub use self::{
    hypercalls::Hypercalls,
    user::{Context, Program, Work, switch},
};
