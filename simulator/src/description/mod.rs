//! `machines/*.toml`: what a machine is made of.
//!
//! A value that was measured, derived or guessed carries its unit, source and confidence, and the unit
//! is checked. What is a plain choice (how many cores, how much memory) is a plain number.

pub mod calendar;
mod file;
mod power_saving;
mod prefetch_engine;
pub mod timing;
mod values;

use arch::instruction::Mnemonic;
use arch::processor::Processor;
use serde::{Deserialize, Serialize};

use crate::quantity::{DescriptionError, error};
use crate::state::memory::FRAME_LOG2;
use crate::state::power_saving::level;
use file::{Clocks, File, MemoryRegion};
pub use file::{Date, FirmwareFeatures};
pub use power_saving::{NapState, StopState};
use power_saving::{check_stop_state, check_times};

/// What a machine is made of, checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    file: File,
}

/// The line, from 1, of the key that a complaint about a description begins with, if it does: `a.key` of the
/// table `a`, `a[0].key` of the first table of several, or one of the topology's, which are named without it.
#[must_use]
pub fn line_of_key(text: &str, message: &str) -> Option<usize> {
    let key = message.split([' ', ':']).next()?;
    let table = toml::de::DeTable::parse(text).ok()?;
    let find = |path: String| {
        let mut names = path.split(['.', '[']);
        let first = table.get_ref().get(names.next()?)?;
        let inner = names.try_fold(first, |value, name| match name.strip_suffix(']') {
            Some(index) => value.get_ref().get(index.parse::<usize>().ok()?),
            None => value.get_ref().get(name),
        });
        inner.map(toml::Spanned::span)
    };
    let span = find(format!("topology.{key}")).or_else(|| find(key.to_owned()))?;
    Some(1 + text[..span.start].matches('\n').count())
}

/// The processor that a description names.
fn modelled(name: &str) -> Result<Processor, DescriptionError> {
    match Processor::from_name(name) {
        Some(processor) => Ok(processor),
        None => Err(error(format!(
            "processor \"{name}\" is not modelled; \"POWER8\" and \"POWER9\" are"
        ))),
    }
}

/// skiboot and the payload's place need this much from real address 0 (`docs/facts/opal-and-powernv.md#image`).
const LEAST_MEMORY: u64 = 1 << 30;
/// The most memory a host is asked for.
const MOST_MEMORY: u64 = 1 << 40;
/// No clock is faster, in Hz: far beyond any processor's, and cycles of a long run can be counted.
const FASTEST: u64 = 1_000_000_000_000;

impl Description {
    /// Reads and checks a description.
    ///
    /// # Errors
    /// [`DescriptionError`] with the line, what is wrong and what would be right.
    pub fn from_toml(text: &str) -> Result<Self, DescriptionError> {
        let file: File = toml::from_str(text).map_err(|fault| DescriptionError {
            line: fault.span().map(|span| 1 + text[..span.start].matches('\n').count()),
            message: fault.message().to_owned(),
        })?;
        let description = Self { file };
        description.check().map_err(|error| {
            let line = line_of_key(text, &error.message);
            DescriptionError { line, ..error }
        })?;
        Ok(description)
    }

