//! What occurs to a hardware thread now and then, of what the timing model knows, and the events by which a performance
//! monitor counts it.

use arch::bits::Field;
use arch::processor::Processor;
use arch::registers::monitor::EVENTS;
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
    /// What the event with this code counts; `None` if it is about anything that the machine does not know.
    pub(super) fn of(processor: Processor, code: u32) -> Option<Self> {
        let (stores, misses) = match processor {
            Processor::Power8 => (0x1_7080, 0x1_7082),
            Processor::Power9 => (0x1_6880, 0x2_6880),
        };
        // Numbers from 0xF0 on have no unit.
        let direct = code & 0xF_00FF;
        Some(match (code, direct) {
            (0x3_E054, _) | (_, 0x4_00F0) => Self::LoadMissL1,
            (_, 0x3_00F0) => Self::StoreMissL1,
            (_, 0x2_00FD) => Self::FetchMissL1,
            (0x4_C042, _) => Self::LoadFromL3,
            (_, 0x2_00FE) => Self::LoadBeyondL2,
            (_, 0x3_00FE) => Self::LoadBeyondL3,
            (_, 0x3_00FC) => Self::DataTlbMiss,
            (_, 0x4_00FC) => Self::FetchTlbMiss,
            (_, 0x4_00F6) => Self::Misprediction,
            (code, _) if code == stores => Self::StoreL2,
            (code, _) if code == misses => Self::StoreMissL2,
            _ => return None,
        })
    }
}

/// The code of the event that MMCR1 has for counter `counter`, 1 to 4, as Linux writes it: counter, unit, whether and
/// how two events are one, number.
///
/// Source: `docs/facts/special-registers.md#events`.
pub(super) fn code(processor: Processor, mmcr1: u64, counter: u32) -> u32 {
    let nth = counter - 1;
    let unit = Field::new(4 * nth, 4 * nth + 3).get(mmcr1);
    let combined = match processor {
        Processor::Power8 => Field::new(28 + nth, 28 + nth).get(mmcr1) << 1,
        Processor::Power9 => Field::new(24 + 2 * nth, 25 + 2 * nth).get(mmcr1),
    };
    let number = EVENTS[nth as usize].get(mmcr1);
    counter << 16 | (unit << 12 | combined << 10 | number) as u32
}
