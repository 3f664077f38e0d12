//! How the hypervisor numbers vCPUs: the hal, the queue and the partitions name one by it.

/// A vCPU's number in the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VcpuId(pub u32);
