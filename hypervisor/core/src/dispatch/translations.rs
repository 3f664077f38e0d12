//! Cached translations of a vCPU that has left a core, and when the core has to forget them.

use arch::bundle::Translation;

use crate::hal::Hal;
use crate::life::activity::Activity;
use crate::partition::Partition;
use crate::vcpu::Vcpu;

use super::Running;

impl<H: Hal> Running<'_, H> {
    /// A guest invalidates what only one of its vCPUs has used with `tlbiel`, in the core where that runs: what
    /// it used in another core before is left there. So the core that a vCPU leaves has to forget it before
    /// any vCPU of the partition uses it; it does when the next one comes, or at once if one is there.
    ///
    /// As KVM's `need_tlb_flush` does (Linux's `book3s_hv.c`); where it calls the vCPUs of that core back, this
    /// makes all cores forget, as that happens only where vCPUs of one partition share a core.
    pub(super) fn forget_stale(&self, partition: &mut Partition<H>) {
        let core = self.system.core(self.thread);
        let vcpu = &mut partition.vcpus[self.place.1];
        let before = vcpu.last_thread.replace(self.thread).map(|thread| self.system.core(thread));
        if let Some(before) = before.filter(|before| *before != core) {
            if partition.translation() == Translation::Hash {
                // The hypervisor takes its translations back, everywhere; its segments are loaded with the vCPU.
                return;
            }
            let is_there = |vcpu: &Vcpu<H>| matches!(vcpu.activity(), Activity::Running { thread } if self.system.core(thread) == before);
            if partition.vcpus.iter().any(is_there) {
                partition.stale_cores.clear();
                self.system.hal.forget_translations(partition.lpid);
            } else if !partition.stale_cores.contains(&before) {
                partition.stale_cores.push(before);
            }
        }
        if let Some(place) = partition.stale_cores.iter().position(|stale| *stale == core) {
            partition.stale_cores.swap_remove(place);
            self.system.hal.forget_in_core(partition.lpid);
        }
    }
}
