//! What the console says about a partition when it is over, and about all when all are.

use alloc::vec::Vec;

use arch::interrupt::Vector;
use arch::record::{self, Counts, Learned, Record, Thread};
use arch::registers::hfscr::Facility;

use crate::console::Console;
use crate::exit::Door;
use crate::facilities;
use crate::hal::{Memory, Platform};
use crate::hash_table::HashTable;
use crate::life::outcome::Outcome;
use crate::memory::Range;
use crate::partition::Partition;
use crate::scheduling::meter::Meter;
use crate::sync::Lock;
use crate::vcpu::registers::Registers;

/// Writes a partition's outcome; for one that was stopped also its registers.
pub fn ended<H: Memory + Platform>(
    console: &Console,
    hal: &H,
    partition: &Partition<H>,
    vcpu: usize,
) {
    let name = &partition.name;
    if let Some(Outcome::Suspended(image)) = partition.life.outcome() {
        console.line(
            hal,
            format_args!("partition {name}: suspended, image {} KiB", image.bytes.div_ceil(1024)),
        );
    }
    if let Some(Outcome::Stopped(reason)) = partition.life.outcome() {
        console.line(hal, format_args!("partition {name}: stopped: {reason}"));
        if let Some(values) = &partition.vcpus[vcpu].registers {
            registers(console, hal, name, values);
        }
    }
}

/// Tells of a facility that a vCPU used at `address` and does not have, where nothing else will: the partition has not
/// written a character yet, and a kernel that does not expect the interrupt ends there without a word.
pub fn withheld<H: Memory + Platform>(
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

/// Tells of an instruction at `address` that the processor does not know, under the same condition. A kernel that no
/// processor of this kind understands ends there, and so does one that has no handler yet for an interrupt: it runs
/// into zeros at the vector, and came there from `before`.
pub fn illegal<H: Memory + Platform>(
    console: &Console,
    hal: &H,
    partition: &mut Partition<H>,
    vcpu: usize,
    address: u64,
    before: u64,
) {
    if core::mem::replace(&mut partition.is_heard, true) {
        return;
    }
    let name = &partition.name;
    let text = format_args!(
        "illegal: partition {name}: vCPU {vcpu} finds no instruction of this processor at {address:016x}"
    );
    match Vector::from_offset(address) {
        None => console.line(hal, format_args!("{text}, before it wrote a character")),
        Some(vector) => {
            let vector = vector.name();
            console.line(
                hal,
                format_args!(
                    "{text}, before it wrote a character: no handler for {vector}, which it has from {before:016x}"
                ),
            );
        }
    }
}

fn registers<H: Platform>(console: &Console, hal: &H, name: &str, registers: &Registers) {
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

/// Writes the record of all hardware threads and partitions.
pub fn record<H: Memory + Platform>(
    console: &Console,
    hal: &H,
    threads: &[Thread],
    partitions: &[Lock<Partition<H>>],
    learned: &[Learned],
    frequency: u64,
) {
    let partitions: Vec<_> = partitions.iter().map(Lock::lock).collect();
    let learned: Vec<Vec<_>> = partitions
        .iter()
        .map(|partition| {
            let numbers = partition.vcpus.iter().map(|vcpu| vcpu.id.0 as usize);
            numbers.filter_map(|number| learned.get(number).copied()).collect()
        })
        .collect();
    let partitions: Vec<_> = partitions
        .iter()
        .zip(&learned)
        .map(|(partition, learned)| record::Partition {
            name: &partition.name,
            outcome: match partition.life.outcome() {
                Some(Outcome::PoweredOff) => record::Outcome::PoweredOff,
                Some(Outcome::Stopped(_)) => record::Outcome::Stopped,
                Some(Outcome::Suspended(_)) => record::Outcome::Suspended,
                None => record::Outcome::DidNotRun,
            },
            image: match partition.life.outcome() {
                Some(Outcome::Suspended(Range { start, bytes })) => Some([start.0, *bytes]),
                _ => None,
            },
            learned,
            counts: counts(partition, frequency),
        })
        .collect();
    console.record(hal, &Record { threads, partitions: &partitions });
}

/// Where the time of a hardware thread went that no partition was charged for.
#[must_use]
pub fn thread(server: u32, meter: &Meter, frequency: u64) -> Thread {
    let Meter { elapsed, idle, own, ends, .. } = *meter;
    let [elapsed_us, idle_us, own_us, ends_us] =
        [elapsed, idle, own, ends].map(|ticks| microseconds(ticks, frequency));
    Thread { server, elapsed_us, idle_us, own_us, ends_us }
}

fn counts<H: Memory>(partition: &Partition<H>, frequency: u64) -> Counts {
    let (statistics, pages) = (&partition.statistics, &partition.memory.pages);
    let superpages = partition.memory.hash_table().and_then(HashTable::superpages);
    let superpages = superpages.unwrap_or_default();
    let [by_virtual, by_real] =
        [Door::Virtual, Door::Real].map(|door| &statistics.exits[door as usize]);
    Counts {
        time_ran_us: microseconds(statistics.ran, frequency),
        time_in_the_hypervisor_us: microseconds(statistics.ran - statistics.inside, frequency),
        time_preempted: statistics.preempted,
        time_decrementer_exits: by_virtual.decrementer + by_real.decrementer,
        time_restarts: statistics.restarts,
        virtual_door_hypercall: by_virtual.hypercalls,
        virtual_door_data_storage: by_virtual.data_storage,
        virtual_door_instruction_storage: by_virtual.instruction_storage,
        virtual_door_emulation_assistance: by_virtual.emulation_assistance,
        virtual_door_facility: by_virtual.facility,
        virtual_door_other: by_virtual.others,
        real_door_hypercall: by_real.hypercalls,
        real_door_data_storage: by_real.data_storage,
        real_door_instruction_storage: by_real.instruction_storage,
        real_door_emulation_assistance: by_real.emulation_assistance,
        real_door_facility: by_real.facility,
        real_door_other: by_real.others,
        pages_1g: pages.huge,
        pages_2m: pages.large,
        pages_64k: pages.small,
        superpages_promotions: superpages.promotions,
        superpages_demotions: superpages.demotions,
        superpages_failures: superpages.failures,
        superpages_time_us: microseconds(superpages.ticks, frequency),
    }
}

fn microseconds(ticks: u64, frequency: u64) -> u64 {
    (u128::from(ticks) * 1_000_000 / u128::from(frequency)) as u64
}
