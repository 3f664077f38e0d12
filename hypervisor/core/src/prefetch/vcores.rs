//! Which vCPUs are a vcore.

use alloc::vec::Vec;
use core::ops::Range;

use crate::vcpu_id::VcpuId;

/// A vcore, counted over all partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct VcoreId(pub usize);

/// The vCPUs that share a core's caches: neighbours by number, of one partition.
#[derive(Debug)]
pub struct Vcores {
    /// By vCPU.
    of_vcpu: Vec<VcoreId>,
    /// By partition, behind its last vcore.
    ends: Vec<usize>,
}

impl Vcores {
    /// Each of so many vCPUs at most, of partitions that have so many in all, in their order.
    ///
    /// # Panics
    /// If `most` is 0.
    #[must_use]
    pub fn new(most: usize, vcpus: impl Iterator<Item = usize>) -> Self {
        assert!(most > 0, "a vcore has a vCPU at least");
        let mut vcores = Self { of_vcpu: Vec::new(), ends: Vec::new() };
        for vcpus in vcpus {
            let first = vcores.len();
            vcores.of_vcpu.extend((0..vcpus).map(|number| VcoreId(first + number / most)));
            vcores.ends.push(first + vcpus.div_ceil(most));
        }
        vcores
    }

    /// All of them.
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(super) fn of(&self, vcpu: VcpuId) -> VcoreId {
        self.of_vcpu[vcpu.0 as usize]
    }

    /// By partition.
    pub(super) fn of_partitions(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }
}

/// How many threads share a core, or a part of one, if at most so many do, by the core of each.
#[must_use]
pub fn most_in_a_core(cores: impl Iterator<Item = u32>, at_most: Option<u32>) -> usize {
    let mut cores: Vec<u32> = cores.collect();
    cores.sort_unstable();
    let most = cores.chunk_by(|one, other| one == other).map(<[u32]>::len).max().unwrap_or(1);
    at_most.map_or(most, |at_most| most.min(at_most as usize))
}
