//! A run of the hypervisor, from firmware's device tree to power-off.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use arch::address::RealAddress;
use arch::bundle::Translation;
use arch::registers::hfscr::Facility;

use crate::boot::bundle::Description;
use crate::boot::characteristics::Characteristics;
use crate::boot::firmware::{Firmware, FirmwareError, HardwareThread};
use crate::boot::mitigations::Mitigations;
use crate::console::Console;
use crate::devices::Devices;
use crate::dispatch::Enter;
use crate::facilities::Demanded;
use crate::guest_memory::SMALL_LOG2;
use crate::hal::{Platform, Tables, Threads, Windows, Work};
use crate::hash_table::Options;
use crate::memory::Range;
use crate::partition::features::{FeatureError, GuestStop};
use crate::partition::guest_tree::{self, ProcessorNode};
use crate::partition::image::{self, Image, Suspension, ahead};
use crate::partition::load::{find_memory, load, read_bundle};
use crate::partition::payload::Payload;
use crate::partition::radix;
use crate::partition::{Partition, Terminal, hash};
use crate::report;
use crate::scheduling::queue::{PLACE_BYTES, WEIGHT_DEFAULT, slice_within};
use crate::scheduling::schedule::Schedule;
use crate::system::{Policy, System};
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Segments;

/// What the hal knows when it hands over.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// Firmware's device tree.
    pub firmware: Firmware<'a>,
    /// How the hypervisor's own addresses are translated, if they are.
    pub translation: &'static str,
    /// The processor version register.
    pub pvr: u32,
    /// The hypervisor's image and its heap.
    pub own: [Range; 2],
}

