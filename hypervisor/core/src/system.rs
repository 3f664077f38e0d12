//! All partitions and all hardware threads, and how a partition is concluded.
//!
//! A partition is behind a lock of its own, who runs when behind the schedule's. The registers of a vCPU
//! are moved to the thread that runs it ([`crate::dispatch`]) and back, so nobody else can touch them.

use alloc::sync::Arc;
use alloc::vec::Vec;

use arch::bundle::{HashCallPolicy, RegisterPolicy};

use crate::console::Console;
use crate::devices::Devices;
use crate::guest_memory::given::Given;
use crate::guest_memory::{Kind, Shared};
use crate::hal::{Hal, Memory};
use crate::hash_table::HashTable;
use crate::interrupts::presentation::Presentation;
use crate::life::activity::Activity;
use crate::life::outcome::{Outcome, StopReason};
use crate::life::{CarriedOut, Ended, Pending};
use crate::partition::{Partition, image};
use crate::report;
use crate::scheduling::schedule::{Schedule, start};
use crate::sync::{Lock, spin_loop};
use crate::vcpu::Vcpu;
use crate::vcpu_id::VcpuId;

/// After how long a partition is suspended that could not be when its time came: 100 us of a 512 MHz time base.
const LATER_TICKS: u64 = 51_200;

/// Moments that a thread waits before it asks for the schedule's lock again, which those that it waits for need too.
/// With 32, a core of two threads changes its partition 4 % later, and one of eight 3 % sooner
/// (`experiments/vcore-switch.toml`).
const PAUSE: u32 = 4;

/// What the dispatcher goes by, in ticks of the time base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long a vCPU runs when others wait.
    pub slice: u64,
    /// If nothing else can happen for so long, what sleeps is not waited for.
    pub patience: u64,
    /// Where the registers of a vCPU go that gives up the processor.
    pub registers: RegisterPolicy,
    /// Where calls of a hashed page table are answered.
    pub hash_calls: HashCallPolicy,
}

/// All partitions on all hardware threads.
pub struct System<'a, H: Memory> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a Console,
    /// How long vCPUs run, how long one waits for those that sleep, and where registers go.
    pub policy: Policy,
    /// Who is ready, who sleeps, which thread is idle.
    pub schedule: Lock<Schedule>,
    partitions: Vec<Lock<Partition<H>>>,
    /// By number of the vCPU: partition and vCPU in it.
    places: Vec<(usize, usize)>,
    /// By partition: what of its memory it has, and its hashed page table.
    memories: Vec<Arc<Shared>>,
    /// By partition: its devices.
    devices: Vec<Option<Arc<Devices>>>,
    /// By partition: the external interrupts of its vCPUs.
    presentations: Vec<Vec<Arc<Presentation>>>,
    /// By hardware thread: its core.
    cores: Vec<u32>,
    /// A partition has a time limit.
    has_limits: bool,
}

impl<H: Memory> core::fmt::Debug for System<'_, H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("System").field("cores", &self.cores).finish_non_exhaustive()
    }
}

impl<'a, H: Memory> System<'a, H> {
    /// Where a debugger finds the list of the partitions.
    pub const PARTITIONS: usize = core::mem::offset_of!(Self, partitions);

    /// Takes over partitions whose vCPUs were added to `schedule` in their order, on hardware threads of
    /// these cores.
    #[must_use]
    pub fn new(
        hal: &'a H,
        console: &'a Console,
        policy: Policy,
        partitions: Vec<Partition<H>>,
        mut schedule: Schedule,
        cores: Vec<u32>,
    ) -> Self {
        assert_eq!(schedule.threads(), cores.len(), "each thread is on a core");
        let place = |(index, partition): (usize, &Partition<H>)| {
            (0..partition.vcpus.len()).map(move |vcpu| (index, vcpu)).collect::<Vec<_>>()
        };
        let places = partitions.iter().enumerate().flat_map(place).collect();
        partitions.iter().for_each(|_| schedule.add_partition());
        let memories = partitions.iter().map(|partition| partition.memory.shared()).collect();
        let devices = partitions.iter().map(|partition| partition.devices.clone()).collect();
        let presentations = |partition: &Partition<H>| {
            partition.vcpus.iter().map(|vcpu| vcpu.presentation.clone()).collect()
        };
        let presentations: Vec<Vec<_>> = partitions.iter().map(presentations).collect();
        let has_limits = partitions.iter().any(|partition| partition.time_limit.is_some());
        let partitions = partitions.into_iter().map(Lock::new).collect();
        if H::SHARES_CORES {
            schedule.share_cores(&cores, policy.slice, presentations.iter().map(Vec::len));
        } else {
            schedule.queue.set_threads(&cores, policy.slice);
        }
        let schedule = Lock::new(schedule);
        Self {
            hal,
            console,
            policy,
            schedule,
            partitions,
            places,
            memories,
            devices,
            presentations,
            cores,
            has_limits,
        }
    }

