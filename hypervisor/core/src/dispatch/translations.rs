//! Cached translations of a vCPU that has left a core, and when the core has to forget them.

use crate::guest_memory::Kind;
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
        let before = partition.vcpus[self.place.1].last_thread.replace(self.thread);
        if before != Some(self.thread) {
            self.came(partition, before);
        }
        if partition.stale_cores.is_empty() {
            return;
        }
        let core = self.system.core(self.thread);
        if let Some(place) = partition.stale_cores.iter().position(|stale| *stale == core) {
            partition.stale_cores.swap_remove(place);
            self.system.hal.forget_in_core(partition.lpid);
        }
    }

    /// Whose translations a hashed partition's `tlbiel` on this thread takes back: the thread's, or those of the core,
    /// by its first thread, whose threads run one partition.
    fn home(&self, thread: usize) -> usize {
        if H::SHARES_CORES { self.system.first_of_core(thread) } else { thread }
    }

    /// The vCPU was on another hardware thread before, or on none.
    #[cold]
    fn came(&self, partition: &mut Partition<H>, before: Option<usize>) {
        match self.system.kind(self.place.0) {
            Kind::Radix => {}
            Kind::Hash(table) => {
                // The hypervisor takes translations back; its segments are loaded with the vCPU.
                let home = self.home(self.thread);
                let is_here =
                    |vcpu: &Vcpu<H>| vcpu.last_thread.is_none_or(|last| self.home(last) == home);
                let are_here = partition.vcpus.iter().all(is_here);
                table.set_home(self.system.hal, are_here.then_some(home));
                return;
            }
        }
        let before = before.map(|thread| self.system.core(thread));
        let Some(before) = before.filter(|before| *before != self.system.core(self.thread)) else {
            return;
        };
        let is_there = |vcpu: &Vcpu<H>| matches!(vcpu.activity(), Activity::Running { thread } if self.system.core(thread) == before);
        if partition.vcpus.iter().any(is_there) {
            partition.stale_cores.clear();
            self.system.hal.forget_translations(partition.lpid);
        } else if !partition.stale_cores.contains(&before) {
            partition.stale_cores.push(before);
        }
    }
}
