//! The file's own form: its tables and keys, as they are written.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::power_saving::{NapState, PowerSavingFile, StopState};
use super::prefetch_engine::PrefetchEngineFile;
use super::timing::TimingFile;
use crate::quantity::{Confidence, DescriptionError, Parameter, error};
use crate::state::switches::SwitchFile;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topology {
    pub(super) chips: u32,
    pub(super) cores_per_chip: u32,
    pub(super) threads_per_core: u32,
    /// Index of the thread that enters the payload.
    #[serde(default)]
    pub(super) boot_thread: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryRegion {
    pub(super) base: u64,
    pub(super) bytes: u64,
    pub(super) node: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clocks {
    pub(super) core_frequency: Parameter,
    pub(super) timebase_frequency: Parameter,
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

/// What firmware says in its device tree that follows from nothing else here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FirmwareFile {
    pub(super) features: FirmwareFeatures,
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

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Watchdog {
    pub(super) instructions: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) processor: String,
    pub(super) topology: Topology,
    pub(super) memory: Vec<MemoryRegion>,
    pub(super) clock: Clocks,
    /// Without it, a run ends when software or the user ends it.
    pub(super) watchdog: Option<Watchdog>,
    pub(super) date: Date,
    /// Without it firmware says nothing of speculation.
    pub(super) firmware: Option<FirmwareFile>,
    #[serde(default)]
    pub(super) stop_state: Vec<StopState>,
    pub(super) nap_state: Option<Vec<NapState>>,
    pub(super) power_saving: PowerSavingFile,
    /// Of a processor that has one.
    pub(super) prefetch_engine: Option<PrefetchEngineFile>,
    pub(super) switches: SwitchFile,
    pub(super) timing: Option<TimingFile>,
}

impl FirmwareFeatures {
    pub(super) fn check(&self) -> Result<(), DescriptionError> {
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