    /// The partitions, by their number in the bundle.
    #[must_use]
    pub fn partitions(&self) -> &[Lock<Partition<H>>] {
        &self.partitions
    }

    /// What a partition has of its memory, without its lock.
    pub(crate) fn given(&self, partition: usize) -> &Given {
        &self.memories[partition].given
    }

    /// A partition's devices, without its lock.
    pub(crate) fn devices(&self, partition: usize) -> Option<&Devices> {
        self.devices[partition].as_deref()
    }

    /// The external interrupts of a partition's vCPUs, without its lock.
    pub(crate) fn presentations(&self, partition: usize) -> &[Arc<Presentation>] {
        &self.presentations[partition]
    }

    /// Which kind of partition it is, without its lock.
    pub(crate) fn kind(&self, partition: usize) -> &Kind {
        &self.memories[partition].kind
    }

    /// A partition's hashed page table, without its lock.
    pub(crate) fn hash_table(&self, partition: usize) -> Option<&HashTable> {
        self.kind(partition).hash_table()
    }

    /// The partitions again, when all is over.
    #[must_use]
    pub fn into_partitions(self) -> Vec<Partition<H>> {
        self.partitions.into_iter().map(Lock::into_inner).collect()
    }

    /// Whether a vCPU may be let in as it is chosen. Where threads of a core have one partition, that is decided for
    /// all of them; and a time limit counts to the tick who pays for the way in.
    #[must_use]
    pub(crate) const fn lets_in(&self) -> bool {
        !H::SHARES_CORES && !self.has_limits
    }

    /// Whether there are several hardware threads.
    #[must_use]
    pub(crate) const fn has_other_threads(&self) -> bool {
        self.cores.len() > 1
    }

    /// The first hardware thread of a thread's core.
    pub(crate) fn first_of_core(&self, thread: usize) -> usize {
        let is_of_core = |core: &u32| *core == self.cores[thread];
        self.cores.iter().position(is_of_core).unwrap_or(thread)
    }

    /// The core of a hardware thread.
    #[must_use]
    pub fn core(&self, thread: usize) -> u32 {
        self.cores[thread]
    }

    /// The partition of a vCPU, and which of its vCPUs it is.
    pub(crate) fn place(&self, id: VcpuId) -> (usize, usize) {
        self.places[id.0 as usize]
    }
}

