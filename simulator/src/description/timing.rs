//! The `[timing]` tables of `machines/*.toml`: what the timing model costs, each value with unit, source
//! and confidence.

use arch::processor::Processor;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cache::parameters::{CacheFile, MemoryFile, PrefetchFile, TranslationFile};
use crate::pipeline::parameters::{
    CoreFile, CoreParameters, GroupFile, GroupParameters, LatencyFile, Parameters, SpecialFile,
    WakeFile,
};
use crate::quantity::{Bound, DescriptionError, Part};

/// What whoever makes a timing model has made sure of.
pub const MODELLED: &str = "the description has a timing model";

/// The `[timing]` tables. Each is declared where it is used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingFile {
    /// Widths, windows and the front end of a core.
    pub core: CoreFile,
    /// Groups of instructions, of a core that dispatches them.
    pub groups: Option<GroupFile>,
    /// Latencies of instructions.
    pub latency: LatencyFile,
    /// Registers that are not renamed, barriers, and flushes.
    pub special: SpecialFile,
    /// Waking from power saving.
    pub wake: WakeFile,
    /// Sizes and latencies of the caches.
    pub cache: CacheFile,
    /// What is fetched ahead.
    pub prefetch: PrefetchFile,
    /// The memory behind them.
    pub memory: MemoryFile,
    /// ERATs, TLBs and table walks.
    pub translation: TranslationFile,
}

impl TimingFile {
    /// Checks every value of a description of `processor`, and the tables with every guess at each of its ends.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self, processor: Processor) -> Result<(), DescriptionError> {
        self.core.check(processor)?;
        Part::Groups.check("timing.groups", self.groups.is_some(), processor)?;
        self.groups.as_ref().map_or(Ok(()), |groups| groups.check(processor))?;
        self.latency.check(processor)?;
        self.special.check(processor)?;
        self.wake.check(processor)?;
        self.cache.check(processor)?;
        self.prefetch.check(processor)?;
        self.memory.check(processor)?;
        self.translation.check(processor)?;
        for bound in [Bound::Value, Bound::Low, Bound::High] {
            self.groups.as_ref().map_or(Ok(()), |groups| groups.values(bound).check())?;
            self.core_at(bound).check()?;
            self.cache.values(bound).check()?;
            self.prefetch.values(bound).check()?;
            self.memory.values(bound).check(self.memory.l4_bytes.is_some())?;
            self.translation.values(bound).check(self.translation.tlb_entries.is_some())?;
        }
        Ok(())
    }
}

impl TimingFile {
    /// What the core costs, at the end of the guesses that `bound` names.
    #[must_use]
    pub fn core_at(&self, bound: Bound) -> Parameters {
        let core = self.core.values(bound);
        let groups = self.groups.as_ref().map(|groups| groups.values(bound));
        let window = groups.as_ref().map_or(core.window, GroupParameters::window);
        Parameters {
            core: CoreParameters { window, ..core },
            groups: groups.unwrap_or_default(),
            latency: self.latency.values(bound),
            special: self.special.values(bound),
            wake: self.wake.values(bound),
        }
    }

    /// Sixteen hexadecimal digits that differ when a value, or an end of a guess, does; sources do not count.
    ///
    /// # Panics
    /// Never: what was read from TOML can be written as TOML.
    #[must_use]
    pub fn checksum(&self) -> String {
        let tables = toml::Table::try_from(self).expect("the tables were read from TOML");
        let mut text = String::new();
        for (table, quantities) in &tables {
            for (key, quantity) in quantities.as_table().into_iter().flatten() {
                let numbers = ["value", "low", "high"].map(|end| quantity.get(end));
                text.push_str(&format!("{table}.{key} {numbers:?}\n"));
            }
        }
        Sha256::digest(text)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
