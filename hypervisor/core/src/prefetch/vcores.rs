//! Which vCPUs are a vcore.

use alloc::vec::Vec;

use crate::vcpu_id::VcpuId;

/// A vcore, counted over all partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct VcoreId(pub usize);

/// The vCPUs that share a core's caches: neighbours by number, of one partition.
#[derive(Debug)]
pub struct Vcores {
    /// By vCPU.
    of_vcpu: Vec<VcoreId>,
}

impl Vcores {
    /// Each of so many vCPUs at most, of partitions that have so many in all, in their order.
    ///
    /// # Panics
    /// If `most` is 0.
    #[must_use]
    pub fn new(most: usize, vcpus: impl Iterator<Item = usize>) -> Self {
        assert!(most > 0, "a vcore has a vCPU at least");
        let mut vcores = Self { of_vcpu: Vec::new() };
        for vcpus in vcpus {
            let first = vcores.len();
            vcores.of_vcpu.extend((0..vcpus).map(|number| VcoreId(first + number / most)));
        }
        vcores
    }

    /// All of them.
    pub(super) fn len(&self) -> usize {
        self.of_vcpu.last().map_or(0, |last| last.0 + 1)
    }

    pub(super) fn of(&self, vcpu: VcpuId) -> VcoreId {
        self.of_vcpu[vcpu.0 as usize]
    }

    /// By vCPU.
    pub(super) fn iter(&self) -> impl Iterator<Item = VcoreId> {
        self.of_vcpu.iter().copied()
    }
}

/// How many threads share a core, or a part of one, by the core of each, where cores have so many parts and at most so
/// many threads of one run vCPUs.
#[must_use]
pub fn most_in_a_part(cores: impl Iterator<Item = u32>, parts: u32, at_most: Option<u32>) -> usize {
    let mut cores: Vec<u32> = cores.collect();
    cores.sort_unstable();
    let most = cores.chunk_by(|one, other| one == other).map(<[u32]>::len).max().unwrap_or(1);
    let most = most.div_ceil(parts as usize);
    at_most.map_or(most, |at_most| most.min(at_most as usize))
}
