//! What the console says about a partition when it is over.

use core::fmt;

use arch::registers::hfscr::Facility;

use crate::console::Console;
use crate::exit::Door;
use crate::facilities;
use crate::hal::Hal;
use crate::partition::outcome::Outcome;
use crate::partition::{Exits, Partition};
use crate::scheduling::meter::Meter;
use crate::vcpu::registers::Registers;

/// Writes a partition's outcome; for one that was stopped also its registers.
pub fn ended<H: Hal>(console: &Console, hal: &H, partition: &Partition<H>, vcpu: usize) {
    let name = &partition.name;
    if let Some(Outcome::Stopped(reason)) = partition.life.outcome() {
        console.line(hal, format_args!("partition {name}: stopped: {reason}"));
        if let Some(values) = &partition.vcpus[vcpu].registers {
            registers(console, hal, name, values);
        }
    }
}

/// Tells of a facility that a vCPU used at `address` and does not have, where nothing else will: the partition has not
/// written a character yet, and a kernel that does not expect the interrupt ends there without a word.
pub fn withheld<H: Hal>(
    console: &Console,
    hal: &H,
    partition: &mut Partition<H>,
    vcpu: usize,
    address: u64,
    facility: Option<Facility>,
) {
    if core::mem::replace(&mut partition.is_heard, true) {
        return;
    }
    let facility = facility.map_or("a facility without a name", facilities::name);
    console.line(
        hal,
        format_args!(
            "withheld: partition {}: vCPU {vcpu} uses {facility} at {address:016x}, which HFSCR withholds, \
             before it wrote a character: an illegal instruction to it",
            partition.name
        ),
    );
}

fn registers<H: Hal>(console: &Console, hal: &H, name: &str, registers: &Registers) {
    let Registers { pc, msr, cr, lr, ctr, xer, supervisor, .. } = registers;
    console.line(
        hal,
        format_args!("partition {name}: pc {pc:016x} msr {msr:016x} cr {cr:08x} xer {xer:08x}"),
    );
    console.line(hal, format_args!("partition {name}: lr {lr:016x} ctr {ctr:016x}"));
    for (index, quad) in registers.gpr.chunks_exact(4).enumerate() {
        let first = 4 * index;
        let [a, b, c, d] = [quad[0], quad[1], quad[2], quad[3]];
        console.line(
            hal,
            format_args!("partition {name}: r{first:<2} {a:016x} {b:016x} {c:016x} {d:016x}"),
        );
    }
    let (srr0, srr1, dar, dsisr) =
        (supervisor.srr0, supervisor.srr1, supervisor.dar, supervisor.dsisr);
    console.line(
        hal,
        format_args!(
            "partition {name}: srr0 {srr0:016x} srr1 {srr1:016x} dar {dar:016x} dsisr {dsisr:08x}"
        ),
    );
}

/// Writes the line with what depends on the machine's speed.
pub fn times<H: Hal>(console: &Console, hal: &H, partition: &Partition<H>, frequency: u64) {
    let statistics = &partition.statistics;
    let ran = microseconds(statistics.ran, frequency);
    let hypervisor = microseconds(statistics.ran - statistics.inside, frequency);
    console.line(
        hal,
        format_args!(
            "time: partition {}: ran {ran} us, in the hypervisor {hypervisor} us, preempted {}, decrementer exits {}, \
             restarts {}",
            partition.name,
            statistics.preempted,
            statistics.exits.iter().map(|exits| exits.decrementer).sum::<u64>(),
            statistics.restarts,
        ),
    );
}

/// Writes where the time of a hardware thread went that no partition was charged for.
pub fn thread<H: Hal>(console: &Console, hal: &H, server: u32, meter: &Meter, frequency: u64) {
    let Meter { elapsed, idle, own, ends, .. } = *meter;
    let [all, idle, own, ends] =
        [elapsed, idle, own, ends].map(|ticks| microseconds(ticks, frequency));
    console.line(
        hal,
        format_args!(
            "time: hardware thread {server:#x}: elapsed {all} us, idle {idle} us, hypervisor's own {own} us, \
             ends of partitions {ends} us"
        ),
    );
}

fn microseconds(ticks: u64, frequency: u64) -> u128 {
    u128::from(ticks) * 1_000_000 / u128::from(frequency)
}

/// Writes the one line that sums a partition up.
pub fn summary<H: Hal>(console: &Console, hal: &H, partition: &Partition<H>) {
    let outcome = match partition.life.outcome() {
        Some(Outcome::PoweredOff) => "powered off",
        Some(Outcome::Stopped(_)) => "stopped",
        None => "did not run",
    };
    let (statistics, pages) = (&partition.statistics, &partition.memory.pages);
    console.line(
        hal,
        format_args!(
            "summary: partition {}: {outcome}; virtual door: {}; real door: {}; pages: 1G {}, 2M {}, 64K {}",
            partition.name,
            Counted(&statistics.exits[Door::Virtual as usize]),
            Counted(&statistics.exits[Door::Real as usize]),
            pages.huge,
            pages.large,
            pages.small,
        ),
    );
}

struct Counted<'a>(&'a Exits);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exits {
            hypercalls,
            data_storage,
            instruction_storage,
            emulation_assistance,
            facility,
            others,
            decrementer: _, // a matter of time
        } = self.0;
        write!(
            f,
            "hypercall {hypercalls}, data storage {data_storage}, instruction storage \
             {instruction_storage}, emulation assistance {emulation_assistance}, facility {facility}, \
             other {others}"
        )
    }
}