impl<H: Hal> System<'_, H> {
    /// Waits until `thread`, which is on its way with this vCPU, is inside its partition: until the threads of its core
    /// are out of another one. Nobody waits for what this thread keeps: where threads share cores, they keep nothing.
    #[inline(never)]
    pub(crate) fn come_into_core(&self, thread: usize, vcpu: VcpuId) {
        let (partition, _) = self.place(vcpu);
        let lpid = self.partitions[partition].lock().lpid;
        let take = || self.hal.take_core(lpid);
        let arrives = || {
            let now = self.hal.timebase();
            self.schedule.lock().arrives_in_core(thread, partition, now, take)
        };
        while !arrives() {
            (0..PAUSE).for_each(|_| spin_loop());
        }
    }

    /// Tells each partition what it was charged, when all is over.
    pub fn close_accounts(&self) {
        for partition in &self.partitions {
            let mut partition = partition.lock();
            let [ran, inside] = self.schedule.lock().charged(&partition);
            (partition.statistics.ran, partition.statistics.inside) = (ran, inside);
        }
    }

    /// Lets a partition's vCPUs run no more, because of what one of them did: those that do not run stop
    /// now, the others, but for the one on hardware thread `caller`, are called back. The last one to
    /// come has to [`System::finish`].
    pub(crate) fn conclude(
        &self,
        partition: &mut Partition<H>,
        pending: Pending,
        caller: Option<usize>,
    ) {
        let now = self.hal.timebase();
        self.conclude_since(partition, pending, caller, now);
    }

    /// The same of an end for which there was a reason at the time `since` already.
    pub(crate) fn conclude_since(
        &self,
        partition: &mut Partition<H>,
        pending: Pending,
        caller: Option<usize>,
        since: u64,
    ) {
        let is_end = matches!(pending, Pending::End { .. });
        if partition.life.comes_to_rest() && !is_end {
            self.suspend_later(partition);
        }
        partition.life.conclude(pending);
        for vcpu in &mut partition.vcpus {
            match vcpu.activity() {
                Activity::Running { thread } if Some(thread) == caller => {}
                Activity::Running { thread } => self.hal.ring(thread),
                _ => self.schedule.lock().stop(vcpu),
            }
        }
        // From here on no thread takes one of them.
        if is_end {
            let end = *partition.end.get_or_insert(since);
            self.schedule.lock().forgive(partition, end);
        }
    }

    /// Brings a partition to rest whose time has come, to suspend it; later, while it loads. Nothing happens to one
    /// that is over.
    pub(crate) fn suspend(&self, partition: usize) {
        let partition = &mut *self.partitions[partition].lock();
        if partition.life.outcome().is_some() {
            return;
        }
        if !partition.life.may_suspend() {
            return self.suspend_later(partition);
        }
        partition.life.conclude(Pending::Suspension);
        for vcpu in &partition.vcpus {
            match vcpu.activity() {
                Activity::Running { thread } => self.hal.ring(thread),
                _ => self.schedule.lock().hold(vcpu),
            }
        }
        self.finish(partition);
    }

    fn suspend_later(&self, partition: &Partition<H>) {
        let later = self.hal.timebase().saturating_add(LATER_TICKS);
        self.schedule.lock().timers.set_suspension(partition.vcpus[0].id, later);
    }

    /// Does what was concluded, if no vCPU of the partition runs any more.
    pub(crate) fn finish(&self, partition: &mut Partition<H>) {
        if partition.life.comes_to_rest() && partition.vcpus.iter().any(Vcpu::is_kept) {
            // The hardware thread that has the registers comes here with them.
            return;
        }
        match partition.life.carry_out(partition.vcpus.iter().map(Vcpu::activity)) {
            None => {}
            Some(CarriedOut::Restart) => self.restart(partition),
            Some(CarriedOut::End(ended)) => self.end(partition, &ended),
            Some(CarriedOut::Suspension) => self.save(partition),
        }
    }

    /// Lets the first vCPU of a partition load it again.
    fn restart(&self, partition: &mut Partition<H>) {
        partition.reset(self.hal);
        let Partition { life, vcpus, .. } = partition;
        if let Some(permission) = life.may_run() {
            start(self.hal, &self.schedule, &mut vcpus[0], permission);
        }
    }

    /// Writes down what the vCPUs of a partition do, which is at rest, and lets the first one write its memory.
    fn save(&self, partition: &mut Partition<H>) {
        let is_stopped = |vcpu: &Vcpu<H>| vcpu.activity() == Activity::Stopped;
        let end = |outcome| Pending::End { outcome, vcpu: 0 };
        let outcome = if partition.vcpus.iter().all(is_stopped) {
            Some(StopReason::AllStopped)
        } else {
            let now = self.hal.timebase();
            let [ran, _] = self.schedule.lock().charged(partition);
            image::begin(partition, self.hal, now, ran).err().map(StopReason::Suspension)
        };
        let mut schedule = self.schedule.lock();
        partition.vcpus.iter_mut().for_each(|vcpu| schedule.stop(vcpu));
        drop(schedule);
        if let Some(reason) = outcome {
            self.conclude(partition, end(Outcome::Stopped(reason)), None);
            return self.finish(partition);
        }
        partition.lend_first_vcpu();
        let Partition { life, vcpus, .. } = partition;
        if let Some(permission) = life.may_run() {
            start(self.hal, &self.schedule, &mut vcpus[0], permission);
        }
    }

    fn end(&self, partition: &mut Partition<H>, ended: &Ended) {
        if !matches!(partition.life.outcome(), Some(Outcome::Suspended(_))) {
            self.console.finish(self.hal, partition);
        }
        report::ended(self.console, self.hal, partition, ended.vcpu());
        let mut schedule = self.schedule.lock();
        if schedule.remove_partition(ended) {
            while let Some(thread) = schedule.take_idle(None) {
                self.hal.ring(thread);
            }
        }
    }
}
