//! The patch of 2014 as it was posted, to measure it and for nothing else: it logs the L2 behind each stay of a vCPU,
//! and fetches that before each. What is wrong with it is wrong here too; the numbers are those of
//! `docs/facts/power8.md#defects-of-the-patch`, and `tests/defects.rs` has a test for each that can be there.
//!
//! The word of `logmpp` is ours, since its own reads r0 (1), so that the patch does something at all.

use alloc::vec::Vec;

use arch::address::RealAddress;
use arch::registers::mppr;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::vcpu_id::VcpuId;

/// The engine's two registers, and a kernel's memory.
pub trait Registers {
    /// So many bytes of memory for good, in whole pages.
    fn new_pages(&self, bytes: u64) -> Option<RealAddress>;

    /// Executes `logmpp` with this operand, which the [`Patch`] gets wrong: the engine may write memory that is
    /// somebody else's.
    fn logmpp(&self, operand: u64);

    /// Writes MPPR.
    fn set_mppr(&self, value: u64);
}

/// Bytes of a buffer, for a table of half of it.
const BUFFER_BYTES: u64 = 64 << 10;
/// What the patch takes for a page.
const PAGE: u64 = 1 << 12;
/// There is no buffer yet.
const NONE: u64 = 0;

/// The buffers of all vCPUs, by number: each is made when its vCPU runs first.
#[derive(Debug)]
pub struct Patch(Vec<AtomicU64>);

impl Patch {
    /// Of so many vCPUs.
    #[must_use]
    pub fn new(vcpus: usize) -> Self {
        Self((0..vcpus).map(|_| AtomicU64::new(NONE)).collect())
    }

    /// The address that the engine is told. A buffer that there is no memory for is a feature that is off, and nobody
    /// hears of that (6).
    fn table(&self, hal: &impl Registers, vcpu: VcpuId) -> Option<u64> {
        let buffer = &self.0[vcpu.0 as usize];
        if buffer.load(Ordering::Relaxed) == NONE {
            buffer.store(hal.new_pages(BUFFER_BYTES)?.0, Ordering::Relaxed);
        }
        // To the next page, it is meant; this clears one bit (4). And the mask leaves multiples of 16 KiB (5).
        Some((buffer.load(Ordering::Relaxed) + PAGE) & !PAGE & mppr::TABLE)
    }

    /// A vCPU is about to enter.
    pub fn enters(&self, hal: &impl Registers, vcpu: VcpuId) {
        let Some(table) = self.table(hal, vcpu) else { return };
        let fetch = mppr::FETCH.set(table, mppr::fetch::TO_THE_END);
        // To end a log, it is meant; the operand says to do nothing (2).
        hal.logmpp(fetch);
        // Whether anything was ever logged or not (9).
        hal.set_mppr(fetch);
    }

    /// It has left, to come straight back or not (8).
    pub fn exits(&self, hal: &impl Registers, vcpu: VcpuId) {
        let Some(table) = self.table(hal, vcpu) else { return };
        let log = mppr::LOG.set(table, mppr::log::L2);
        // To end a fetch, it is meant; what to log is left in it (3).
        hal.set_mppr(log & !(0xF << 60));
        hal.logmpp(log);
    }
}
