//! What occurs to a hardware thread now and then, of what the timing model knows, and the events by which a performance
//! monitor counts it.

use arch::processor::Processor;
use serde::{Deserialize, Serialize};

/// What occurs to a hardware thread now and then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Occurrence {
    /// A load did not find its line in the L1 data cache.
    LoadMissL1,
    /// A store did not.
    StoreMissL1,
    /// A fetch of instructions did not find their line in the L1 instruction cache.
    FetchMissL1,
    /// A load had its line from the core's own L3.
    LoadFromL3,
    /// A load had its line from beyond the L2.
    LoadBeyondL2,
    /// A load had its line from beyond the core's own L3.
    LoadBeyondL3,
    /// A store came to the L2.
    StoreL2,
    /// A store did not find its line in the L2.
    StoreMissL2,
    /// Neither an ERAT nor the TLB had the translation of a load's or a store's address.
    DataTlbMiss,
    /// Neither had that of an instruction's.
    FetchTlbMiss,
    /// A branch went another way than was predicted.
    Misprediction,
}

/// How often each was.
pub(crate) type Occurrences = [u64; Occurrence::Misprediction as usize + 1];

impl Occurrence {
    /// What event `number` from `unit` lets counter `counter`, 1 to 4, count; `None` if it is about anything else.
    ///
    /// Source: `docs/facts/special-registers.md#events`.
    pub(super) fn of(processor: Processor, counter: u32, unit: u32, number: u32) -> Option<Self> {
        Some(match (counter, unit, number) {
            (3, 0xE, 0x54) | (4, _, 0xF0) => Self::LoadMissL1,
            (3, _, 0xF0) => Self::StoreMissL1,
            (2, _, 0xFD) => Self::FetchMissL1,
            (4, 0xC, 0x42) => Self::LoadFromL3,
            (2, _, 0xFE) => Self::LoadBeyondL2,
            (3, _, 0xFE) => Self::LoadBeyondL3,
            (3, _, 0xFC) => Self::DataTlbMiss,
            (4, _, 0xFC) => Self::FetchTlbMiss,
            (4, _, 0xF6) => Self::Misprediction,
            event => {
                let (stores, misses) = match processor {
                    Processor::Power8 => ((1, 7, 0x80), (1, 7, 0x82)),
                    Processor::Power9 => ((1, 6, 0x80), (2, 6, 0x80)),
                };
                match event {
                    _ if event == stores => Self::StoreL2,
                    _ if event == misses => Self::StoreMissL2,
                    _ => return None,
                }
            }
        })
    }
}
