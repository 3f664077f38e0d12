//! Partitions on several hardware threads, in all interleavings.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use arch::bundle::{HashCallPolicy, RegisterPolicy, Translation};
use arch::registers::msr;
use loom::thread::spawn;

use super::calls::{ENTRY, MEMORY_BYTES, write_buffers};
use super::machine::{ENTRIES, Machine, Program, set_index};
use crate::console::Console;
use crate::hash_table::Options;
use crate::life::activity::{Activity, Next, Sleep};
use crate::life::outcome::Outcome;
use crate::memory::Range;
use crate::partition::Partition;
use crate::partition::image::{self, Image, Suspension};
use crate::scheduling::queue::WEIGHT_DEFAULT;
use crate::scheduling::schedule::{FAR, Schedule};
use crate::system::{Policy, System};
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

/// A slice never ends, so that nobody is saved by it.
const POLICY: Policy = Policy {
    slice: FAR,
    patience: 1_000_000,
    registers: RegisterPolicy::Owned,
    hash_calls: HashCallPolicy::Fast,
};
/// Bytes for the image of a partition.
const AREA_BYTES: u64 = 0x4_0000;
/// A decrementer that does not expire.
const NEVER: u64 = 1 << 60;

fn registers() -> Registers {
    let mut registers = Registers::started(ENTRY, 0, 0);
    registers.msr |= msr::EE;
    registers.supervisor.decrementer_expires = NEVER;
    registers
}

/// What is tried.
#[derive(Clone, Copy)]
pub(super) struct Model {
    /// Number of hardware threads.
    pub(super) threads: usize,
    /// By partition, its number of vCPUs, which are all started.
    pub(super) vcpus: &'static [usize],
    /// How the partitions may end.
    pub(super) ends: &'static [Outcome],
    /// How long each may run.
    pub(super) time_limit: Option<u64>,
    /// The first partition is suspended when a thread looks, unless it ends before.
    pub(super) is_suspended: bool,
    /// All have hashed page tables, and superpages when they are told to look.
    pub(super) has_superpages: bool,
    /// Involuntary switches between threads, if not as many as the run is to try.
    pub(super) switches: Option<usize>,
}

impl Model {
    /// Partitions without a limit that switch themselves off.
    pub(super) const fn of(threads: usize, vcpus: &'static [usize]) -> Self {
        Self {
            threads,
            vcpus,
            ends: &[Outcome::PoweredOff],
            time_limit: None,
            is_suspended: false,
            has_superpages: false,
            switches: None,
        }
    }

    /// Runs it in all interleavings with as many involuntary switches between threads as `POWERVISOR_SWITCHES` says, or
    /// two, unless it has a number of its own. All partitions end, once, as they should, and nothing is left of them.
    pub(super) fn try_with(self, program: Program) {
        let wanted = std::env::var("POWERVISOR_SWITCHES").ok();
        let wanted = wanted.map(|text| text.parse::<usize>().expect("the variable holds a number"));
        let switches = self.switches.or(wanted).unwrap_or(2);
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(switches);
        model.max_branches = 5000;
        model.check(move || self.run(program));
    }

