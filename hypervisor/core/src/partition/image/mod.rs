//! The image of a suspended partition ([`arch::image`]): [`write`](mod@write) makes it of a partition at rest, in
//! pieces that the first vCPU does in place of its own work, and [`read`](mod@read) goes on with one.
//!
//! Its time base goes on where it stood. A partition's is the machine's, so the machine's moves on, once, before any
//! partition runs: [`ahead`].

mod read;
mod write;

use arch::image::{ENTRY_DOUBLEWORDS, MANIFEST_BYTES_MAX};

use crate::memory::Range;
use crate::partition::Partition;

pub use read::{Image, ImageError, load};
pub use write::{Saved, begin, save_piece};

/// How a partition is suspended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspension {
    /// Where its image goes.
    pub area: Range,
    /// Ticks of the time base in a second.
    pub frequency: u64,
    /// The processor's name.
    pub processor: &'static str,
    /// Bytes of the image, once that is known.
    pub bytes: u64,
}

impl Suspension {
    /// Bytes that an image of a partition with so much memory has at most.
    #[must_use]
    pub const fn room(memory_bytes: u64) -> u64 {
        memory_bytes + MANIFEST_BYTES_MAX
    }
}

/// Slots of the largest hashed page table whose entries are in a manifest, beside all else: that of a partition with
/// 64 MiB.
const SLOTS_MAX: u64 = 1 << 15;
const _: () =
    assert!(8 * ENTRY_DOUBLEWORDS as u64 * SLOTS_MAX <= MANIFEST_BYTES_MAX * 3 / 4, "all fit");

/// Why a partition cannot be suspended, if it cannot.
#[must_use]
pub fn obstacle<H: crate::hal::Memory>(partition: &Partition<H>) -> Option<&'static str> {
    if partition.devices.is_some() {
        return Some("no image holds the state of devices; leave out `devices` and disks");
    }
    match partition.memory.hash_table() {
        Some(table) if table.is_resizable() => Some(
            "no image holds a hashed page table whose size can change; leave out `resizable_table`",
        ),
        Some(table) if table.slots() > SLOTS_MAX => {
            Some("no image holds so large a hashed page table; let it have 64 MiB at most")
        }
        _ => None,
    }
}

/// Bits that TBU40 leaves as they are.
const TIMEBASE_STEP_LOG2: u32 = 24;

/// How far the machine's time base has to move so that it is at this time or later, if it has to: TBU40 moves it by
/// multiples of 2^24.
#[must_use]
pub const fn ahead(now: u64, time: u64) -> Option<u64> {
    match time.checked_sub(now) {
        None | Some(0) => None,
        Some(behind) => Some(behind.next_multiple_of(1 << TIMEBASE_STEP_LOG2)),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
