//! `machines/*.toml`: what a machine is made of.
//!
//! A value that was measured, derived or guessed carries its unit, source and confidence, and the unit
//! is checked. What is a plain choice (how many cores, how much memory) is a plain number.

pub mod calendar;
pub mod timing;

use std::collections::BTreeSet;

use arch::instruction::Mnemonic;
use arch::processor::Processor;
use arch::registers::psscr;
use arch::registers::spr::{SPRS, Spr, SprRow};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ledger::Clock;
use crate::quantity::{Confidence, DescriptionError, Parameter, error};
use crate::state::memory::{FRAME_LOG2, Region};
use crate::state::power_saving::{MSR_NUMBER, PowerSaving, level};
use crate::state::switches::{SwitchFile, Switches};
use timing::TimingFile;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Topology {
    chips: u32,
    cores_per_chip: u32,
    threads_per_core: u32,
    /// Index of the thread that enters the payload.
    #[serde(default)]
    boot_thread: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryRegion {
    base: u64,
    bytes: u64,
    node: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Clocks {
    core_frequency: Parameter,
    timebase_frequency: Parameter,
}

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Date {
    /// Year.
    pub year: u64,
    /// Month, from 1.
    pub month: u64,
    /// Day of the month, from 1.
    pub day: u64,
}

/// A power-saving state that firmware tells of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopState {
    /// Its name.
    pub name: String,
    /// PSSCR with which `stop` reaches it.
    pub psscr: u64,
    /// Time to leave it, nanoseconds.
    pub exit_latency: Parameter,
    /// Time that it must last to be worth it, nanoseconds.
    pub residency: Parameter,
}

/// A power-saving state of a processor without `stop` that firmware tells of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NapState {
    /// Its name.
    pub name: String,
    /// Its level, see [`crate::state::power_saving::level`].
    pub level: u64,
    /// Time to leave it, nanoseconds.
    pub exit_latency: Parameter,
    /// Time that it must last to be worth it, nanoseconds.
    pub residency: Parameter,
}

/// Registers, with where it comes from that these are the ones.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registers {
    registers: Vec<String>,
    confidence: Confidence,
    source: String,
}

/// What `stop` does beyond waiting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerSavingFile {
    enabled_levels: Vec<u64>,
    core_from: Parameter,
    hypervisor_lost_from: Parameter,
    time_base_stops_from: Parameter,
    kept: Registers,
    reset: Registers,
    restorable: Registers,
}

/// What firmware says in its device tree that follows from nothing else here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirmwareFile {
    features: FirmwareFeatures,
}

/// `/ibm,opal/fw-features`: which mitigations of speculation software has to make, and with what.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareFeatures {
    /// Names of the nodes with the property `enabled`.
    pub enabled: Vec<String>,
    /// Names of the nodes with the property `disabled`.
    pub disabled: Vec<String>,
    confidence: Confidence,
    source: String,
}

impl FirmwareFeatures {
    fn check(&self) -> Result<(), DescriptionError> {
        let mut seen = BTreeSet::new();
        for name in self.enabled.iter().chain(&self.disabled) {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b",._+-".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_part) {
                return Err(error(format!(
                    "firmware.features: \"{name}\" cannot name a node; use letters, digits and `,._+-`"
                )));
            }
            if !seen.insert(name) {
                return Err(error(format!(
                    "firmware.features: \"{name}\" is there twice; a feature is enabled or disabled, once"
                )));
            }
        }
        Ok(())
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Watchdog {
    instructions: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    processor: String,
    topology: Topology,
    memory: Vec<MemoryRegion>,
    clock: Clocks,
    /// Without it, a run ends when software or the user ends it.
    watchdog: Option<Watchdog>,
    date: Date,
    /// Without it firmware says nothing of speculation.
    firmware: Option<FirmwareFile>,
    #[serde(default)]
    stop_state: Vec<StopState>,
    nap_state: Option<Vec<NapState>>,
    power_saving: PowerSavingFile,
    switches: SwitchFile,
    timing: Option<TimingFile>,
}

/// What a machine is made of, checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    file: File,
}