/// Makes the bundle's partitions, runs them and switches the machine off.
pub fn run<H>(hal: H, boot: Boot<'_>) -> !
where
    H: Enter + Windows<Pinned: Send> + Tables<Tables: Send> + Sync,
{
    let console = Console::default();
    let (version, processor) = (env!("CARGO_PKG_VERSION"), H::PROCESSOR);
    console.line(&hal, format_args!("{version} on {processor}, {}", boot.translation));
    match run_partitions(&hal, &console, boot) {
        Ok(()) => console.line(&hal, format_args!("all partitions have ended")),
        Err(error) => console.line(&hal, format_args!("error: {error}")),
    }
    hal.power_off()
}

/// A message for the console; nothing decides by it.
struct Failure(alloc::string::String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failure {
    fn new(what: &str, error: impl fmt::Display) -> Self {
        Self(alloc::format!("{what}: {error}"))
    }
}

fn run_partitions<H>(hal: &H, console: &Console, boot: Boot<'_>) -> Result<(), Failure>
where
    H: Enter + Windows<Pinned: Send> + Tables<Tables: Send> + Sync,
{
    let Boot { firmware, pvr, own, .. } = boot;
    // The only line that differs between machines that agree otherwise.
    console.line(
        hal,
        format_args!(
            "machine: PVR {pvr:#010x}, memory {} MiB, heap {} MiB at {}",
            firmware.memory_bytes() >> 20,
            own[1].bytes >> 20,
            own[1].start,
        ),
    );
    let node =
        firmware.processor().map_err(|error| Failure::new("firmware's device tree", error))?;
    let processor_name = H::PROCESSOR.name();
    let processor = ProcessorNode::new(H::PROCESSOR, &node);
    let file = firmware.initrd().ok_or_else(|| {
        Failure::new("firmware's device tree", FirmwareError::Missing("initrd with a bundle"))
    })?;
    if own.iter().any(|range| range.overlaps(file)) {
        return Err(Failure::new("bundle", "it lies where the hypervisor lies"));
    }
    let bundle = read_bundle(hal, file).map_err(|error| match error {
        Ok(error) => Failure::new("bundle", error),
        Err(error) => Failure::new("bundle", error),
    })?;
    console.line(hal, format_args!("bundle: {} partition(s)", bundle.partitions.len()));

    let frequency = firmware.timebase_frequency();
    let frequency = frequency.map_err(|error| Failure::new("firmware's device tree", error))?;
    let images = read_images(hal, &bundle.partitions, file.start)?;
    let times: Result<Vec<u64>, _> = images.iter().flatten().map(Image::guest_time).collect();
    let latest = times.map_err(|error| Failure::new("partition", error))?.into_iter().max();
    // No partition finds a time base earlier than it left it.
    if let Some(ticks) = latest.and_then(|time| ahead(hal.timebase(), time)) {
        hal.advance_timebase(ticks);
    }
    if let Some(subcores) = bundle.subcores {
        let split = hal.split_cores(subcores);
        split.map_err(|error| Failure::new("cores are not split", error))?;
    }
    let has_one_runner = bundle.has_one_partition_per_core || hal.has_one_runner_per_core();
    let at_most = if has_one_runner { Some(1) } else { bundle.threads_per_core };
    let threads = fetch_threads(hal, console, &firmware, bundle.subcores, at_most);
    hal.map_as(bundle.map, &mut firmware.memory()).map_err(|error| Failure::new("map", error))?;
    if threads.len() > 1 {
        console.line(hal, format_args!("hardware threads: {}", threads.len()));
    }
    let mut schedule = Schedule::new(threads.len());
    // Before the partitions: each walk through firmware's tree takes long.
    let memory: Vec<Range> = firmware.memory().collect();
    let mut taken: Vec<Range> = own.into_iter().chain(firmware.reserved()).collect();
    let characteristics = Characteristics::new(&firmware);
    hal.keep_heap(kept_heap(&bundle.partitions, threads.len()));
    let mut partitions = Vec::new();
    for (lpid, (description, image)) in (1..).zip(bundle.partitions.iter().zip(&images)) {
        hal.mark(Work::Start);
        let Description { name, memory_bytes, .. } = description;
        let translation = description.translation(H::PROCESSOR);
        let failed =
            |error: &dyn fmt::Display| Failure::new("partition", format_args!("{name}: {error}"));
        let found = find_memory(&memory, &taken, *memory_bytes, translation);
        let found = found.map_err(|error| failed(&error))?;
        // Neighbours become one, so that the search does not take longer for each partition.
        match taken.last_mut() {
            Some(last) if last.end() == found.start.0 => last.bytes += found.bytes,
            _ => taken.push(found),
        }
        match translation {
            Translation::Radix if description.has_superpages => return Err(failed(&NO_SUPERPAGES)),
            Translation::Radix if description.has_resizable_table => return Err(failed(&NO_TABLE)),
            Translation::Radix => radix::check(H::PROCESSOR).map_err(|error| failed(&error))?,
            Translation::Hash => {
                let (registers, calls) = (bundle.registers, bundle.hash_calls);
                let checked = hash::check(H::PROCESSOR, pvr, &threads, registers, calls);
                checked.map_err(|error| failed(&error))?;
            }
        }
        let table = Options {
            has_superpages: description.has_superpages,
            is_resizable: description.has_resizable_table,
        };
        let partition = Partition::translated(hal, name.clone(), lpid, found, translation, table);
        let mut partition = partition.map_err(|error| failed(&error))?;
        partition.time_limit = description.time_limit.map(|time| ticks(u64::from(time), frequency));
        if description.has_performance_monitor {
            partition.on_demand |= Facility::Pm.bit();
        }
        let devices = Devices::described(description, file.start, lpid);
        if let Some(devices) = devices.map_err(|error| failed(&error))? {
            partition.set_devices(devices);
        }
        if !firmware.withholds_facilities() {
            partition.from_start = partition.on_demand;
        }
        let guest_stop = description.guest_stop;
        let guest_stop = guest_stop.map(|version| GuestStop::new(version, pvr, &firmware));
        let guest_stop = match guest_stop.transpose() {
            Ok(guest_stop) => guest_stop,
            // It relies on it already, and what the machine lacks the hypervisor does.
            Err(error) if image.is_some() && !matches!(error, FeatureError::Version(_)) => {
                let text = format_args!("partition {name}: its stop is emulated: {error}");
                console.line(hal, text);
                None
            }
            Err(error) => return Err(failed(&error)),
        };
        if guest_stop.is_some() {
            partition.on_demand |= Facility::Stop.bit();
        }
        let payload = Payload::new(description, file.start, &processor, guest_stop);
        partition.characteristics = characteristics;
        partition.payload = payload.map_err(|error| failed(&error))?;
        let add = |_| schedule.queue.add(description.weight.unwrap_or(WEIGHT_DEFAULT));
        let ids: Vec<_> = (0..description.vcpus).map(add).collect();
        if description.suspend_at.is_some() {
            if let Some(obstacle) = image::obstacle(&partition) {
                return Err(failed(&format_args!("it cannot be suspended: {obstacle}")));
            }
            let room = Suspension::room(*memory_bytes);
            let area = find_memory(&memory, &taken, room, Translation::Radix);
            let area = area.map_err(|error| failed(&error))?;
            taken.push(area);
            partition.suspension =
                Some(Suspension { area, frequency, processor: processor_name, bytes: 0 });
        }
        match image {
            None => {
                let registers = load(&mut partition, hal).map_err(|error| failed(&error))?;
                for id in ids {
                    let mut vcpu = Vcpu::new(id, registers.clone());
                    vcpu.demanded = Demanded::from_start(partition.at_start());
                    partition.vcpus.push(vcpu);
                }
                schedule.start_in(&mut partition, 0, hal.timebase());
            }
            Some(image) => {
                let next = image::load(&mut partition, hal, image, &ids, processor_name, frequency);
                let next = next.map_err(|error| failed(&error))?;
                schedule.go_on(&mut partition, &next, hal.timebase());
            }
        }
        partition.memory.is_new = false;
        if hal.heap_room().is_none() {
            return Err(failed(&NO_HEAP));
        }
        partitions.push(partition);
        hal.mark(Work::Other);
    }

    let terminal = if bundle.console.is_some() { Terminal::Interactive } else { Terminal::Input };
    for (index, partition) in partitions.iter_mut().enumerate() {
        let has_input = index == bundle.console.unwrap_or(0);
        partition.terminal = if has_input { terminal } else { Terminal::Output };
    }
    console.set_shared(partitions.len() > 1 || bundle.console.is_some());
    for partition in &partitions {
        let window = partition.devices.as_ref().map_or_else(String::new, |devices| {
            alloc::format!(", its device windows' tables {} bytes", devices.table_bytes())
        });
        console.line(
            hal,
            format_args!(
                "partition {}: LPID {}, memory {} KiB{window}, vCPUs {}, starts",
                partition.name,
                partition.lpid,
                partition.memory.range.bytes >> 10,
                partition.vcpus.len(),
            ),
        );
    }
    let slice = bundle.slice.unwrap_or(SLICE_DEFAULT);
    let policy = Policy {
        slice: slice_within(ticks(u64::from(slice), frequency)),
        patience: PATIENCE_SECONDS * frequency,
        registers: bundle.registers,
        hash_calls: bundle.hash_calls,
    };
    hal.mitigate(Mitigations::new(bundle.mitigations, &firmware));
    let cores = threads.iter().map(|thread| thread.core).collect();
    let started = hal.timebase();
    for (partition, description) in partitions.iter().zip(&bundle.partitions) {
        if let Some(nanoseconds) = description.suspend_at {
            let after = u128::from(nanoseconds) * u128::from(frequency) / 1_000_000_000;
            let time = started.saturating_add(after as u64);
            schedule.timers.set_suspension(partition.vcpus[0].id, time);
        }
    }
    let system = System::new(hal, console, policy, partitions, schedule, cores);
    hal.run_on_threads(&|thread| system.run_thread(thread));
    system.close_accounts();
    let meters = threads.iter().enumerate().map(|(index, thread)| {
        report::thread(thread.server, system.schedule.lock().meter(index), frequency)
    });
    let meters: Vec<_> = meters.collect();
    report::record(console, hal, &meters, system.partitions(), &hal.learned(), frequency);
    Ok(())
}

/// Bytes of the heap that guests can make the hypervisor take while they run, where it cannot refuse them: what is too
/// small to ask for, and what a partition needs to start anew and to be suspended.
fn kept_heap(partitions: &[Description], threads: usize) -> u64 {
    /// What does not grow with anything, such as lines for the console.
    const USUAL_BYTES: usize = 0x4_0000;
    /// Of a vCPU: its registers on demand, its segments, and a call that it makes again.
    const VCPU_BYTES: usize = size_of::<Demanded>() + size_of::<Segments>() + 0x400;
    /// Of a vCPU in each queue: what grows takes twice as much, and is there twice meanwhile.
    const QUEUED_BYTES: usize = 4 * PLACE_BYTES;
    let vcpus: usize = partitions.iter().map(|description| description.vcpus as usize).sum();
    let tree =
        |description: &Description| 2 * guest_tree::bytes(description.vcpus, &description.bootargs);
    let trees = partitions.iter().map(tree).max().unwrap_or(0) * threads.min(partitions.len());
    let suspended = partitions.iter().filter(|description| description.suspend_at.is_some());
    // A bit for each piece of its memory: as doublewords, as bytes, and what grows.
    let lists: u64 = suspended.map(|of| 4 * (of.memory_bytes >> SMALL_LOG2).div_ceil(8)).sum();
    let small = USUAL_BYTES + vcpus * (VCPU_BYTES + (threads + 2) * QUEUED_BYTES) + trees;
    small as u64 + lists
}

/// The images with which partitions go on.
fn read_images<H: Windows>(
    hal: &H,
    partitions: &[Description],
    file: RealAddress,
) -> Result<Vec<Option<Image>>, Failure> {
    let image = |Description { name, image, .. }: &Description| {
        let place = image.map(|[offset, bytes]| Range::new(file.0.saturating_add(offset), bytes));
        let image = place.map(|place| Image::read(hal, place)).transpose();
        image.map_err(|error| Failure::new("partition", format_args!("{name}: {error}")))
    };
    partitions.iter().map(image).collect()
}

/// Fetches all hardware threads out of firmware: those that come, the boot thread first; of each core so many at most,
/// if that is said, and the others stay in firmware. Where cores are split, each part counts as a core.
fn fetch_threads<H: Threads + Platform + Tables>(
    hal: &H,
    console: &Console,
    firmware: &Firmware<'_>,
    subcores: Option<u32>,
    at_most: Option<u32>,
) -> Vec<HardwareThread> {
    let boot = hal.boot_thread();
    let part = |HardwareThread { server, core }| match subcores {
        None => HardwareThread { server, core },
        Some(subcores) => {
            let threads = 1 << H::PROCESSOR.facts().pir.core_shift;
            let part = server % threads / (threads / subcores);
            HardwareThread { server, core: core * subcores + part }
        }
    };
    let (mut threads, others): (Vec<_>, Vec<_>) =
        firmware.threads().map(part).partition(|thread| thread.server == boot);
    if threads.is_empty() {
        // A tree without the thread that runs this: a core of its own.
        threads.push(HardwareThread { server: boot, core: u32::MAX });
    }
    for thread in others {
        let taken = threads.iter().filter(|other| other.core == thread.core).count();
        if at_most.is_some_and(|at_most| taken >= at_most as usize) {
            continue;
        }
        match hal.fetch_thread(thread.server, firmware) {
            Ok(()) => threads.push(thread),
            Err(error) => {
                let server = thread.server;
                console.line(hal, format_args!("hardware thread {server:#x} is left out: {error}"));
            }
        }
    }
    threads
}

/// Why a partition with radix translation is refused that asks for superpages.
const NO_SUPERPAGES: &str =
    "superpages are made in a hashed page table; write translation = \"hash\"";
/// The same of one that asks for a table whose size can change.
const NO_TABLE: &str = "it has no hashed page table to resize; write translation = \"hash\"";
/// The same of one that leaves too little of the heap.
const NO_HEAP: &str = "the hypervisor's heap has no room left for what guests need while they run; use fewer vCPUs, smaller device windows or \
     tables";

/// Microseconds that a vCPU runs when others wait.
const SLICE_DEFAULT: u32 = 1000;

/// How long sleeping partitions are waited for that nothing but their own timers can wake.
const PATIENCE_SECONDS: u64 = 60;

/// Microseconds in ticks of the time base.
const fn ticks(microseconds: u64, frequency: u64) -> u64 {
    (microseconds as u128 * frequency as u128 / 1_000_000) as u64
}
