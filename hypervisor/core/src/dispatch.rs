//! Runs the vCPUs of all partitions on one hardware thread until every partition is over.
//!
//! A vCPU runs until something makes it leave: its slice is over, it waits, or it or its partition is
//! over. What it needs from the processor is decided here, just before it enters.

use alloc::vec::Vec;

use arch::interrupt::Vector;
use arch::registers::{lpcr, msr};

use crate::console::Console;
use crate::hal::Hal;
use crate::interrupt::{Context, handler, save_status};
use crate::load::LoadError;
use crate::partition::{Outcome, Partition, StopReason};
use crate::presentation::Presentation;
use crate::registers::Registers;
use crate::run::Guest;
use crate::schedule::VcpuId;
use crate::vcpu::{Activity, Schedule, Vcpu};
use crate::{report, second_stage};

/// Why a vCPU left the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Its time is over.
    Preempted,
    /// What it runs with has changed, or who is ready: it goes on, or somebody else first.
    Changed,
    /// It waits for an interrupt, with MSR\[EE\] set, or for H_PROD.
    Ceded,
    /// It waits for H_PROD.
    AwaitsProd,
    /// It lets another one run first: this one, or whoever is next.
    Yielded(Option<VcpuId>),
    /// It stopped itself.
    Stopped,
    /// Its partition wants to start anew.
    Restarted,
    /// Its partition is over.
    Ended(Outcome),
}

/// What the dispatcher goes by, in ticks of the time base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long a vCPU runs when others wait.
    pub slice: u64,
    /// If nothing else can happen for so long, what sleeps is not waited for.
    pub patience: u64,
}

/// Farther than any time that a slice ends, and near enough for the hypervisor decrementer.
const FAR: u64 = 1 << 54;

/// How long a vCPU runs with an interrupt pending and MSR\[EE\]=0 before it is looked at again: 50 us
/// of a 512 MHz time base. LPCR\[MER\] makes it leave as soon as EE is set, but on QEMU, which has no
/// mediated interrupts.
const MEDIATION_TICKS: u64 = 25_600;

/// Loads a partition's payload and device tree again: what its first vCPU starts with.
pub type Load<'a, H> = dyn FnMut(usize, &mut Partition<H>) -> Result<Registers, LoadError> + 'a;

/// All partitions on one hardware thread.
pub struct Dispatcher<'a, H: Hal> {
    hal: &'a H,
    console: &'a Console,
    policy: Policy,
    partitions: Vec<Partition<H>>,
    schedule: Schedule,
    load: &'a mut Load<'a, H>,
    /// By number of the vCPU: partition and vCPU in it.
    places: Vec<(usize, usize)>,
    /// Whose floating-point registers are in the processor.
    floating_owner: Option<VcpuId>,
}

