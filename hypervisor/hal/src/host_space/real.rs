//! The hypervisor's own memory where it runs with relocation off: every real address is within its reach.
//!
//! It has the names of `map` and `region`, and does what is left of them: a window is the memory itself. Nothing is
//! mapped, so nothing is kept out of the hypervisor's reach either.

use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use arch::address::RealAddress;
use arch::bundle::MapPolicy;
use hypervisor_core::hal::HalError;
use hypervisor_core::memory::Range;
use hypervisor_core::vcpu_id::VcpuId;

use super::memory::address_of;
use super::windows::{Reserved, frame_of};
use crate::invalidation::LPIDS;
use crate::radix::{MapError, PAGE_2M};
use crate::registers::{isync, read, spr, write};

/// How the hypervisor's own addresses are translated.
pub(crate) const NAME: &str = "relocation off";

/// SDR1 of each partition.
static TABLES: [AtomicU64; LPIDS] = [const { AtomicU64::new(0) }; LPIDS];

/// There is nothing to build.
pub(crate) const fn build() -> Result<(), MapError> {
    Ok(())
}

/// There is no partition table.
pub(crate) const fn ptcr() -> u64 {
    0
}

/// The heap is where its real address says.
pub(crate) const fn map_heap(_: Range) -> Result<(), MapError> {
    Ok(())
}

/// All memory is within reach.
pub(crate) fn map_all(_: &mut dyn Iterator<Item = Range>) -> Result<(), HalError> {
    Ok(())
}

/// Numbers of partitions that there are, with that of the hypervisor itself. The last one is LPIDR's while SDR1
/// changes.
pub(crate) const fn lpids() -> u32 {
    LPIDS as u32 - 1
}

/// Says where a partition's hashed page table lies: its SDR1.
///
/// # Safety
/// The table outlives the partition, which finds nothing in it that is not its own, and nobody is in the partition.
pub(crate) unsafe fn set_partition(lpid: u32, sdr1: u64, _: u64) {
    TABLES[lpid as usize].store(sdr1, Ordering::Relaxed);
}

/// Whether the core has another hashed page table than the partition whose it is.
pub(crate) fn has_other_table(lpid: u32) -> bool {
    read::<{ spr::SDR1 }>() != TABLES[lpid as usize].load(Ordering::Relaxed)
}

/// Process tables came with radix translation, which no partition has.
pub(crate) fn set_process_table(_: u32, _: u64) {}

/// The core has the hashed page table of this partition.
///
/// # Safety
/// None of its threads is in a partition.
pub(crate) unsafe fn set_own_table(lpid: u32) {
    // SAFETY: the caller's promise. With relocation off the hypervisor has no use for SDR1.
    unsafe { write::<{ spr::SDR1 }>(TABLES[lpid as usize].load(Ordering::Relaxed)) };
}

/// This thread runs another vCPU, whose partition has the core.
pub(crate) fn change_partition(_: u32) {
    clear_coprocessors();
    isync();
}

/// ACOP, TACR, TCSCR and CSIGR, by which a kernel would reach coprocessors: a partition has none, and what it writes
/// there is nobody else's to read (`docs/facts/power8.md#coprocessors`).
fn clear_coprocessors() {
    macro_rules! clear {
        ($($name:ident)*) => {
            // SAFETY: the hypervisor has no coprocessors either.
            unsafe { $(write::<{ spr::$name }>(0);)* }
        };
    }
    clear!(ACOP TACR TCSCR CSIGR);
}

/// A partition is made.
pub(crate) const fn add_partition() -> Result<(), HalError> {
    Ok(())
}

/// This thread waits.
pub(crate) const fn flush() {}

/// Where a range is, all in one frame.
fn find(reserved: &Reserved, range: Range) -> Result<*mut u8, HalError> {
    reserved.refuse(range)?;
    frame_of(range)?;
    Ok(ptr::with_exposed_provenance_mut(address_of(range.start) as usize))
}

/// Firmware's device tree.
#[derive(Debug)]
pub(crate) struct Kept {
    start: RealAddress,
}

/// Bytes that there is room for.
pub(crate) const KEPT_BYTES_MAX: u64 = 1 << PAGE_2M;

impl Kept {
    /// What lies there.
    pub(crate) const fn at(start: RealAddress) -> Self {
        Self { start }
    }

    /// So many bytes of it.
    pub(crate) fn bytes(&mut self, reserved: &Reserved, bytes: u64) -> Result<*mut u8, HalError> {
        reserved.refuse(Range { start: self.start, bytes })?;
        if bytes > KEPT_BYTES_MAX {
            return Err(HalError::BadRange);
        }
        Ok(ptr::with_exposed_provenance_mut(address_of(self.start) as usize))
    }
}

/// A window that stays open.
#[derive(Debug)]
pub(crate) struct Pin {
    /// The first byte asked for.
    pub(crate) pointer: *mut u8,
    /// How many bytes were asked for.
    pub(crate) bytes: usize,
}

// SAFETY: the memory is there for all threads alike.
unsafe impl Send for Pin {}

/// Such a window, all in one frame.
pub(crate) fn pin_window(
    reserved: &Reserved,
    _: VcpuId,
    address: RealAddress,
    bytes: u64,
) -> Result<Pin, HalError> {
    let pointer = find(reserved, Range { start: address, bytes })?;
    Ok(Pin { pointer, bytes: bytes as usize })
}

/// What a hardware thread opens windows with: nothing.
#[derive(Debug)]
pub(crate) struct MapRegion;

impl MapRegion {
    /// There is nothing to make.
    pub(crate) const fn populate(_: usize) -> Result<(), HalError> {
        Ok(())
    }

    /// All policies come to the same.
    pub(crate) const fn map_as(_: MapPolicy) -> Result<(), HalError> {
        Ok(())
    }
}

/// A piece of work that opens windows.
#[derive(Debug)]
pub struct Maps<'a> {
    reserved: &'a Reserved,
}

impl<'a> Maps<'a> {
    /// Begins one.
    pub(crate) const fn begin(reserved: &'a Reserved) -> Self {
        Self { reserved }
    }

    /// Where a range is.
    pub(crate) fn open(&self, range: Range) -> Result<*mut u8, HalError> {
        find(self.reserved, range)
    }

    /// Relocation is off already.
    pub(crate) const fn is_real(&self) -> bool {
        false
    }

    /// Ends what [`Maps::open`] has begun.
    pub(crate) const fn close(&self, _: *mut u8) {}
}
