//! The whole of it: from firmware's device tree to power-off.

use alloc::vec::Vec;
use core::fmt;

use arch::processor::Processor;

use crate::bundle::Description;
use crate::console::Console;
use crate::firmware::{Firmware, FirmwareError};
use crate::hal::Hal;
use crate::load::{find_memory, load, read_bundle};
use crate::memory::Range;
use crate::partition::Partition;
use crate::report;
use crate::vcpu::Vcpu;

/// What the hal knows when it hands over.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// Firmware's device tree.
    pub firmware: Firmware<'a>,
    /// The processor version register.
    pub pvr: u32,
    /// The hypervisor's image and its heap.
    pub own: [Range; 2],
}

/// A partition that runs, with what its exits need.
#[derive(Debug)]
pub struct Guest<'a, H: Hal> {
    /// The machine.
    pub hal: &'a H,
    /// The console.
    pub console: &'a Console,
    /// The partition.
    pub partition: &'a mut Partition<H>,
    /// Its vCPU.
    pub vcpu: &'a mut Vcpu,
}

/// Makes the bundle's partitions, runs them one after the other and switches the machine off.
pub fn run<H: Hal>(hal: H, boot: Boot<'_>) -> ! {
    let console = Console::default();
    let machine = Processor::from_pvr(boot.pvr).map_or("an unknown processor", Processor::name);
    let version = env!("CARGO_PKG_VERSION");
    console.line(&hal, format_args!("{version} on {machine}, radix translation"));
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

fn run_partitions<H: Hal>(hal: &H, console: &Console, boot: Boot<'_>) -> Result<(), Failure> {
    let Boot { firmware, pvr, own } = boot;
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
    let processor =
        firmware.processor().map_err(|error| Failure::new("firmware's device tree", error))?;
    let file = firmware.initrd().ok_or_else(|| {
        Failure::new("firmware's device tree", FirmwareError::Missing("initrd with a bundle"))
    })?;
    if own.iter().any(|range| range.overlaps(file)) {
        return Err(Failure::new("bundle", "it lies where the hypervisor lies"));
    }
    let descriptions = read_bundle(hal, file).map_err(|error| match error {
        Ok(error) => Failure::new("bundle", error),
        Err(error) => Failure::new("bundle", error),
    })?;
    console.line(hal, format_args!("bundle: {} partition(s)", descriptions.len()));

    let mut taken = Vec::from(own);
    let mut partitions = Vec::new();
    for (lpid, description) in (1..).zip(&descriptions) {
        let Description { name, memory_bytes, .. } = description;
        let failed =
            |error: &dyn fmt::Display| Failure::new("partition", format_args!("{name}: {error}"));
        let memory = find_memory(&firmware, &taken, *memory_bytes).map_err(|e| failed(&e))?;
        taken.push(memory);
        let mut partition =
            Partition::new(hal, name.clone(), lpid, memory).map_err(|error| failed(&error))?;
        let vcpu = load(&mut partition, hal, description, file.start, &processor)
            .map_err(|error| failed(&error))?;
        partitions.push((partition, vcpu));
    }

    for (partition, vcpu) in &mut partitions {
        console.line(
            hal,
            format_args!(
                "partition {}: LPID {}, memory {} KiB, starts",
                partition.name,
                partition.lpid,
                partition.memory.bytes >> 10,
            ),
        );
        hal.enter_guest(&mut Guest { hal, console, partition, vcpu });
        report::ended(console, hal, partition, vcpu);
    }
    for (partition, _) in &partitions {
        report::summary(console, hal, partition);
    }
    Ok(())
}
