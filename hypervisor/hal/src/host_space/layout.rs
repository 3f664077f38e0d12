//! Where what is not the hypervisor's own memory is mapped, as far as anything is.

use super::memory::{IMAGE_BASE, OTHERS_LOG2};

/// Where it begins: behind every real address of memory, in the space of 52 bits that a tree has.
const OTHERS_BASE: u64 = IMAGE_BASE + (1 << OTHERS_LOG2);
/// Where firmware's device tree is mapped.
pub(crate) const DEVICE_TREE_BASE: u64 = OTHERS_BASE + 0x2000_0000;
/// Where all memory is mapped, if a policy says so.
pub(crate) const DIRECT_BASE: u64 = OTHERS_BASE + 0x100_0000_0000;
/// Quadrant 0, where the PID says whose it is: each hardware thread has 2 MiB for its windows from here on.
pub(crate) const REGIONS_BASE: u64 = 0x2000_0000;
/// Where a lazy policy has the windows of hardware threads, 2 MiB for each place of a slot of each.
pub(crate) const LAZY_BASE: u64 = OTHERS_BASE + 0x8000_0000;
/// Where Xen's policy has the windows of partitions, 64 MiB for each.
pub(crate) const DOMAINS_BASE: u64 = OTHERS_BASE + 0x200_0000_0000;
/// Where windows that stay open are mapped: 64 KiB for each vCPU of the machine.
pub(crate) const PINNED_BASE: u64 = OTHERS_BASE + 0x4000_0000;
