//! What the threads of a core share: registers, translations, how long they slept.

use arch::registers::spr::{Scope, Spr};
use serde::{Deserialize, Serialize};
use serde_big_array::BigArray;

use crate::state::power_saving::Reached;
use crate::state::prefetch_engine::Engine;
use crate::state::tlb::Tlb;
use crate::state::walk_cache::WalkCache;

/// What the threads of a core share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Core {
    /// Index of its chip.
    pub chip: usize,
    /// Core-scope registers by [`Spr`].
    #[serde(with = "BigArray")]
    spr: [u64; Spr::COUNT],
    /// Scratch registers of a POWER9, which SPRD reaches.
    pub scratch: [u64; 8],
    /// Ticks for which the core slept so deep that nothing counted.
    pub ticks_slept: u64,
    /// The level that its threads sleep at together, and since when; 0 while one of them does not sleep.
    pub reached: Reached,
    /// The prefetch engine, of a processor that has one.
    pub engine: Engine,
    /// Translations.
    pub tlb: Tlb,
    /// Tables on the way to translations.
    pub walk_cache: WalkCache,
}

impl Core {
    /// A core of `chip` after power-on.
    #[must_use]
    pub fn new(chip: usize) -> Self {
        Self {
            chip,
            spr: [0; Spr::COUNT],
            scratch: [0; 8],
            ticks_slept: 0,
            reached: Reached::default(),
            engine: Engine::default(),
            tlb: Tlb::default(),
            walk_cache: WalkCache::default(),
        }
    }

    /// A core-scope register.
    #[must_use]
    pub fn spr(&self, spr: Spr) -> u64 {
        debug_assert_eq!(spr.row().scope, Scope::Core);
        self.spr[spr as usize]
    }

    /// Sets a core-scope register.
    pub fn set_spr(&mut self, spr: Spr, value: u64) {
        debug_assert_eq!(spr.row().scope, Scope::Core);
        self.spr[spr as usize] = value;
    }
}
