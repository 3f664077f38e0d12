//! What a vCPU shares with the hypervisor by H_REGISTER_VPA: its virtual processor area, dispatch trace
//! log and SLB shadow.
//!
//! The virtual processor area stays mapped for as long as it is registered, since it is written at every
//! dispatch: one page for each vCPU, [`Partition::pinned_pages`](crate::partition::Partition::pinned_pages).
//! The guest may write anything into it at any time. The SLB shadow is only remembered: with radix translation
//! there is nothing in it.
//!
//! Source: `docs/facts/papr.md#h_register_vpa`; layout of the area and of a log entry as in Linux's `lppaca.h`.

use arch::address::GuestRealAddress;

use crate::hal::{Window, Windows};

/// Bytes of the virtual processor area, at least.
pub const AREA_BYTES: u64 = 640;
/// Bytes of the smallest SLB shadow.
pub const SHADOW_BYTES: u64 = 8;
/// Bytes of an entry of the dispatch trace log.
pub const LOG_ENTRY_BYTES: u64 = 48;
/// Flags of the area: the processor is shared with others.
const FLAGS: (usize, u8) = (9, 0x2);
/// Counts dispatches and the ends of them: odd while the vCPU does not run.
const YIELD_COUNT: usize = 0x100;
/// Number of the next entry of the dispatch trace log.
const LOG_INDEX: usize = 0x218;

/// No area crosses a page of this size.
const PAGE: u64 = 0x1000;
/// The virtual processor area begins at a cache line.
const LINE: u64 = 128;

/// Whether an area of so many bytes may be there: not at 0, and within one page.
#[must_use]
pub const fn is_place(address: GuestRealAddress, bytes: u64) -> bool {
    address.0 != 0 && bytes <= PAGE && address.0 % PAGE + bytes <= PAGE
}

/// Whether a virtual processor area may be there that says that it has so many bytes.
#[must_use]
pub const fn is_area(address: GuestRealAddress, bytes: u64) -> bool {
    is_place(address, bytes) && address.0.is_multiple_of(LINE) && bytes >= AREA_BYTES
}

/// A registered dispatch trace log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Log {
    /// Where it is.
    pub address: GuestRealAddress,
    /// Its number of entries, at least 1.
    pub entries: u64,
    /// How many were written.
    pub next: u64,
}

/// A vCPU's areas.
#[derive(Debug)]
pub struct Vpa<H: Windows> {
    area: Option<(GuestRealAddress, H::Pinned)>,
    /// The dispatch trace log.
    pub log: Option<Log>,
    /// The SLB shadow.
    pub shadow: Option<GuestRealAddress>,
}

impl<H: Windows> Default for Vpa<H> {
    fn default() -> Self {
        Self { area: None, log: None, shadow: None }
    }
}

impl<H: Windows> Vpa<H> {
    /// Whether there is a virtual processor area.
    #[must_use]
    pub const fn has_area(&self) -> bool {
        self.area.is_some()
    }

    /// Where the virtual processor area is.
    #[must_use]
    pub fn area(&self) -> Option<GuestRealAddress> {
        self.area.as_ref().map(|(address, _)| *address)
    }

    /// Registers a window of [`AREA_BYTES`] onto `address`, of a vCPU that runs now or not.
    pub fn set_area(&mut self, address: GuestRealAddress, mut window: H::Pinned, runs: bool) {
        let mut flags = [0];
        window.read(FLAGS.0, &mut flags);
        window.write(FLAGS.0, &[flags[0] | FLAGS.1]);
        self.area = Some((address, window));
        if runs { self.dispatched() } else { self.left() }
    }

    /// Forgets the virtual processor area.
    pub fn clear_area(&mut self) {
        self.area = None;
    }

    /// The yield count: even while the vCPU runs.
    #[must_use]
    pub fn yield_count(&self) -> Option<u32> {
        let mut count = [0; 4];
        self.area.as_ref()?.1.read(YIELD_COUNT, &mut count);
        Some(u32::from_be_bytes(count))
    }

    /// The vCPU begins to run.
    pub fn dispatched(&mut self) {
        self.count(1);
    }

    /// The vCPU ceases to run.
    pub fn left(&mut self) {
        self.count(0);
    }

    /// Makes the yield count go on to the other parity than `from`, unless it has that already.
    fn count(&mut self, from: u32) {
        let Some(count) = self.yield_count() else { return };
        if count % 2 == from
            && let Some((_, area)) = &mut self.area
        {
            area.write(YIELD_COUNT, &count.wrapping_add(1).to_be_bytes());
        }
    }

    /// The guest real address and the bytes of the log's next entry, and counts it.
    pub fn log_entry(&mut self, time: u64, srr: [u64; 2]) -> Option<(GuestRealAddress, [u8; 48])> {
        let log = self.log.as_mut()?;
        let address = log.address.wrapping_add(log.next % log.entries * LOG_ENTRY_BYTES);
        log.next += 1;
        let next = log.next;
        let mut entry = [0; LOG_ENTRY_BYTES as usize];
        for (offset, value) in [(16, time), (32, srr[0]), (40, srr[1])] {
            entry[offset..offset + 8].copy_from_slice(&value.to_be_bytes());
        }
        if let Some((_, area)) = &mut self.area {
            area.write(LOG_INDEX, &next.to_be_bytes());
        }
        Some((address, entry))
    }
}
