//! Power saving: the states that firmware tells of, and what a thread loses in which.

use arch::registers::psscr;
use arch::registers::spr::{SPRS, Spr, SprRow};
use serde::{Deserialize, Serialize};

use crate::quantity::{Confidence, DescriptionError, Parameter, error};
use crate::state::power_saving::{MSR_NUMBER, PowerSaving};

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
pub(super) struct PowerSavingFile {
    pub(super) enabled_levels: Vec<u64>,
    core_from: Parameter,
    pub(super) hypervisor_lost_from: Parameter,
    time_base_stops_from: Parameter,
    kept: Registers,
    reset: Registers,
    restorable: Registers,
}

/// Checks the times of the state `name`, the one with this index in `table`.
pub(super) fn check_times(
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
pub(super) fn check_stop_state(
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
    pub(super) fn check(&self) -> Result<(), DescriptionError> {
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
    pub(super) fn rules(&self) -> PowerSaving {
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