    fn run(self, program: Program) {
        let Self { threads, vcpus, ends, time_limit, is_suspended, has_superpages, .. } = self;
        // Loom's threads borrow nothing.
        let memory_bytes = MEMORY_BYTES * vcpus.len() as u64;
        let bytes = memory_bytes + if is_suspended { AREA_BYTES } else { 0 };
        let hal: &_ = Box::leak(Box::new(Machine::new(threads, bytes as usize, program)));
        let console: &_ = Box::leak(Box::new(Console::default()));
        let mut schedule = Schedule::new(threads);
        let partition = |(index, vcpus): (usize, &usize)| {
            let memory = Range::new(MEMORY_BYTES * index as u64, MEMORY_BYTES);
            let (name, lpid) = (index.to_string(), 1 + index as u32);
            let translation = if has_superpages { Translation::Hash } else { Translation::Radix };
            let partition = Partition::translated(
                hal,
                name,
                lpid,
                memory,
                translation,
                Options { has_superpages, ..Options::default() },
            );
            let mut partition = partition.expect("there are tables");
            if let Some(table) = partition.memory.hash_table() {
                table.look_when_told();
            }
            partition.time_limit = time_limit;
            if is_suspended && index == 0 {
                let area = Range::new(memory_bytes, AREA_BYTES);
                let processor = "POWER9";
                let suspension = Suspension { area, frequency: 1, processor, bytes: 0 };
                partition.suspension = Some(suspension);
            }
            write_buffers(hal, &mut partition);
            for vcpu in 0..*vcpus {
                let id = schedule.queue.add(WEIGHT_DEFAULT);
                partition.vcpus.push(Vcpu::new(id, registers()));
                partition.vcpus[vcpu].presentation.set_cppr(0xFF);
                schedule.start_in(&mut partition, vcpu, 0);
            }
            partition
        };
        let partitions: Vec<_> = vcpus.iter().enumerate().map(partition).collect();
        if is_suspended {
            schedule.timers.set_suspension(partitions[0].vcpus[0].id, 0);
        }
        console.set_shared(true);
        let cores = (0..threads as u32).collect();
        let system = System::new(hal, console, POLICY, partitions, schedule, cores);
        let system: &_ = Box::leak(Box::new(system));
        let others: Vec<_> = (1..threads)
            .map(|index| {
                spawn(move || {
                    set_index(index);
                    system.run_thread(index);
                })
            })
            .collect();
        system.run_thread(0);
        others.into_iter().for_each(|thread| thread.join().expect("no thread has failed"));
        for partition in system.partitions() {
            let partition = partition.lock();
            let outcome = partition.life.outcome().expect("it is over");
            if let Outcome::Suspended(image) = outcome {
                check_image(hal, *image, partition.vcpus.len());
            } else {
                assert!(ends.contains(outcome), "{outcome:?}: {}", hal.fake.text());
            }
            assert!(partition.vcpus.iter().all(is_over));
        }
        let schedule = system.schedule.lock();
        let charged = |index: usize| schedule.charged(&system.partitions()[index].lock())[0];
        let charged: u64 = (0..vcpus.len()).map(charged).sum();
        let meters = || (0..threads).map(|thread| schedule.meter(thread));
        let others: u64 = meters().map(|meter| meter.idle + meter.own + meter.ends).sum();
        let elapsed: u64 = meters().map(|meter| meter.elapsed).sum();
        assert_eq!(charged + others, elapsed, "each tick is somebody's, once");
        assert!(schedule.queue.is_empty(), "a vCPU is ready");
        assert_eq!(schedule.timers.next(), None, "a timer is set");
        assert_eq!(hal.fake.open_windows.get(), 0, "a window is open");
        // Most of what is leaked, once for each of up to millions of orders.
        drop(hal.fake.memory.take());
    }
}

/// Nothing is lost of what each vCPU left: its registers are whole, and nobody sleeps who was interrupted.
fn check_image(hal: &Machine, image: Range, vcpus: usize) {
    let image = Image::read(&hal.fake, image).expect("it is an image");
    let mut partition = hal.fake.partition(Range::new(0, MEMORY_BYTES));
    partition.name = "0".to_string();
    let ids: Vec<_> = (0..vcpus as u32).map(VcpuId).collect();
    let next = image::load(&mut partition, &hal.fake, &image, &ids, "POWER9", 1);
    let next = next.expect("it is an image of the partition");
    for (vcpu, next) in partition.vcpus.iter().zip(next) {
        let registers = vcpu.registers.as_ref().expect("it does not run");
        assert_eq!(registers.gpr[ENTRIES], registers.supervisor.sprg0, "a thread had them yet");
        let sleeps = matches!(next, Next::Sleeps(Sleep::Ceded { .. }));
        assert!(!sleeps || !vcpu.presentation.is_pending(), "nobody wakes it");
    }
}

fn is_over(vcpu: &Vcpu<Machine>) -> bool {
    let shares = vcpu.vpa.has_area() || vcpu.vpa.log.is_some();
    vcpu.activity() == Activity::Stopped && vcpu.registers.is_some() && !shares
}