impl<H: Hal> core::fmt::Debug for Dispatcher<'_, H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Dispatcher")
            .field("partitions", &self.partitions)
            .field("schedule", &self.schedule)
            .finish_non_exhaustive()
    }
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
        load: &'a mut Load<'a, H>,
    ) -> Self {
        let place = |(index, partition): (usize, &Partition<H>)| {
            (0..partition.vcpus.len()).map(move |vcpu| (index, vcpu)).collect::<Vec<_>>()
        };
        let places = partitions.iter().enumerate().flat_map(place).collect();
        Self { hal, console, policy, partitions, schedule, load, places, floating_owner: None }
    }

    /// Runs all partitions to their end and gives them back.
    pub fn run(mut self) -> Vec<Partition<H>> {
        loop {
            self.wake_due();
            if let Some(id) = self.schedule.queue.take() {
                self.dispatch(id);
            } else if self.partitions.iter().all(|partition| partition.outcome.is_some()) {
                return self.partitions;
            } else {
                self.wait();
            }
        }
    }

    /// Wakes the vCPUs whose decrementer has expired.
    fn wake_due(&mut self) {
        if self.schedule.timers.next().is_none() {
            return;
        }
        let now = self.hal.timebase();
        while let Some(id) = self.schedule.timers.take_due(now) {
            let (partition, vcpu) = self.places[id.0 as usize];
            self.schedule.wake(&mut self.partitions[partition].vcpus[vcpu]);
        }
    }

    /// Nobody is ready. Only a decrementer can change that, since sleeping vCPUs send no interrupts and
    /// there are no devices.
    fn wait(&mut self) {
        let now = self.hal.timebase();
        match self.schedule.timers.next() {
            Some(time) if time.saturating_sub(now) <= self.policy.patience => {
                self.hal.wait_until(time);
            }
            _ => {
                for index in 0..self.partitions.len() {
                    if self.partitions[index].outcome.is_none() {
                        self.end((index, 0), Outcome::Stopped(StopReason::NothingToWake));
                    }
                }
            }
        }
    }

    /// Runs the vCPU `id`, which was taken from the queue, once.
    fn dispatch(&mut self, id: VcpuId) {
        self.load_floating(id);
        let place = self.places[id.0 as usize];
        let (index, vcpu) = place;
        let partition = &mut self.partitions[index];
        let now = self.hal.timebase();
        dispatched(partition, self.hal, vcpu, now);
        let is_mediated = deliver(&mut partition.vcpus[vcpu], partition.lpcr);
        let ticks = ticks(&self.policy, &self.schedule, partition, is_mediated, now);
        let lpcr = partition.lpcr | if is_mediated { lpcr::MER } else { 0 };
        let hal = self.hal;
        let mut guest = Guest {
            hal,
            console: self.console,
            partition: &mut *partition,
            vcpu,
            schedule: &mut self.schedule,
            is_mediated,
            leave: None,
        };
        let leave = hal.enter_guest(&mut guest, lpcr, now.saturating_add(ticks));
        partition.vcpus[vcpu].areas.left();
        let ran = self.hal.timebase().saturating_sub(now);
        partition.statistics.ran += ran;
        self.schedule.queue.charge(id, ran);
        match leave {
            Leave::Ended(outcome) => self.end(place, outcome),
            _ if partition.time_left() == Some(0) => {
                self.end(place, Outcome::Stopped(StopReason::TimeLimit));
            }
            Leave::Restarted => self.restart(place),
            leave => self.left(place, leave),
        }
    }

    /// Decides what a vCPU does next that left and whose partition goes on.
    fn left(&mut self, place: (usize, usize), leave: Leave) {
        let partition = &mut self.partitions[place.0];
        let offset = partition.timebase_offset;
        let vcpu = &mut partition.vcpus[place.1];
        let id = vcpu.id;
        match leave {
            Leave::Ceded => {
                vcpu.registers.msr |= msr::EE;
                let until = vcpu.registers.supervisor.decrementer_expires.wrapping_sub(offset);
                // The decrementer's sign says whether it has expired, not which of two numbers is greater.
                let has_expired = until.wrapping_sub(self.hal.timebase()) as i64 <= 0;
                let is_prodded = core::mem::take(&mut vcpu.is_prodded);
                if !is_prodded && !has_expired && !vcpu.presentation.is_pending() {
                    return self.schedule.sleep(vcpu, Activity::Ceded { until });
                }
            }
            Leave::AwaitsProd => {
                if !core::mem::take(&mut vcpu.is_prodded) {
                    return self.schedule.sleep(vcpu, Activity::AwaitsProd);
                }
            }
            Leave::Stopped => {
                self.schedule.stop(vcpu);
                // Whoever starts it again gives it new registers.
                if self.floating_owner == Some(id) {
                    self.floating_owner = None;
                }
                if partition.vcpus.iter().all(|vcpu| vcpu.activity == Activity::Stopped) {
                    self.end(place, Outcome::Stopped(StopReason::AllStopped));
                }
                return;
            }
            Leave::Yielded(to) => self.schedule.queue.yield_to(id, to),
            Leave::Preempted => partition.statistics.preempted += 1,
            Leave::Changed | Leave::Restarted | Leave::Ended(_) => {}
        }
        self.schedule.queue.make_ready(id);
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

    fn stop_vcpus(&mut self, index: usize) {
        for vcpu in &mut self.partitions[index].vcpus {
            self.schedule.stop(vcpu);
            vcpu.is_prodded = false;
            vcpu.presentation = Presentation::default();
            if self.floating_owner == Some(vcpu.id) {
                self.floating_owner = None;
            }
        }
    }

    fn restart(&mut self, place: (usize, usize)) {
        self.stop_vcpus(place.0);
        let partition = &mut self.partitions[place.0];
        let loaded = partition.reset(self.hal).map_err(|reason| LoadError::Copy(reason.into()));
        match loaded.and_then(|()| (self.load)(place.0, partition)) {
            Err(error) => self.end(place, Outcome::Stopped(StopReason::Restart(error))),
            Ok(registers) => {
                partition.statistics.restarts += 1;
                partition.vcpus[0].registers = registers;
                self.schedule.start(&mut partition.vcpus[0]);
            }
        }
    }

    /// Ends a partition because of what one of its vCPUs did.
    fn end(&mut self, (index, vcpu): (usize, usize), outcome: Outcome) {
        self.stop_vcpus(index);
        let partition = &mut self.partitions[index];
        partition.outcome = Some(outcome);
        self.console.finish(self.hal, partition);
        report::ended(self.console, self.hal, partition, vcpu);
    }
}

/// Tells a vCPU that it runs: in its area, and in the log of its dispatches.
fn dispatched<H: Hal>(partition: &mut Partition<H>, hal: &H, vcpu: usize, now: u64) {
    let vcpu = &mut partition.vcpus[vcpu];
    vcpu.areas.dispatched();
    let srr = [vcpu.registers.pc, vcpu.registers.msr];
    if let Some((address, entry)) = vcpu.areas.log_entry(now, srr)
        && second_stage::write(partition, hal, address, &entry).is_err()
    {
        // The log was checked when it was registered; what cannot be written is lost.
    }
}

/// Gives a vCPU its pending external interrupt, if it takes one now. If it does not, LPCR\[MER\] has to
/// be set so that it leaves when it would; that is the answer.
fn deliver<H: Hal>(vcpu: &mut Vcpu<H>, lpcr: u64) -> bool {
    if !vcpu.presentation.is_pending() {
        return false;
    }
    let registers = &mut vcpu.registers;
    if registers.msr & msr::EE == 0 {
        return true;
    }
    let interrupted = Context { pc: registers.pc, msr: registers.msr };
    let to = handler(interrupted, Vector::External, lpcr);
    registers.supervisor.srr0 = interrupted.pc;
    registers.supervisor.srr1 = save_status(interrupted.msr, 0);
    (registers.pc, registers.msr) = (to.pc, to.msr);
    false
}

/// How long a vCPU of this partition may run from `now` on.
fn ticks<H: Hal>(
    policy: &Policy,
    schedule: &Schedule,
    partition: &Partition<H>,
    is_mediated: bool,
    now: u64,
) -> u64 {
    let slice = if schedule.queue.is_empty() { FAR } else { policy.slice };
    let until_timer = schedule.timers.next().map_or(FAR, |time| time.saturating_sub(now));
    let mediation = if is_mediated { MEDIATION_TICKS } else { FAR };
    slice.min(until_timer).min(mediation).min(partition.time_left().unwrap_or(FAR))
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