    fn check(&self) -> Result<(), DescriptionError> {
        let File { processor, topology, memory, clock, .. } = &self.file;
        let processor = modelled(processor)?;
        let facts = processor.facts();
        let ranges = [
            ("chips", topology.chips, 1..=16),
            ("cores_per_chip", topology.cores_per_chip, 1..=24),
        ];
        for (name, value, range) in ranges {
            if !range.contains(&value) {
                let (low, high) = (range.start(), range.end());
                return Err(error(format!(
                    "{name} = {value} is out of range; it must be {low} to {high}"
                )));
            }
        }
        let given = topology.threads_per_core;
        if !facts.smt_modes.contains(&given) {
            let modes: Vec<String> = facts.smt_modes.iter().map(u32::to_string).collect();
            return Err(error(format!(
                "threads_per_core = {given} is not what a core of {processor} has; it must be one of {}",
                modes.join(", ")
            )));
        }
        let threads = topology.chips * topology.cores_per_chip * topology.threads_per_core;
        if topology.boot_thread >= threads {
            let given = topology.boot_thread;
            return Err(error(format!(
                "boot_thread = {given} is out of range; it must be below the number of threads, {threads}"
            )));
        }
        for (name, parameter) in [
            ("clock.core_frequency", &clock.core_frequency),
            ("clock.timebase_frequency", &clock.timebase_frequency),
        ] {
            if parameter.unit != "Hz" {
                let unit = &parameter.unit;
                return Err(error(format!("{name} is in \"{unit}\"; its unit is \"Hz\"")));
            }
            if !(1..=FASTEST).contains(&parameter.value) {
                let value = parameter.value;
                return Err(error(format!(
                    "{name} is {value}; it must be positive and at most {FASTEST}"
                )));
            }
        }
        let Clocks { core_frequency: core, timebase_frequency: timebase } = clock;
        if timebase.value > core.value {
            return Err(error(format!(
                "clock.timebase_frequency is {}, above the core's {}; it must not be",
                timebase.value, core.value
            )));
        }
        if !calendar::exists(self.file.date) {
            let Date { year, month, day } = self.file.date;
            // The day last: which there are depends on the others.
            let ranges = [("year", 9999, year), ("month", 12, month)];
            let wrong = ranges.into_iter().find(|(_, most, value)| !(1..=*most).contains(value));
            let last = || (28..=31).rfind(|&day| calendar::exists(Date { year, month, day }));
            let (name, most, value) = wrong.unwrap_or(("day", last().unwrap_or(28), day));
            return Err(error(format!(
                "date.{name} = {value} is out of range; it must be 1 to {most}"
            )));
        }
        if self.file.watchdog.as_ref().is_some_and(|watchdog| watchdog.instructions == 0) {
            return Err(error("watchdog.instructions is 0; it must be 1 or more"));
        }
        if let Some(firmware) = &self.file.firmware {
            firmware.features.check()?;
        }
        self.file.power_saving.check()?;
        let deep = self.file.power_saving.hypervisor_lost_from.value;
        for (index, state) in self.file.stop_state.iter().enumerate() {
            let StopState { name, psscr, exit_latency, residency } = state;
            check_stop_state(index, name, *psscr, deep)?;
            check_times("stop_state", index, name, [exit_latency, residency])?;
        }
        self.check_states(processor)?;
        let has_engine = Mnemonic::Logmpp.row().processors.includes(processor);
        match (&self.file.prefetch_engine, has_engine) {
            (Some(engine), true) => engine.check()?,
            (None, false) => {}
            (Some(_), false) => {
                return Err(error(format!(
                    "prefetch_engine: {processor} has none; leave out [prefetch_engine]"
                )));
            }
            (None, true) => return Err(error("missing field `prefetch_engine`")),
        }
        match &self.file.timing {
            Some(timing) => timing.check(processor)?,
            None => return Err(error("missing field `timing`")),
        }
        let is_elsewhere = |region: &MemoryRegion| region.node >= topology.chips;
        if let Some(index) = memory.iter().position(is_elsewhere) {
            let (node, chips) = (memory[index].node, topology.chips);
            return Err(error(format!(
                "memory[{index}].node is {node}; every chip is a node, and there are {chips} from 0"
            )));
        }
        check_memory(memory)
    }

    /// Checks that the power-saving states are of the kind that the processor has.
    fn check_states(&self, processor: Processor) -> Result<(), DescriptionError> {
        let has_stop = Mnemonic::Stop.row().processors.includes(processor);
        if !has_stop && !self.file.stop_state.is_empty() {
            return Err(error(format!(
                "stop_state[0]: {processor} has no stop; its states are in [[nap_state]]"
            )));
        }
        for (index, state) in self.file.nap_state.iter().flatten().enumerate() {
            let NapState { name, level, exit_latency, residency } = state;
            if has_stop {
                return Err(error(format!(
                    "nap_state[0]: {processor} has no nap; its states are in [[stop_state]]"
                )));
            }
            if *level != level::NAP {
                return Err(error(format!(
                    "nap_state[{index}].level of {name} is {level}; firmware tells of level {} (nap) alone",
                    level::NAP
                )));
            }
            check_times("nap_state", index, name, [exit_latency, residency])?;
        }
        Ok(())
    }
}

fn check_memory(memory: &[MemoryRegion]) -> Result<(), DescriptionError> {
    let mut end = 0;
    let mut total = 0;
    for (index, region) in memory.iter().enumerate() {
        let MemoryRegion { base, bytes, .. } = *region;
        let frame = 1 << FRAME_LOG2;
        for (what, value) in [("base", base), ("bytes", bytes)] {
            if value % frame != 0 {
                return Err(error(format!(
                    "memory[{index}].{what} = {value:#x} must be one of the multiples of {frame:#x}"
                )));
            }
        }
        if base < end {
            return Err(error(format!(
                "memory[{index}].base = {base:#x} is below {end:#x}, where the one before it ends; regions ascend"
            )));
        }
        total += bytes;
        if bytes == 0 || total > MOST_MEMORY {
            return Err(error(format!(
                "memory[{index}].bytes = {bytes:#x} is out of range; there must be some, and {MOST_MEMORY:#x} (1 TiB) at most in all"
            )));
        }
        if base > (1 << 52) - bytes {
            return Err(error(format!(
                "memory[{index}].base = {base:#x}: the region must end at 2^52 or below"
            )));
        }
        end = base + bytes;
    }
    let first = memory.first().filter(|region| region.base == 0).map_or(0, |region| region.bytes);
    if first < LEAST_MEMORY {
        return Err(error(format!(
            "memory[0]: {first:#x} bytes at real address 0; firmware and payload need {LEAST_MEMORY:#x} (1 GiB)"
        )));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) const POWER9: &str = include_str!("../../../machines/power9.toml");
#[cfg(test)]
pub(crate) const POWER8: &str = include_str!("../../../machines/power8.toml");

#[cfg(test)]
mod tests;
