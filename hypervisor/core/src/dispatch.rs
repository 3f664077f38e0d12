//! Runs the vCPUs of all partitions on one hardware thread until every partition is over.
//!
//! A vCPU runs until something makes it leave: its slice is over, it waits, or it or its partition is
//! over. What it needs from the processor is decided here, just before it enters.

use alloc::vec::Vec;

use crate::console::Console;
use crate::hal::Hal;
use crate::partition::{Outcome, Partition, StopReason};
use crate::report;
use crate::run::Guest;
use crate::schedule::VcpuId;
use crate::vcpu::Schedule;

/// Why a vCPU left the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Its time is over.
    Preempted,
    /// What it runs with has changed: it goes on, or somebody else first.
    Changed,
    /// Its partition is over.
    Ended(Outcome),
}

/// What the dispatcher goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Ticks of the time base that a vCPU runs when others wait.
    pub slice: u64,
}

/// Farther than any time that a slice ends, and near enough for the hypervisor decrementer.
const FAR: u64 = 1 << 54;

/// All partitions on one hardware thread.
#[derive(Debug)]
pub struct Dispatcher<'a, H: Hal> {
    hal: &'a H,
    console: &'a Console,
    policy: Policy,
    partitions: Vec<Partition<H>>,
    schedule: Schedule,
    /// By number of the vCPU: partition and vCPU in it.
    places: Vec<(usize, usize)>,
    /// Whose floating-point registers are in the processor.
    floating_owner: Option<VcpuId>,
}

impl<'a, H: Hal> Dispatcher<'a, H> {
    /// Takes over partitions whose vCPUs were added to `schedule` in their order.
    #[must_use]
    pub fn new(
        hal: &'a H,
        console: &'a Console,
        policy: Policy,
        partitions: Vec<Partition<H>>,
        schedule: Schedule,
    ) -> Self {
        let place = |(index, partition): (usize, &Partition<H>)| {
            (0..partition.vcpus.len()).map(move |vcpu| (index, vcpu)).collect::<Vec<_>>()
        };
        let places = partitions.iter().enumerate().flat_map(place).collect();
        Self { hal, console, policy, partitions, schedule, places, floating_owner: None }
    }

    /// Runs all partitions to their end and gives them back.
    pub fn run(mut self) -> Vec<Partition<H>> {
        while let Some(id) = self.schedule.queue.take() {
            self.dispatch(id);
        }
        self.partitions
    }

    /// Runs the vCPU `id`, which was taken from the queue, once.
    fn dispatch(&mut self, id: VcpuId) {
        self.load_floating(id);
        let (index, vcpu) = self.places[id.0 as usize];
        let partition = &mut self.partitions[index];
        let now = self.hal.timebase();
        let until = now.saturating_add(ticks(&self.policy, &self.schedule, partition));
        let lpcr = partition.lpcr;
        let hal = self.hal;
        let leave = hal.enter_guest(
            &mut Guest {
                hal,
                console: self.console,
                partition: &mut *partition,
                vcpu,
                schedule: &mut self.schedule,
                leave: None,
            },
            lpcr,
            until,
        );
        let ran = self.hal.timebase().saturating_sub(now);
        partition.statistics.ran += ran;
        self.schedule.queue.charge(id, ran);
        match leave {
            Leave::Ended(outcome) => self.end((index, vcpu), outcome),
            _ if partition.time_left() == Some(0) => {
                self.end((index, vcpu), Outcome::Stopped(StopReason::TimeLimit));
            }
            Leave::Preempted => {
                partition.statistics.preempted += 1;
                self.schedule.queue.make_ready(id);
            }
            Leave::Changed => self.schedule.queue.make_ready(id),
        }
    }

    /// Brings the vCPU's floating-point registers into the processor. They stay there until another
    /// vCPU runs; nothing else in the hypervisor uses them.
    fn load_floating(&mut self, id: VcpuId) {
        if self.floating_owner == Some(id) {
            return;
        }
        if let Some(owner) = self.floating_owner {
            let (partition, vcpu) = self.places[owner.0 as usize];
            let registers = &mut self.partitions[partition].vcpus[vcpu].registers;
            self.hal.save_floating(&mut registers.floating);
        }
        let (partition, vcpu) = self.places[id.0 as usize];
        self.hal.load_floating(&self.partitions[partition].vcpus[vcpu].registers.floating);
        self.floating_owner = Some(id);
    }

    /// Ends a partition because of what its vCPU did.
    fn end(&mut self, (index, vcpu): (usize, usize), outcome: Outcome) {
        let partition = &mut self.partitions[index];
        for vcpu in &mut partition.vcpus {
            self.schedule.stop(vcpu);
        }
        partition.outcome = Some(outcome);
        self.console.finish(self.hal, partition);
        report::ended(self.console, self.hal, partition, vcpu);
    }
}

/// How long a vCPU of this partition may run now.
fn ticks<H: Hal>(policy: &Policy, schedule: &Schedule, partition: &Partition<H>) -> u64 {
    let slice = if schedule.queue.is_empty() { FAR } else { policy.slice };
    slice.min(partition.time_left().unwrap_or(FAR))
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
