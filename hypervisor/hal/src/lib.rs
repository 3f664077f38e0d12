//! What the hypervisor does on a machine: its unsafe code and assembly, but for three instructions of
//! `hypervisor/pause`.
//!
//! `core` decides through the trait `Hal`; this crate implements it for a bare POWER9, and with the feature `power8`
//! for a bare POWER8. The portable half,
//! [`radix`] (writing translation trees) and [`host_space::windows`] (what no window shows), is ordinary Rust
//! over an abstract memory and is tested on the host. The other half exists only when built for the machine:
//!
//! | file | concern |
//! |---|---|
//! | `host_space/map.rs`, `region.rs`, `layout.rs`, `image_tables.rs`, `memory.rs` | the hypervisor's own translation, each thread's windows, its memory; `real.rs` where relocation is off |
//! | `host_state/` | the registers of the hypervisor's own, by processor; what each thread has for itself |
//! | `registers.rs`, `invalidation/` | special-purpose registers and barriers; the invalidation sequences, by processor |
//! | `single.rs` | a static that one hardware thread at a time uses |
//! | `metal/boot.S`, `little_endian.S`, `boot.rs` | from firmware's jump to translation on and a heap |
//! | `metal/power9.S`, `power8.S` | what the assembly does by the processor's own instructions, as macros |
//! | `metal/vectors.S`, `exits.rs` | every interrupt, at both doors |
//! | `metal/sites.S`, `guards.S`, `mitigations.rs` | what exits and entries do against speculation, where policy asks for it |
//! | `metal/crash.S`, `panic.rs`, `debugger.rs` | when the hypervisor itself fails; what a debugger finds of vCPUs |
//! | `metal/enter.S`, `machine.rs` | entering a guest; the implementation of `Hal` |
//! | `metal/residents.rs`, `eager.rs` | registers that stay in the processor until another vCPU enters; all that KVM moved at each exit |
//! | `metal/facilities.rs`, `floating.S`, `vector_scalar.S` | facilities that vCPUs get on demand, and their registers |
//! | `metal/prefetch.rs` | POWER8's prefetch engine, and the vCPUs that enter beside it |
//! | `metal/window.rs` | real memory through a window |
//! | `metal/opal.S`, `opal.rs` | calling firmware |
//! | `metal/threads.rs`, `caller/` | the other hardware threads, waiting; how one calls another, by processor |

#![cfg_attr(target_os = "none", no_std)]

#[cfg(target_os = "none")]
extern crate alloc;

pub mod host_space;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod host_state;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod invalidation;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
pub mod metal;
pub mod radix;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod registers;
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
mod single;

/// Names the function that runs once the machine is up:
/// `fn(hal::metal::Machine, hypervisor_core::run::Boot<'static>) -> !`.
///
/// The expansion holds the one attribute that a crate without unsafe code cannot write itself.
#[cfg(all(target_arch = "powerpc64", target_os = "none"))]
#[macro_export]
macro_rules! entry {
    ($run:path) => {
        #[unsafe(no_mangle)]
        extern "Rust" fn hal_hypervisor_main(
            machine: $crate::metal::Machine,
            boot: $crate::metal::Boot,
        ) -> ! {
            $run(machine, boot)
        }
    };
}