/// The line, from 1, of the key that a complaint about a description begins with, if it does: `a.key` of the table `a`, `a[0].key` of the first
/// table of several, or one of the topology's, which are named without it.
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
            ("threads_per_core", topology.threads_per_core, 1..=facts.threads_max()),
        ];
        for (name, value, range) in ranges {
            if !range.contains(&value) {
                let (low, high) = (range.start(), range.end());
                return Err(error(format!(
                    "{name} = {value} is out of range; it must be {low} to {high}"
                )));
            }
        }
        let threads = topology.chips * topology.cores_per_chip * topology.threads_per_core;
        if topology.boot_thread >= threads {
            let given = topology.boot_thread;
            return Err(error(format!("boot_thread = {given}; it is below the {threads} threads")));
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
            let first_wrong = [("year", 1..=9999, year), ("month", 1..=12, month)]
                .into_iter()
                .find_map(|(name, range, value)| (!range.contains(&value)).then_some(name));
            let name = first_wrong.unwrap_or("day");
            return Err(error(format!(
                "date.{name}: there is no day {year}-{month}-{day}; it must be one of the years 1 to 9999"
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
        match (&self.file.timing, processor.facts().support.timing) {
            (Some(timing), true) => timing.check()?,
            (None, false) => {}
            (Some(_), false) => {
                return Err(error(format!(
                    "timing: {processor}'s timing is not modelled yet; leave out [timing]"
                )));
            }
            (None, true) => return Err(error("missing field `timing`")),
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

    /// The description's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// The processor of every core.
    #[must_use]
    pub fn processor(&self) -> Processor {
        modelled(&self.file.processor).expect("a description was checked")
    }

    /// Chips, cores of each, threads of each core.
    #[must_use]
    pub fn topology(&self) -> (u32, u32, u32) {
        let Topology { chips, cores_per_chip, threads_per_core, .. } = self.file.topology;
        (chips, cores_per_chip, threads_per_core)
    }

    /// Replaces chips, cores of each and threads of each core.
    ///
    /// # Errors
    /// [`DescriptionError`] if a number is out of range.
    pub fn set_topology(
        &mut self,
        chips: u32,
        cores_per_chip: u32,
        threads_per_core: u32,
    ) -> Result<(), DescriptionError> {
        let boot_thread = self.file.topology.boot_thread;
        let topology = Topology { chips, cores_per_chip, threads_per_core, boot_thread };
        let before = std::mem::replace(&mut self.file.topology, topology);
        self.check().inspect_err(|_| self.file.topology = before)
    }

    /// The core of each hardware thread, over all chips.
    #[must_use]
    pub fn core_of_threads(&self) -> Vec<usize> {
        let Topology { chips, cores_per_chip, threads_per_core, .. } = self.file.topology;
        let threads = chips * cores_per_chip * threads_per_core;
        (0..threads).map(|thread| (thread / threads_per_core) as usize).collect()
    }

    /// Index of the thread that enters the payload, as any may (`docs/facts/opal-and-powernv.md#threads`).
    #[must_use]
    pub fn boot_thread(&self) -> usize {
        self.file.topology.boot_thread as usize
    }

    /// What firmware says of speculation, if it does.
    #[must_use]
    pub fn firmware_features(&self) -> Option<&FirmwareFeatures> {
        self.file.firmware.as_ref().map(|firmware| &firmware.features)
    }

    /// The machine's memory.
    #[must_use]
    pub fn memory(&self) -> Vec<Region> {
        let region = |region: &MemoryRegion| Region {
            base: region.base,
            bytes: region.bytes,
            node: region.node,
        };
        self.file.memory.iter().map(region).collect()
    }

    /// Bytes of memory in all.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.file.memory.iter().map(|region| region.bytes).sum()
    }

    /// Replaces the memory by one region of `bytes` from real address 0.
    ///
    /// # Errors
    /// [`DescriptionError`] if the machine cannot have so much or so little.
    pub fn set_memory_bytes(&mut self, bytes: u64) -> Result<(), DescriptionError> {
        let memory = vec![MemoryRegion { base: 0, bytes, node: 0 }];
        check_memory(&memory)?;
        self.file.memory = memory;
        Ok(())
    }

    /// Core clock and time base.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock {
            core_hz: self.file.clock.core_frequency.value,
            timebase_hz: self.file.clock.timebase_frequency.value,
        }
    }

    /// The day that firmware's clock shows at power-on, at midnight.
    #[must_use]
    pub fn date(&self) -> Date {
        self.file.date
    }

    /// The power-saving states that firmware tells of: those of levels that are enabled.
    #[must_use]
    pub fn stop_states(&self) -> Vec<&StopState> {
        let levels = self.enabled_stop_levels();
        let is_enabled = |state: &&StopState| levels.contains(&psscr::RL.get(state.psscr));
        self.file.stop_state.iter().filter(is_enabled).collect()
    }

    /// The same of a processor without `stop`.
    #[must_use]
    pub fn nap_states(&self) -> Vec<&NapState> {
        let levels = self.enabled_stop_levels();
        let all = self.file.nap_state.iter().flatten();
        all.filter(|state| levels.contains(&state.level)).collect()
    }

    /// The levels of `stop` that the platform has enabled.
    #[must_use]
    pub fn enabled_stop_levels(&self) -> &[u64] {
        &self.file.power_saving.enabled_levels
    }

    /// Sets [`Description::enabled_stop_levels`].
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no such level.
    pub fn set_enabled_stop_levels(&mut self, levels: Vec<u64>) -> Result<(), DescriptionError> {
        self.file.power_saving.enabled_levels = levels;
        self.file.power_saving.check()
    }

    /// What power-saving levels cost.
    #[must_use]
    pub fn power_saving(&self) -> PowerSaving {
        self.file.power_saving.rules()
    }

    /// What the machine does where the sources are silent.
    #[must_use]
    pub fn switches(&self) -> Switches {
        self.file.switches.values()
    }

    /// What the timing model costs, and what it is made of.
    ///
    /// # Errors
    /// [`DescriptionError`] if there is no timing model of the processor.
    pub fn timing(&self) -> Result<&TimingFile, DescriptionError> {
        let processor = self.processor();
        let missing = || error(format!("{processor}'s timing is not modelled yet; run without it"));
        self.file.timing.as_ref().ok_or_else(missing)
    }

    /// Steps without a firmware call or a hypercall after which the machine is stopped, if the description asks for
    /// it: nothing in the architecture says that software has to make one.
    #[must_use]
    pub fn watchdog_instructions(&self) -> Option<u64> {
        self.file.watchdog.as_ref().map(|watchdog| watchdog.instructions)
    }

    /// Sets [`Description::watchdog_instructions`].
    pub fn set_watchdog_instructions(&mut self, instructions: u64) {
        self.file.watchdog = Some(Watchdog { instructions });
    }

    /// Sixteen hexadecimal digits that differ when the description does, the same on every host.
    #[must_use]
    pub fn config_hash(&self) -> String {
        let text = toml::to_string(&self.file).expect("a description was read from TOML");
        Sha256::digest(text)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Checks the times of the state `name`, the one with this index in `table`.
fn check_times(
    table: &str,
    index: usize,
    name: &str,
    [exit_latency, residency]: [&Parameter; 2],
) -> Result<(), DescriptionError> {
    for (what, parameter) in [("exit_latency", exit_latency), ("residency", residency)] {
        if parameter.unit != "ns" || u32::try_from(parameter.value).is_err() {
            let Parameter { value, unit, .. } = parameter;
            return Err(error(format!(
                "{table}[{index}].{what} of {name} is {value} \"{unit}\"; it must be below 2^32 in \"ns\""
            )));
        }
    }
    Ok(())
}

/// Only states that an operating system takes may be told of.
fn check_stop_state(
    index: usize,
    name: &str,
    value: u64,
    deep: u64,
) -> Result<(), DescriptionError> {
    let loses_state = value & psscr::ESL != 0;
    if loses_state != (value & psscr::EC != 0) {
        return Err(error(format!(
            "stop_state[{index}].psscr of {name} has ESL and EC different; set both"
        )));
    }
    let level = psscr::RL.get(value);
    if !loses_state && level >= deep {
        return Err(error(format!(
            "stop_state[{index}].psscr of {name}: level {level} loses the hypervisor's state, from {deep} on; set ESL and EC"
        )));
    }
    Ok(())
}

impl Registers {
    /// Their numbers; `list` is the list's name.
    fn numbers(&self, list: &str) -> Result<Vec<u16>, DescriptionError> {
        let number = |name: &String| match SPRS.iter().find(|row| row.name == name) {
            // Of several numbers the one that carries the whole register.
            Some(row) => Ok(row.spr.row().number),
            None if name == "MSR" && list == "restorable" => Ok(MSR_NUMBER),
            None => Err(error(format!("power_saving.{list}: there is no register {name}"))),
        };
        self.registers.iter().map(number).collect()
    }

    /// The registers, none of which is the MSR.
    fn sprs(&self, list: &str) -> Result<Vec<Spr>, DescriptionError> {
        let of_number = |number| SprRow::of_number(number).map(|row| row.spr);
        Ok(self.numbers(list)?.into_iter().filter_map(of_number).collect())
    }
}

impl PowerSavingFile {
    fn check(&self) -> Result<(), DescriptionError> {
        let deepest = psscr::RL.mask();
        if let Some(level) = self.enabled_levels.iter().find(|&&level| level > deepest) {
            return Err(error(format!(
                "power_saving.enabled_levels: {level} is out of range; it must be 0 to {deepest}"
            )));
        }
        let levels = [&self.core_from, &self.hypervisor_lost_from, &self.time_base_stops_from];
        if let Some(Parameter { unit, .. }) = levels.iter().find(|level| level.unit != "level") {
            return Err(error(format!("power_saving: a level is in \"{unit}\", not in \"level\"")));
        }
        let values = levels.map(|level| level.value);
        let names = ["core_from", "hypervisor_lost_from", "time_base_stops_from"];
        if let Some((name, value)) = names.iter().zip(values).find(|(_, value)| *value > deepest) {
            return Err(error(format!(
                "power_saving.{name} = {value} is out of range; it must be 1 to {deepest}"
            )));
        }
        let [core, hypervisor_lost, time_base_stops] = values;
        if core == 0 || core > hypervisor_lost || core > time_base_stops {
            return Err(error(
                "power_saving: core_from is 1 or more, and the others are not below it: what a core loses, it loses as a whole",
            ));
        }
        let (kept, reset) = (self.kept.sprs("kept")?, self.reset.sprs("reset")?);
        if let Some(spr) = kept.iter().find(|spr| reset.contains(spr)) {
            let name = spr.name();
            return Err(error(format!(
                "power_saving: {name} is kept and reset; it is one of them"
            )));
        }
        self.restorable.numbers("restorable").map(|_| ())
    }

    /// As the machine uses it; the lists were checked.
    fn rules(&self) -> PowerSaving {
        PowerSaving {
            core_from: self.core_from.value,
            hypervisor_lost_from: self.hypervisor_lost_from.value,
            time_base_stops_from: self.time_base_stops_from.value,
            kept: self.kept.sprs("kept").unwrap_or_default(),
            reset: self.reset.sprs("reset").unwrap_or_default(),
            restorable: self.restorable.numbers("restorable").unwrap_or_default(),
        }
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
