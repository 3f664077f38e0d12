//! What a description that was checked says.

use arch::processor::Processor;
use arch::registers::psscr;
use sha2::{Digest, Sha256};

use super::file::{Date, FirmwareFeatures, MemoryRegion, Topology, Watchdog};
use super::power_saving::{NapState, StopState};
use super::prefetch_engine::PrefetchEngineFile;
use super::timing::TimingFile;
use super::{Description, check_memory, modelled};
use crate::ledger::Clock;
use crate::quantity::{Bound, DescriptionError, error};
use crate::state::memory::Region;
use crate::state::power_saving::PowerSaving;
use crate::state::prefetch_engine::Rules;
use crate::state::switches::Switches;

impl Description {
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

    /// What power-saving levels cost.
    #[must_use]
    pub fn power_saving(&self) -> PowerSaving {
        self.file.power_saving.rules()
    }

    /// Whether cores have a prefetch engine.
    #[must_use]
    pub const fn has_prefetch_engine(&self) -> bool {
        self.file.prefetch_engine.is_some()
    }

    /// How the prefetch engine is told what to do, of a processor that has one.
    #[must_use]
    pub fn prefetch_engine(&self) -> Rules {
        self.file.prefetch_engine.as_ref().map_or_else(Rules::default, PrefetchEngineFile::rules)
    }

    /// Cycles for each line of the prefetch engine's logs, and the most lines that its fetches have on their way.
    #[must_use]
    pub fn prefetch_engine_pace(&self, bound: Bound) -> [u64; 2] {
        self.file.prefetch_engine.as_ref().map_or([0; 2], |engine| engine.pace(bound))
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
